import {
  BoxGeometry,
  type BufferGeometry,
  CapsuleGeometry,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshPhongMaterial,
  SphereGeometry,
  TorusGeometry,
  TorusKnotGeometry,
  type Vector3,
} from 'three';

export type Toy = Mesh<BufferGeometry, MeshPhongMaterial>;

/** Radius of the table, and of the turntable. */
export const TABLE_RADIUS = 5;
const TURNTABLE_RADIUS = 1.9;
/** Radians per second. */
const SPEED = 0.35;
const TURNTABLE_HEIGHT = 0.12;
const COLORS = [0x5b7cab, 0xe0894a, 0x5fae97, 0x8d6fa8, 0xc8b04a, 0xb85c6c];
const OUTER_COUNT = 9;
const INNER_COUNT = 5;

/** Toys on a table. Those in the middle ride on a turntable. */
export class ToyTable {
  readonly root = new Group();
  readonly turntable: Mesh;
  readonly toys: readonly Toy[];

  /** `segments`: tessellation of round forms. */
  constructor(segments: number) {
    const wood = new MeshPhongMaterial({ color: 0x353c48, specular: 0x11151c });
    const table = new Mesh(new CylinderGeometry(TABLE_RADIUS, TABLE_RADIUS, 0.3, 4 * segments), wood);
    table.name = 'table';
    table.position.y = -0.15;
    const disc = new MeshPhongMaterial({ color: 0x4a5466, specular: 0x222a33 });
    this.turntable = new Mesh(
      new CylinderGeometry(TURNTABLE_RADIUS, TURNTABLE_RADIUS, TURNTABLE_HEIGHT, 4 * segments),
      disc,
    );
    this.turntable.name = 'turntable';
    this.turntable.position.y = TURNTABLE_HEIGHT / 2;
    this.root.add(table, this.turntable);
    const kinds: [name: string, geometry: BufferGeometry][] = [
      ['block', new BoxGeometry(0.9, 0.7, 0.6)],
      ['ball', new SphereGeometry(0.45, 2 * segments, segments)],
      ['ring', new TorusGeometry(0.38, 0.15, segments, 3 * segments).rotateX(Math.PI / 2)],
      ['hat', new ConeGeometry(0.45, 1, 2 * segments)],
      ['knot', new TorusKnotGeometry(0.32, 0.11, 6 * segments, segments)],
      ['pill', new CapsuleGeometry(0.27, 0.5, segments, 2 * segments)],
      ['drum', new CylinderGeometry(0.4, 0.4, 0.6, 2 * segments)],
    ];
    for (const [, geometry] of kinds) geometry.computeBoundingBox();
    this.toys = Array.from({ length: OUTER_COUNT + INNER_COUNT }, (_, i) => {
      const [kind, geometry] = kinds[i % kinds.length];
      const toy: Toy = new Mesh(geometry, new MeshPhongMaterial({ specular: 0x222a33, shininess: 30 }));
      toy.name = `${kind} ${1 + Math.floor(i / kinds.length)}`;
      toy.userData.color = i;
      const isRider = i >= OUTER_COUNT;
      const angle = (2 * Math.PI * (i - (isRider ? OUTER_COUNT : 0))) / (isRider ? INNER_COUNT : OUTER_COUNT);
      const radius = isRider ? 1.2 : 3.5;
      toy.position.set(radius * Math.sin(angle), 0, radius * Math.cos(angle));
      toy.rotation.y = angle;
      this.root.add(toy);
      this.putDown(toy);
      this.paint(toy, 0);
      return toy;
    });
  }

  /** Rotates the turntable to its angle at a time. */
  pose(seconds: number): void {
    this.turntable.rotation.y = SPEED * seconds;
    this.root.updateMatrixWorld();
  }

  /** Places a toy on the surface below it: it rides on the turntable, or rests on the table. */
  putDown(toy: Toy): void {
    this.root.updateMatrixWorld();
    this.pickUp(toy);
    const isRider = Math.hypot(toy.position.x, toy.position.z) < TURNTABLE_RADIUS;
    toy.position.y = (isRider ? TURNTABLE_HEIGHT : 0) - toy.geometry.boundingBox!.min.y;
    if (isRider) this.turntable.attach(toy);
  }

  /** Detaches a toy from the turntable: it stays where it is while that turns. */
  pickUp(toy: Toy): void {
    if (toy.parent !== this.root) this.root.attach(toy);
  }

  /** Moves a toy that was picked up, and clamps it to the table. */
  move(toy: Toy, target: Vector3): void {
    const scale = Math.max(1, target.length() / (TABLE_RADIUS - 0.5));
    toy.position.set(target.x / scale, toy.position.y, target.z / scale);
  }

  /** Advances a toy's colour by `steps`. */
  paint(toy: Toy, steps = 1): void {
    toy.userData.color = (toy.userData.color + steps) % COLORS.length;
    toy.material.color.setHex(COLORS[toy.userData.color]);
  }
}
