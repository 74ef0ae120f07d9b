import * as layout from '../../shared/layout.js';
import type { ContactPair, ContactSet, ContactSide } from '../../shared/types.js';
import { checkInteger, readOptions } from '../check/validate.js';
import type { OutBuffer } from './out-buffer.js';

/** Reads the pairs of a frame out (layout.ts). */
export class ContactSetView implements ContactSet {
  readonly count: number;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly groupA: Uint32Array;
  readonly groupB: Uint32Array;
  readonly begun: Uint8Array;
  readonly stale: Uint8Array;
  readonly waiting: number;
  readonly truncated: boolean;
  readonly contained: Uint8Array;
  readonly endedA: Uint32Array;
  readonly endedB: Uint32Array;
  readonly endedGroupA: Uint32Array;
  readonly endedGroupB: Uint32Array;
  readonly start: Uint32Array;
  readonly points: Float32Array;
  readonly normals: Float32Array;
  readonly depths: Float32Array;
  readonly triangleStart: Uint32Array;
  readonly triangles: Uint32Array;
  readonly segments: Float32Array;
  readonly boneStart: Uint32Array;
  readonly bones: Int32Array;
  readonly #out: OutBuffer;
  #time: Float32Array | undefined;

  constructor(out: OutBuffer) {
    this.#out = out;
    const pairCount = out.word(layout.OUT_PAIR_COUNT);
    const endedCount = out.word(layout.OUT_ENDED_COUNT);
    const pointCount = out.word(layout.OUT_POINT_COUNT);
    const triangleCount = out.word(layout.OUT_TRIANGLE_COUNT);
    this.count = pairCount;
    this.a = out.u32(layout.OUT_PAIR_A, pairCount);
    this.b = out.u32(layout.OUT_PAIR_B, pairCount);
    this.groupA = out.u32(layout.OUT_PAIR_GROUP_A, pairCount);
    this.groupB = out.u32(layout.OUT_PAIR_GROUP_B, pairCount);
    this.begun = out.u8(layout.OUT_PAIR_BEGUN, pairCount);
    this.stale = out.u8(layout.OUT_PAIR_STALE, pairCount);
    this.waiting = out.word(layout.OUT_WAITING);
    this.truncated = out.word(layout.OUT_TRUNCATED) === 1;
    this.contained = out.u8(layout.OUT_PAIR_CONTAINED, pairCount);
    this.endedA = out.u32(layout.OUT_ENDED_A, endedCount);
    this.endedB = out.u32(layout.OUT_ENDED_B, endedCount);
    this.endedGroupA = out.u32(layout.OUT_ENDED_GROUP_A, endedCount);
    this.endedGroupB = out.u32(layout.OUT_ENDED_GROUP_B, endedCount);
    this.start = out.u32(layout.OUT_PAIR_START, pairCount + 1);
    this.points = out.f32(layout.OUT_POINTS, 3 * pointCount);
    this.normals = out.f32(layout.OUT_NORMALS, 3 * pointCount);
    this.depths = out.f32(layout.OUT_DEPTHS, pointCount);
    this.triangleStart = out.u32(layout.OUT_TRIANGLE_START, pairCount + 1);
    this.triangles = out.u32(layout.OUT_TRIANGLES, 2 * triangleCount);
    this.segments = out.f32(layout.OUT_SEGMENTS, 6 * triangleCount);
    this.boneStart = out.u32(layout.OUT_BONE_START, pairCount + 1);
    this.bones = out.i32(layout.OUT_BONES, 2 * out.word(layout.OUT_BONE_COUNT));
  }

  get time(): Float32Array {
    const hasTimes = this.#out.word(layout.OUT_PAIR_TIME) !== 0;
    this.#time ??= hasTimes ? this.#out.f32(layout.OUT_PAIR_TIME, this.count) : new Float32Array(this.count).fill(1);
    return this.#time;
  }

  *[Symbol.iterator](): Iterator<ContactPair> {
    for (let i = 0; i < this.count; i++) yield this.#pair(i);
  }

  between(first: ContactSide, second?: ContactSide): ContactPair[] {
    this.#out.check();
    const [a, b, value] = this.#columnsOf('first', first);
    const hasSecond = second !== undefined;
    const [otherA, otherB, otherValue] = hasSecond ? this.#columnsOf('second', second) : [a, b, value];
    const matches: ContactPair[] = [];
    for (let i = 0; i < this.count; i++) {
      if (
        (a[i] === value && (!hasSecond || otherB[i] === otherValue)) ||
        (b[i] === value && (!hasSecond || otherA[i] === otherValue))
      ) {
        matches.push(this.#pair(i));
      }
    }
    return matches;
  }

  /** Returns which numbers of the pairs' objects are those of a side, ids or groups, and what they have to be. */
  #columnsOf(argument: string, side: ContactSide): readonly [a: Uint32Array, b: Uint32Array, value: number] {
    if (typeof side === 'number') {
      return [this.a, this.b, checkInteger('between', argument, side, 0, 0xffffffff)];
    }
    const { group } = readOptions('between', argument, side, ['group']);
    return [this.groupA, this.groupB, checkInteger('between', `${argument}.group`, group, 1, 0xffffffff)];
  }

  #pair(i: number): ContactPair {
    this.#out.check();
    const firstPoint = this.start[i];
    const endPoint = this.start[i + 1];
    const firstTriangle = this.triangleStart[i];
    const endTriangle = this.triangleStart[i + 1];
    return {
      a: this.a[i],
      b: this.b[i],
      groupA: this.groupA[i],
      groupB: this.groupB[i],
      begun: this.begun[i] === 1,
      stale: this.stale[i] === 1,
      time: this.time[i],
      contained: this.contained[i] as 0 | 1 | 2,
      points: this.points.subarray(3 * firstPoint, 3 * endPoint),
      normals: this.normals.subarray(3 * firstPoint, 3 * endPoint),
      depths: this.depths.subarray(firstPoint, endPoint),
      triangles: this.triangles.subarray(2 * firstTriangle, 2 * endTriangle),
      segments: this.segments.subarray(6 * firstTriangle, 6 * endTriangle),
      bones: this.bones.subarray(2 * this.boneStart[i], 2 * this.boneStart[i + 1]),
    };
  }
}
