import { Matrix4, Quaternion, Vector3 } from 'three';
import type { Random } from '../../oracle/random.js';
import { BoxGrid } from '../peers/box-grid.js';

export const HALF_SIZE = 0.5;
/** Cubic units per box; this gives about one overlap per box. */
const VOLUME_PER_BOX = 8;
/** Minimum distance of two boxes from just touching, so that float32 and float64 find the same pairs. */
const MARGIN = 1e-4;

export interface BoxFrame {
  positions: Float32Array;
  /** Quaternions xyzw. */
  rotations: Float32Array;
  /** The transforms as 16 numbers each, column-major. */
  matrices: Float32Array;
}

export interface Motion {
  position: Vector3;
  rotation: Quaternion;
  step: Vector3;
  turn: Quaternion;
}

/** Frames of unit boxes in a cube that all rotate and drift. */
export function turningBoxes(random: Random, count: number, frames: number): BoxFrame[] {
  const size = Math.cbrt(count * VOLUME_PER_BOX);
  const boxes = Array.from({ length: count }, (): Motion => {
    return {
      position: random.point(size / 2),
      rotation: random.rotation(),
      step: random.point(0.03),
      turn: new Quaternion().setFromAxisAngle(random.direction(), random.range(0.01, 0.1)),
    };
  });
  const grids: [BoxGrid, BoxGrid] = [new BoxGrid(count), new BoxGrid(count)];
  return Array.from({ length: frames }, () => {
    for (const { position, rotation, step, turn } of boxes) {
      position.add(step);
      rotation.premultiply(turn).normalize();
    }
    return clearFrame(boxes, grids, random);
  });
}

/** Rotates boxes a little more until no two of them just touch. */
function clearFrame(boxes: Motion[], [larger, smaller]: [BoxGrid, BoxGrid], random: Random): BoxFrame {
  for (;;) {
    const frame = frameOf(boxes);
    larger.findPairs(frame.matrices, HALF_SIZE + MARGIN);
    smaller.findPairs(frame.matrices, HALF_SIZE - MARGIN);
    if (larger.count === smaller.count) return frame;
    const overlapping = new Set(keysOf(smaller, boxes.length));
    for (const key of keysOf(larger, boxes.length)) {
      if (overlapping.has(key)) continue;
      boxes[key % boxes.length].position.addScaledVector(random.direction(), 20 * MARGIN);
    }
  }
}

function keysOf({ pairs, count }: BoxGrid, boxes: number): number[] {
  return Array.from({ length: count }, (_, i) => pairs[2 * i] * boxes + pairs[2 * i + 1]);
}

export function frameOf(boxes: readonly Motion[]): BoxFrame {
  const positions = new Float32Array(3 * boxes.length);
  const rotations = new Float32Array(4 * boxes.length);
  const matrices = new Float32Array(16 * boxes.length);
  const matrix = new Matrix4();
  const size = new Vector3(1, 1, 1);
  for (const [i, { position, rotation }] of boxes.entries()) {
    position.toArray(positions, 3 * i);
    rotation.toArray(rotations, 4 * i);
    matrix.compose(position, rotation, size).toArray(matrices, 16 * i);
  }
  return { positions, rotations, matrices };
}

/** Plays the frames forwards and backwards, so that every round moves each box by one step. */
export function frameOfRound<T>(frames: readonly T[], round: number): T {
  const period = 2 * frames.length - 2;
  const phase = round % Math.max(period, 1);
  return frames[phase < frames.length ? phase : period - phase];
}

/** A sum that does not depend on the order of the pairs. */
export function pairChecksum(count: number, pairAt: (i: number) => [a: number, b: number]) {
  let products = 0;
  for (let i = 0; i < count; i++) {
    const [a, b] = pairAt(i);
    products += (Math.min(a, b) + 1) * (Math.max(a, b) + 3);
  }
  return { pairs: count, products };
}

/** A checksum of pairs with the depth of each. */
export function manifoldChecksum(
  count: number,
  pairAt: (i: number) => [a: number, b: number],
  depthAt: (i: number) => number,
) {
  let depths = 0;
  for (let i = 0; i < count; i++) depths += depthAt(i);
  return { ...pairChecksum(count, pairAt), depths };
}
