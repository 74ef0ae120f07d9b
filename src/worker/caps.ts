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
import { type Steps, TASKS_PER_STEP } from './binding/steps.js';
import { axesOf, project, ROUNDING } from './plane-coordinates.js';
import { triangulate, turnOf } from './triangulate.js';

/** Polygons of at most this many points, holes included, are cut by ears in one piece: that takes a millisecond. */
export const MAX_EAR_POINTS = 500;

/** The same for polygons that cross themselves: cutting them by ears takes up to some 20 ms. */
export const MAX_CROSSING_POINTS = 1500;

/**
 * Triangulates the cut surface: loops that are inside of an even number of others, minus the loops directly inside of
 * them. Returns three points per triangle, counter-clockwise as seen from in front of the plane. Yields often.
 */
export function* fillOutlines(
  outlines: Outlines,
  parents: Int32Array,
  plane: ArrayLike<number>,
): Steps<Uint32Array<ArrayBuffer>> {
  const { starts, closed } = outlines;
  const depths = new Int32Array(parents.length).fill(-1);
  const holes = new Map<number, number[]>();
  const ancestors: number[] = [];
  for (let i = 0; i < parents.length; i++) {
    for (let at = i; at >= 0 && depths[at] < 0; at = parents[at]) ancestors.push(at);
    while (ancestors.length > 0) {
      const at = ancestors.pop()!;
      depths[at] = parents[at] < 0 ? 0 : depths[parents[at]] + 1;
    }
    if (depths[i] % 2 === 1) addTo(holes, parents[i], i);
    if (i % TASKS_PER_STEP === 0) yield;
  }
  const axes = axesOf(plane);
  const triangles: number[] = [];
  for (let i = 0; i < parents.length; i++) {
    if (!closed[i] || depths[i] % 2 === 1 || starts[i + 1] - starts[i] < 3) continue;
    yield* fill(outlines, [i, ...(holes.get(i) ?? [])], axes, triangles);
  }
  return new Uint32Array(triangles);
}

/** Adds the triangles of a polygon: the loop around it, then its holes. */
function* fill(
  { starts, points }: Outlines,
  rings: readonly number[],
  axes: ReturnType<typeof axesOf>,
  triangles: number[],
): Steps<void> {
  let count = 0;
  for (const ring of rings) count += starts[ring + 1] - starts[ring];
  const flat = new Float64Array(2 * count);
  const pointIndices = new Uint32Array(count);
  const holeStarts: number[] = [];
  const origin = starts[rings[0]];
  let at = 0;
  for (const ring of rings) {
    if (at > 0) holeStarts.push(at);
    project(points, starts[ring], starts[ring + 1], origin, axes, flat, 2 * at, 2);
    for (let p = starts[ring]; p < starts[ring + 1]; p++) pointIndices[at++] = p;
    yield;
  }
  let corners: number[] | undefined;
  if (count > MAX_EAR_POINTS) {
    let farthest = 0;
    for (let i = 3 * origin; i < 3 * starts[rings[0] + 1]; i++) farthest = Math.max(farthest, Math.abs(points[i]));
    corners = yield* triangulate(flat, holeStarts, ROUNDING * farthest);
  }
  corners ??= count > MAX_CROSSING_POINTS ? [] : earcut(flat, holeStarts);
  for (let t = 0; t < corners.length; ) {
    const [a, b, c] = [corners[t++], corners[t++], corners[t++]];
    const isClockwise = turnOf(flat, a, b, c) < 0;
    triangles.push(pointIndices[a], pointIndices[isClockwise ? c : b], pointIndices[isClockwise ? b : c]);
    if (t % (3 * TASKS_PER_STEP) === 0) yield;
  }
}
