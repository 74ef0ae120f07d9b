import { Quaternion, Vector3 } from 'three';
import { boundsOf, type Triangles, transformed } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';
import { Scene } from '../ours.js';
import { type BoxFrame, frameOf, type Motion } from './boxes.js';

/** Minimum distance from just touching, relative to the mesh's size, so that float32 and float64 find the same pairs. */
const MARGIN = 1e-4;

/** Centres the mesh's box at the origin, and scales its longest axis to 1. */
export function toUnitSize(mesh: Triangles): Triangles {
  const box = boundsOf(mesh.positions);
  const [center, size] = [box.getCenter(new Vector3()), box.getSize(new Vector3())];
  const scale = 1 / Math.max(size.x, size.y, size.z);
  return transformed(mesh, (vertex) => vertex.sub(center).multiplyScalar(scale));
}

export interface Heap {
  count: number;
  /** Cubic units per mesh. */
  room: number;
  /** Scale at which no two meshes overlap in the first frame. Default 0: their places are random. */
  apart?: number;
  frames: number;
}

/** Frames of many instances of a mesh of size 1 in a cube, which all rotate and drift. */
export async function heapOf(
  random: Random,
  mesh: Triangles,
  { count, room, apart = 0, frames }: Heap,
): Promise<BoxFrame[]> {
  const size = Math.cbrt(count * room);
  const motions = Array.from({ length: count }, (): Motion => {
    return {
      position: random.point(size / 2),
      rotation: random.rotation(),
      step: random.point(0.01),
      turn: new Quaternion().setFromAxisAngle(random.direction(), random.range(0.01, 0.05)),
    };
  });
  const scaled = (factor: number) => transformed(mesh, (vertex) => vertex.multiplyScalar(factor));
  if (apart > 0) {
    const scene = await Scene.ofMeshes(count, scaled(apart));
    await separate(motions, scene, () => random.point(size / 2));
    scene.close();
  }
  const scenes = [await Scene.ofMeshes(count, scaled(1 + MARGIN)), await Scene.ofMeshes(count, scaled(1 - MARGIN))];
  const boxFrames: BoxFrame[] = [];
  while (boxFrames.length < frames) {
    for (const { position, rotation, step, turn } of motions) {
      position.add(step);
      rotation.premultiply(turn).normalize();
    }
    boxFrames.push(await clearFrame(motions, scenes, random));
  }
  for (const scene of scenes) scene.close();
  return boxFrames;
}

/** Moves meshes to other places until no two of them touch. */
async function separate(motions: readonly Motion[], scene: Scene, randomPosition: () => Vector3): Promise<void> {
  for (;;) {
    const pairs = await touchingKeys(scene, frameOf(motions), motions.length);
    const touchingIds = new Set(Array.from(pairs, (key) => key % motions.length));
    if (touchingIds.size === 0) return;
    for (const i of touchingIds) motions[i].position.copy(randomPosition());
  }
}

/**
 * Moves meshes a little more until no two of them just touch: slightly larger and slightly smaller ones must have the same pairs.
 */
async function clearFrame(motions: Motion[], scenes: readonly Scene[], random: Random): Promise<BoxFrame> {
  for (;;) {
    const frame = frameOf(motions);
    const [larger, smaller] = await Promise.all(scenes.map((scene) => touchingKeys(scene, frame, motions.length)));
    const doubtful = [...larger].filter((key) => !smaller.has(key));
    for (const key of smaller) if (!larger.has(key)) doubtful.push(key);
    if (doubtful.length === 0) return frame;
    for (const key of doubtful) motions[key % motions.length].position.addScaledVector(random.direction(), 20 * MARGIN);
  }
}

async function touchingKeys(scene: Scene, { matrices }: BoxFrame, count: number): Promise<Set<number>> {
  scene.setTransforms(scene.ids, matrices);
  const { contacts } = await scene.update();
  return new Set(Array.from(contacts.a, (a, i) => scene.indexOf(a) * count + scene.indexOf(contacts.b[i])));
}
