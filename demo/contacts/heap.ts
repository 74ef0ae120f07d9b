import {
  type BufferGeometry,
  Color,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  MeshPhongMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { TeapotGeometry } from 'three/addons/geometries/TeapotGeometry.js';
import { mulberry32 } from '../random.js';

const CENTER = new Vector3(3.7, 1.75, -0.6);
/** The model is about 0.2 units long. */
const DRAGON_SCALE = 6.6;

interface Tumble {
  radius: number;
  height: number;
  phase: number;
  /** Radians per second, about the middle of the heap and about its own centre. */
  speed: number;
  spin: number;
  axis: Vector3;
}

/** Dragons and teapots that tumble and slowly swirl, so that contacts begin and end. */
export class Heap {
  readonly root = new Group();
  readonly dragons: InstancedMesh;
  readonly teapots: InstancedMesh;
  readonly #tumbles: ReadonlyMap<InstancedMesh, readonly Tumble[]>;

  constructor(dragon: BufferGeometry, dragons: number, teapots: number) {
    const random = mulberry32(12);
    const centred = dragon.clone().center().scale(DRAGON_SCALE, DRAGON_SCALE, DRAGON_SCALE);
    this.dragons = createInstances('dragon', centred, 0x5fae97, dragons);
    this.teapots = createInstances('teapot', new TeapotGeometry(0.24, 5), 0xb9a7c9, teapots);
    this.#tumbles = new Map([this.dragons, this.teapots].map((mesh) => [mesh, createTumbles(random, mesh.count)]));
    this.root.add(this.dragons, this.teapots);
  }

  pose(seconds: number): void {
    for (const [mesh, tumbles] of this.#tumbles) {
      tumbles.forEach(({ radius, height, phase, speed, spin, axis }, i) => {
        const angle = phase + speed * seconds;
        const currentRadius = radius * (1 + 0.22 * Math.sin(0.7 * seconds + 3 * phase));
        POSITION.set(
          currentRadius * Math.cos(angle),
          height + 0.15 * Math.sin(2 * angle),
          currentRadius * Math.sin(angle),
        );
        ROTATION.setFromAxisAngle(axis, spin * seconds + phase);
        mesh.setMatrixAt(i, MATRIX.compose(POSITION.add(CENTER), ROTATION, ONE));
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}

const POSITION = new Vector3();
const ROTATION = new Quaternion();
const ONE = new Vector3(1, 1, 1);
const MATRIX = new Matrix4();

function createInstances(name: string, geometry: BufferGeometry, color: number, count: number): InstancedMesh {
  const mesh = new InstancedMesh(
    geometry,
    new MeshPhongMaterial({ color: 0xffffff, specular: 0x2a3a36, shininess: 40 }),
    count,
  );
  mesh.name = name;
  mesh.frustumCulled = false; // three would recompute its sphere in every frame
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  for (let i = 0; i < count; i++) mesh.setColorAt(i, new Color(color));
  mesh.userData.color = color;
  return mesh;
}

/** Distributes the objects evenly about the middle and over the height, in random order. */
function createTumbles(random: () => number, count: number): Tumble[] {
  const range = (min: number, max: number): number => min + (max - min) * random();
  return Array.from({ length: count }, (_, i) => ({
    radius: range(0.5, 1.6),
    height: range(-1.15, 1.2),
    phase: (2 * Math.PI * (i + range(-0.3, 0.3))) / count,
    speed: range(0.08, 0.24) * (i % 2 === 0 ? 1 : -1),
    spin: range(0.2, 0.6),
    axis: new Vector3(range(-1, 1), range(-1, 1), range(-1, 1)).normalize(),
  }));
}
