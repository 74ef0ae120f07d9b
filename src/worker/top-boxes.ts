import type { CoreInspector } from './binding/inspector.js';
import type { Slices } from './slices.js';

/**
 * Lists the boxes of a mesh's tree on a level, and the leaves above it, which together contain all of the mesh: ten numbers each,
 * in mesh space (shared/baked-boxes.ts). The level of the root's children is 1. Null if there are more than `maxCount`.
 */
export async function topBoxes(
  inspector: CoreInspector,
  mesh: number,
  level: number,
  maxCount: number,
  slices: Slices,
): Promise<Float64Array | null> {
  try {
    inspector.beginMesh(mesh, level, 4 * maxCount + 4);
    while (!inspector.stepTree(slices.end)) await slices.next();
    const { boxes, levels, leafStart, cut } = await slices.run(inspector.readTree(0));
    if (cut) return null;
    const records: number[] = [];
    for (let i = 0; i < levels.length; i++) {
      const isLeaf = leafStart[i + 1] > leafStart[i];
      if (levels[i] === level || isLeaf) records.push(...recordOf(boxes.subarray(12 * i, 12 * i + 12)));
    }
    return records.length / 10 > maxCount ? null : Float64Array.from(records);
  } finally {
    inspector.end();
  }
}

/** Converts a box from a frame (three half axes and the centre) to centre, half sizes and rotation. */
function recordOf(frame: Float64Array): number[] {
  const half = [0, 1, 2].map((k) => Math.hypot(frame[3 * k], frame[3 * k + 1], frame[3 * k + 2]));
  const axis = (k: number) => [0, 1, 2].map((i) => frame[3 * k + i] / half[k]);
  const [x, y] = [axis(0), axis(1)];
  // A box is its own mirror image.
  const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  return [frame[9], frame[10], frame[11], ...half, ...quaternionOf(x, y, z)];
}

/** Returns the unit quaternion xyzw of the rotation with these columns (Shepperd, "Quaternion from rotation matrix", 1978). */
function quaternionOf([a, b, c]: number[], [d, e, f]: number[], [g, h, i]: number[]): number[] {
  const trace = a + e + i;
  const largest = Math.max(trace, a, e, i);
  const root = Math.sqrt(1 + 2 * largest - trace);
  const unit = 0.5 / root;
  if (largest === trace) return [(f - h) * unit, (g - c) * unit, (b - d) * unit, 0.5 * root];
  if (largest === a) return [0.5 * root, (b + d) * unit, (g + c) * unit, (f - h) * unit];
  if (largest === e) return [(b + d) * unit, 0.5 * root, (f + h) * unit, (g - c) * unit];
  return [(g + c) * unit, (f + h) * unit, 0.5 * root, (b - d) * unit];
}
