import { BoxGeometry, type BufferGeometry, Group, InstancedMesh, Matrix4, Mesh, Quaternion, Vector3 } from 'three';
import { nextTurn } from './next-turn.js';
import { mulberry32 } from './random.js';

/** Capacity for boxes. */
export const MAX_BOXES = 20_000;
const SMALL_DRAGONS = 4;
const ORBITS_PER_TURN = 4_000;
/** The model is about 0.2 units long. */
const DRAGON_SCALE = 40;
const SMALL_DRAGON_SCALE = 11;
const INNER_RADIUS = 2.4;
const OUTER_RADIUS = 24;

interface Orbit {
  radius: number;
  /** Radians per second. */
  speed: number;
  phase: number;
  height: number;
  lift: number;
  axis: Vector3;
  spin: number;
  scale: Vector3;
}

/**
 * The whole world, drawn or not: a dragon, smaller ones around it, and a swarm of boxes. `Stage` draws the part that a camera
 * sees.
 */
export class World {
  readonly root = new Group();
  readonly dragons: readonly Mesh[];
  readonly boxes: InstancedMesh;
  readonly #orbits: readonly Orbit[];

  /** Plans the orbits first, several thousand at a time, and yields to the page in between. */
  static async create(dragon: BufferGeometry, smallDragon: BufferGeometry, boxes: number): Promise<World> {
    const random = mulberry32(7);
    const orbits: Orbit[] = [];
    while (orbits.length < SMALL_DRAGONS + MAX_BOXES) {
      orbits.push(createOrbit(random, orbits.length < SMALL_DRAGONS));
      if (orbits.length % ORBITS_PER_TURN === 0) await nextTurn();
    }
    return new World(dragon, smallDragon, boxes, orbits);
  }

  private constructor(dragon: BufferGeometry, smallDragon: BufferGeometry, boxes: number, orbits: readonly Orbit[]) {
    this.dragons = Array.from({ length: 1 + SMALL_DRAGONS }, (_, i) => {
      const mesh = new Mesh(i === 0 ? dragon : smallDragon);
      mesh.name = i === 0 ? 'Stanford dragon' : `small dragon ${i}`;
      mesh.scale.setScalar(i === 0 ? DRAGON_SCALE : SMALL_DRAGON_SCALE);
      return mesh;
    });
    this.dragons[0].position.y = -DRAGON_SCALE * dragon.boundingBox!.min.y;
    this.boxes = new InstancedMesh(new BoxGeometry(), undefined, MAX_BOXES);
    this.boxes.name = 'box';
    this.boxes.count = boxes;
    this.#orbits = orbits;
    this.root.add(...this.dragons, this.boxes);
    this.animate(0);
  }

  /** Moves everything to its place at a time. */
  animate(seconds: number): void {
    for (let i = 0; i < SMALL_DRAGONS; i++) {
      const { position, quaternion } = this.dragons[i + 1];
      setOrbitPose(this.#orbits[i], seconds, position, quaternion);
    }
    const { boxes } = this;
    for (let i = 0; i < boxes.count; i++) {
      const each = this.#orbits[SMALL_DRAGONS + i];
      setOrbitPose(each, seconds, POSITION, ROTATION);
      MATRIX.compose(POSITION, ROTATION, each.scale).toArray(boxes.instanceMatrix.array, 16 * i);
    }
    boxes.instanceMatrix.needsUpdate = true;
  }

  get triangles(): number {
    const meshes = this.dragons.reduce((sum, { geometry }) => sum + geometry.index!.count / 3, 0);
    return meshes + 12 * this.boxes.count;
  }
}

const POSITION = new Vector3();
const ROTATION = new Quaternion();
const MATRIX = new Matrix4();

function createOrbit(random: () => number, isDragon: boolean): Orbit {
  const range = (min: number, max: number): number => min + (max - min) * random();
  // Objects farther out move more slowly, as planets do.
  const radius = isDragon ? range(5.5, 9) : INNER_RADIUS + (OUTER_RADIUS - INNER_RADIUS) * random() ** 0.7;
  const size = (): number => range(0.1, 0.34);
  return {
    radius,
    speed: (isDragon ? 1.4 : range(1.6, 2.1)) / radius ** 1.2,
    phase: range(0, 2 * Math.PI),
    height: isDragon ? range(2.6, 4.2) : 1.9 + range(-1, 1) * range(0.3, 0.8 + 0.1 * radius),
    lift: range(0.05, 0.4),
    axis: new Vector3(range(-1, 1), range(-1, 1), range(-1, 1)).normalize(),
    spin: range(-1.2, 1.2),
    scale: new Vector3(size(), size(), size()),
  };
}

function setOrbitPose(
  { radius, speed, phase, height, lift, axis, spin }: Orbit,
  seconds: number,
  position: Vector3,
  rotation: Quaternion,
): void {
  const angle = phase + speed * seconds;
  position.set(radius * Math.cos(angle), height + lift * Math.sin(2 * angle + phase), radius * Math.sin(angle));
  rotation.setFromAxisAngle(axis, spin * seconds + phase);
}
