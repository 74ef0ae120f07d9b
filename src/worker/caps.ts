/**
 * @license
 * earcut, Copyright (c) Mapbox, ISC License: Permission to use, copy, modify, and/or distribute this software for any
 * purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice
 * appear in all copies. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS
 * SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
 * ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR
 * PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH
 * THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */
import earcut from 'earcut';
import { addTo } from '../shared/lists-by-key.js';
import type { Outlines } from './binding/sections.js';
import { axesOf, project } from './plane-coordinates.js';

/** A polygon of more points, including its holes, is not filled: that would take more than some 20 ms in one piece. */
export const MAX_FILLED_POINTS = 1 << 14;

/** Points of polygons between two yields: some 0.5 ms. */
const POINTS_PER_YIELD = 1024;

/**
 * Triangulates the cut surface: loops that are inside of an even number of others, minus the loops directly inside of
 * them. Returns three points per triangle, counter-clockwise as seen from in front of the plane. Yields often.
 */
export function* fillOutlines(
  outlines: Outlines,
  parents: Int32Array,
  plane: ArrayLike<number>,
): Generator<void, Uint32Array<ArrayBuffer>> {
  const { starts, closed } = outlines;
  const depths = depthsOf(parents);
  const holes = new Map<number, number[]>();
  for (let i = 0; i < parents.length; i++) if (depths[i] % 2 === 1) addTo(holes, parents[i], i);
  const axes = axesOf(plane);
  const triangles: number[] = [];
  let pointsSinceYield = 0;
  for (let i = 0; i < parents.length; i++) {
    if (!closed[i] || depths[i] % 2 === 1 || starts[i + 1] - starts[i] < 3) continue;
    const rings = [i, ...(holes.get(i) ?? [])];
    const count = rings.reduce((sum, ring) => sum + starts[ring + 1] - starts[ring], 0);
    if (count > MAX_FILLED_POINTS) continue;
    triangulate(outlines, rings, count, axes, triangles);
    pointsSinceYield += count;
    if (pointsSinceYield < POINTS_PER_YIELD) continue;
    pointsSinceYield = 0;
    yield;
  }
  return Uint32Array.from(triangles);
}

/** Adds the triangles of a polygon of `count` points: the loop around it, then its holes. */
function triangulate(
  { starts, points }: Outlines,
  rings: readonly number[],
  count: number,
  axes: ReturnType<typeof axesOf>,
  triangles: number[],
): void {
  const flat = new Float64Array(2 * count);
  const pointIndices = new Uint32Array(count);
  const ringStarts: number[] = [];
  let at = 0;
  for (const ring of rings) {
    if (at > 0) ringStarts.push(at);
    project(points, starts[ring], starts[ring + 1], starts[rings[0]], axes, flat, 2 * at, 2);
    for (let p = starts[ring]; p < starts[ring + 1]; p++, at++) pointIndices[at] = p;
  }
  const cornerIndices = earcut(flat, ringStarts);
  for (let t = 0; t < cornerIndices.length; t += 3) {
    const [a, b, c] = [cornerIndices[t], cornerIndices[t + 1], cornerIndices[t + 2]];
    const isClockwise = areaOf(flat, a, b, c) < 0;
    triangles.push(pointIndices[a], pointIndices[isClockwise ? c : b], pointIndices[isClockwise ? b : c]);
  }
}

/** Returns for each loop how many others it is inside of. */
function depthsOf(parents: Int32Array): Int32Array {
  const depths = new Int32Array(parents.length).fill(-1);
  const ancestors: number[] = [];
  for (let i = 0; i < parents.length; i++) {
    for (let at = i; at >= 0 && depths[at] < 0; at = parents[at]) ancestors.push(at);
    while (ancestors.length > 0) {
      const at = ancestors.pop()!;
      depths[at] = parents[at] < 0 ? 0 : depths[parents[at]] + 1;
    }
  }
  return depths;
}

function areaOf(flat: Float64Array, a: number, b: number, c: number): number {
  const [x, y] = [flat[2 * a], flat[2 * a + 1]];
  return (flat[2 * b] - x) * (flat[2 * c + 1] - y) - (flat[2 * c] - x) * (flat[2 * b + 1] - y);
}
