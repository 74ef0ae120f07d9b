import {
  Box3,
  type BufferGeometry,
  Color,
  CylinderGeometry,
  Group,
  Mesh,
  MeshPhongMaterial,
  TorusKnotGeometry,
  Vector3,
} from 'three';

const KNOTS = 7;
const RADIUS = 3.1;
/** The model is about 0.2 units long. */
const DRAGON_SCALE = 17;
const COLORS = { dragon: 0x5fae97, knot: 0x5b7cab, lit: 0x6a5a20 };

/** A dragon on a stand with knots that orbit it. All of it can be moved away as one group. */
export class Hall {
  readonly root = new Group();
  readonly box = new Box3(new Vector3(-RADIUS, 0, -RADIUS), new Vector3(RADIUS, 2.8, RADIUS));
  readonly #things: readonly Mesh<BufferGeometry, MeshPhongMaterial>[];
  readonly #knots: readonly Mesh[];

  constructor(dragon: BufferGeometry) {
    const material = (color: number) => new MeshPhongMaterial({ color, specular: new Color(0x2a3a36), shininess: 40 });
    const figure = new Mesh(dragon, material(COLORS.dragon));
    figure.name = 'dragon';
    figure.scale.setScalar(DRAGON_SCALE);
    figure.position.y = 0.3 - DRAGON_SCALE * dragon.boundingBox!.min.y;
    const stand = new Mesh(new CylinderGeometry(1.9, 2.05, 0.3, 64).translate(0, 0.15, 0), material(0x47566e));
    stand.name = 'stand';
    const knot = new TorusKnotGeometry(0.3, 0.1, 96, 14);
    this.#knots = Array.from({ length: KNOTS }, (_, i) => {
      const mesh = new Mesh(knot, material(COLORS.knot));
      mesh.name = `knot ${i + 1}`;
      return mesh;
    });
    this.#things = [figure, stand, ...(this.#knots as Mesh<BufferGeometry, MeshPhongMaterial>[])];
    this.root.add(...this.#things);
    this.pose(0);
  }

  pose(seconds: number): void {
    this.#knots.forEach((knot, i) => {
      const angle = 0.25 * seconds + (2 * Math.PI * i) / KNOTS;
      knot.position.set(RADIUS * Math.cos(angle), 1.1 + 0.3 * Math.sin(2 * angle), RADIUS * Math.sin(angle));
      knot.rotation.set(0, seconds + i, 0.6 * seconds);
    });
  }

  /** Highlights one of the objects; null for none. */
  light(highlighted: unknown): void {
    for (const thing of this.#things) thing.material.emissive.setHex(thing === highlighted ? COLORS.lit : 0);
  }
}
