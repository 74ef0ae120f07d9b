import {
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  DoubleSide,
  FrontSide,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  type Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  SphereGeometry,
  TorusKnotGeometry,
} from 'three';
import type { Random } from '../oracle/random.js';

const MATERIALS = [FrontSide, BackSide, DoubleSide].map((side) => new MeshBasicMaterial({ side }));
const [FRONT, BACK, DOUBLE] = MATERIALS;

/** Every kind of geometry and material that an object can have. */
const KINDS: ((random: Random) => Mesh)[] = [
  (random) => new Mesh(new TorusKnotGeometry(1, 0.35, 60, 9), random.pick(MATERIALS)),
  (random) => new Mesh(new IcosahedronGeometry(1, 2), random.pick(MATERIALS)), // no indices
  (random) => new Mesh(secondUv(new SphereGeometry(1, 17, 11)), random.pick(MATERIALS)),
  (random) => new Mesh(interleaved(new PlaneGeometry(2, 2, 5, 5)), random.pick(MATERIALS)),
  (random) => new Mesh(ranged(new SphereGeometry(1.2, 20, 14), 300, 600), random.pick(MATERIALS)),
  (random) => new Mesh(ranged(new IcosahedronGeometry(1.2, 3), 90, 900), random.pick(MATERIALS)),
  // One side in all groups.
  () => new Mesh(new BoxGeometry(1.5, 1, 2), [FRONT, FRONT.clone(), FRONT, FRONT.clone(), FRONT, FRONT]),
  // Several sides, a group without a material, and one of another order than its number.
  (random) => new Mesh(new BoxGeometry(1.5, 1, 2), [DOUBLE, BACK, FRONT, random.pick(MATERIALS), DOUBLE, BACK]),
  () => new Mesh(grouped(new SphereGeometry(1, 12, 9)), [FRONT, BACK]),
];

export function cube(size = 2): Mesh<BoxGeometry, MeshBasicMaterial> {
  return new Mesh(new BoxGeometry(size, size, size), new MeshBasicMaterial());
}

export interface SceneOptions {
  objects: number;
  /** All objects are within that distance. */
  radius: number;
}

/** Meshes and InstancedMeshes in nested groups, turned, stretched and mirrored. */
export function randomScene(random: Random, { objects, radius }: SceneOptions): Group {
  const root = new Group();
  const parents: Object3D[] = [root];
  for (let i = 0; i < objects; i++) {
    const object = random.chance(0.15) ? randomInstances(random, radius / 4) : random.pick(KINDS)(random);
    object.name = `${object.type} ${i}`;
    place(object, random, radius / 2);
    random.pick(parents).add(object);
    if (random.chance(0.3)) {
      const group = new Group();
      place(group, random, radius / 4);
      random.pick(parents).add(group);
      parents.push(group);
    }
  }
  return root;
}

export function randomInstances(random: Random, radius: number): InstancedMesh {
  const kind = random.pick(KINDS)(random);
  const instances = new InstancedMesh(kind.geometry, kind.material, 12);
  for (let i = 0; i < instances.count; i++) instances.setMatrixAt(i, randomMatrix(random, radius));
  return instances;
}

export function randomMatrix(random: Random, radius: number): Matrix4 {
  return random.placement(random.point(radius), { low: 0.4, high: 1.6, mirrored: 0.3 });
}

export function place(object: Object3D, random: Random, radius: number): void {
  randomMatrix(random, radius).decompose(object.position, object.quaternion, object.scale);
}

function ranged(geometry: BufferGeometry, start: number, count: number): BufferGeometry {
  geometry.setDrawRange(start, count);
  return geometry;
}

/** Two groups that leave a gap, and one that the materials do not know. */
function grouped(geometry: BufferGeometry): BufferGeometry {
  geometry.addGroup(0, 150, 1);
  geometry.addGroup(210, 120, 0);
  return geometry;
}

function secondUv(geometry: BufferGeometry): BufferGeometry {
  return geometry.setAttribute('uv1', geometry.attributes.uv.clone());
}

/** Positions and normals in one buffer. */
function interleaved(geometry: BufferGeometry): BufferGeometry {
  const { position, normal } = geometry.attributes;
  const data = new Float32Array(6 * position.count);
  for (let i = 0; i < position.count; i++) {
    data.set([position.getX(i), position.getY(i), position.getZ(i)], 6 * i);
    data.set([normal.getX(i), normal.getY(i), normal.getZ(i)], 6 * i + 3);
  }
  const buffer = new InterleavedBuffer(data, 6);
  geometry.setAttribute('position', new InterleavedBufferAttribute(buffer, 3, 0));
  return geometry.setAttribute('normal', new InterleavedBufferAttribute(buffer, 3, 3));
}
