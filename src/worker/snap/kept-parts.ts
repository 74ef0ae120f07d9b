import {
  CLIP_SET_BYTES,
  CLIP_SET_FIRST,
  CLIP_SET_INTERSECTION_COUNT,
  CLIP_SET_UNION_COUNT,
} from '../../shared/layout.js';
import type { Clips } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';

/** The rounding of a plane's value, relative to its terms: core/scene/query/clipping.ts. */
const ROUNDING = 2 ** -48;

/** Parts of a segment: two numbers each, from 0 at its start to 1 at its end. */
export type Parts = readonly (readonly [number, number])[];

const WHOLE: Parts = [[0, 1]];

/** Answers what the planes of a query and those of an object's clip set leave of a segment. */
export function keptParts(clips: Clips | undefined, clipSet: number, a: Vec3, b: Vec3): Parts {
  if (clips === undefined) return WHOLE;
  const asked = keptBySet(clips, 0, a, b, WHOLE);
  const setCount = clips.sets.length / (CLIP_SET_BYTES / 4);
  return clipSet > 0 && clipSet < setCount ? keptBySet(clips, clipSet, a, b, asked) : asked;
}

function keptBySet({ sets, planes }: Clips, set: number, a: Vec3, b: Vec3, parts: Parts): Parts {
  const at = (set * CLIP_SET_BYTES) / 4;
  const first = sets[at + CLIP_SET_FIRST / 4];
  const unionCount = sets[at + CLIP_SET_UNION_COUNT / 4];
  const count = unionCount + sets[at + CLIP_SET_INTERSECTION_COUNT / 4];
  let kept = parts;
  // What all of the others cut away together.
  let [cutFrom, cutTo] = count > unionCount ? [0, 1] : [1, 0];
  for (let i = 0; i < count; i++) {
    const from = planeAt(planes, 4 * (first + i), a);
    const to = planeAt(planes, 4 * (first + i), b);
    const crossing = from / (from - to);
    if (i < unionCount) {
      const [low, high] = from < 0 ? (to < 0 ? [1, 0] : [crossing, 1]) : to < 0 ? [0, crossing] : [0, 1];
      kept = kept.flatMap(([s, t]) =>
        Math.max(s, low) <= Math.min(t, high) ? [[Math.max(s, low), Math.min(t, high)] as const] : [],
      );
    } else if (from >= 0 && to >= 0) {
      [cutFrom, cutTo] = [1, 0];
    } else if (from >= 0) {
      cutFrom = Math.max(cutFrom, crossing);
    } else if (to >= 0) {
      cutTo = Math.min(cutTo, crossing);
    }
  }
  if (!(cutFrom < cutTo)) return kept;
  return kept.flatMap(([s, t]) => {
    const before = s <= Math.min(t, cutFrom) && (cutFrom > 0 || s > 0) ? [[s, Math.min(t, cutFrom)] as const] : [];
    const after = Math.max(s, cutTo) <= t && (cutTo < 1 || t < 1) ? [[Math.max(s, cutTo), t] as const] : [];
    return [...before, ...after];
  });
}

/** A plane's value at a point; 0 where rounding alone makes it negative. */
function planeAt(planes: Float64Array, at: number, [x, y, z]: Vec3): number {
  const [a, b, c, w] = [planes[at] * x, planes[at + 1] * y, planes[at + 2] * z, planes[at + 3]];
  const value = a + b + c + w;
  const most = ROUNDING * (Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(w));
  return value < 0 && value >= -most ? 0 : value;
}
