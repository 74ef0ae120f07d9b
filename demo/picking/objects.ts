import {
  BoxGeometry,
  type BufferGeometry,
  CapsuleGeometry,
  Group,
  Mesh,
  MeshPhongMaterial,
  SphereGeometry,
  Vector3,
} from 'three';
import { mulberry32 } from '../random.js';

const BOUNDS_SIZE = new Vector3(8, 7.2, 6);
/** Distance between the centres of two objects. */
const MIN_DISTANCE = 1.75;
const MAX_TRIES = 300;
/** The model is about 0.2 units long. */
const DRAGON_SCALE = 9;

/**
 * Creates thirty objects without a pose: meshes, and shapes that are picked in closed form regardless of their drawn geometry.
 */
export function createObjects(dragon: BufferGeometry, segments: number): Group {
  const kinds: [name: string, count: number, color: number, geometry: BufferGeometry][] = [
    ['dragon', 6, 0x5fae97, dragon],
    ['box', 8, 0x5b7cab, new BoxGeometry(1.1, 0.8, 1.3)],
    ['sphere', 8, 0xb08a5b, new SphereGeometry(0.6, 2 * segments, segments)],
    ['capsule', 8, 0x8d6fa8, new CapsuleGeometry(0.36, 0.9, Math.ceil(segments / 2), 2 * segments)],
  ];
  const root = new Group();
  for (const [name, count, color, geometry] of kinds) {
    geometry.computeBoundingBox();
    geometry.computeBoundingSphere();
    for (let i = 1; i <= count; i++) {
      const mesh = new Mesh(geometry, new MeshPhongMaterial({ color, specular: 0x222a33, shininess: 30 }));
      mesh.name = `${name} ${i}`;
      root.add(mesh);
    }
  }
  return root;
}

/** Poses the objects by a seed: rotated and scaled at random, with room between them. */
export function poseObjects(root: Group, seed: number): void {
  const random = mulberry32(seed);
  const randomOffset = (size: number): number => (random() - 0.5) * size;
  const positions: Vector3[] = [];
  for (const { position, quaternion, scale, name } of root.children) {
    for (let i = 0; i < MAX_TRIES; i++) {
      position.set(randomOffset(BOUNDS_SIZE.x), randomOffset(BOUNDS_SIZE.y), randomOffset(BOUNDS_SIZE.z));
      if (positions.every((other) => other.distanceTo(position) > MIN_DISTANCE)) break;
    }
    positions.push(position);
    quaternion.set(randomOffset(2), randomOffset(2), randomOffset(2), randomOffset(2)).normalize();
    const baseScale = name.startsWith('dragon') ? DRAGON_SCALE : 1;
    scale.set(1 + randomOffset(0.6), 1 + randomOffset(0.6), 1 + randomOffset(0.6)).multiplyScalar(baseScale);
  }
  root.updateMatrixWorld(true);
}
