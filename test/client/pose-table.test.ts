// The pose table against maps of copies: what frames carry, whatever was set, sent, refused or removed in between.
import { describe, expect, test, vi } from 'vitest';
import { type PoseEntry, type PoseState, PoseTable, UNBOUND } from '../../src/client/skin/pose-table.js';
import {
  POSE_BINDS,
  POSE_BONE_COUNT,
  POSE_BONES,
  POSE_BYTES,
  POSE_ID,
  POSE_MORPHS,
  POSE_TARGET_COUNT,
} from '../../src/shared/layout.js';
import { Random, SEED } from '../oracle/random.js';

const OBJECTS = 40;
const STEPS = 3000;
/** Bytes before the poses: the rest of the frame. */
const BEFORE = 64;

interface Pose {
  bones: number[];
  binds: number[];
  morphs: number[];
}

/** Reads the poses of a frame. */
function written(table: PoseTable, states: PoseState[]): [number, Pose][] {
  const buffer = new ArrayBuffer(BEFORE + table.measure(states));
  const [u32, f32, f64] = [new Uint32Array(buffer), new Float32Array(buffer), new Float64Array(buffer)];
  table.write(states, u32, f32, f64, BEFORE);
  return states.map((_, i) => {
    const word = (at: number) => u32[(BEFORE + i * POSE_BYTES + at) / 4];
    const [bones, binds, morphs] = [word(POSE_BONES) / 4, word(POSE_BINDS) / 8, word(POSE_MORPHS) / 4];
    return [
      word(POSE_ID),
      {
        bones: Array.from(f32.subarray(bones, bones + 16 * word(POSE_BONE_COUNT))),
        binds: Array.from(f64.subarray(binds, binds + 32)),
        morphs: Array.from(f32.subarray(morphs, morphs + word(POSE_TARGET_COUNT))),
      },
    ];
  });
}

describe('the table of poses', () => {
  test.each([SEED, SEED + 1, SEED + 2])('brings what was set, seed %i', (seed) => {
    const random = new Random(seed);
    const table = new PoseTable();
    const [set, said, taken] = [new Map<number, Pose>(), new Map<number, Pose>(), new Map<number, Pose>()];
    const counts = Array.from({ length: OBJECTS }, () => random.integer(4));
    const shared = new Float32Array(16 * 3);
    let posed: PoseEntry[] = [];
    let sent: { posed: PoseEntry[]; said: Map<number, Pose> } | null = null;
    let brought = 0;
    const poseOne = (): void => {
      const id = 1 + random.integer(OBJECTS);
      const count = random.chance(0.1) ? 0 : counts[id - 1]; // a pose need not have any
      const given = count === 3 && random.chance(0.5) ? shared : new Float32Array(16 * count);
      if (given !== shared || random.chance(0.3)) for (const i of given.keys()) given[i] = random.integer(1000);
      const binds = random.chance(0.7) ? UNBOUND : Float64Array.from({ length: 32 }, () => random.integer(1000));
      const morphs = Array.from({ length: random.chance(0.7) ? 0 : random.integer(4) }, () => random.integer(1000));
      table.set(id, { bones: count === 0 ? undefined : given, binds, morphs });
      set.set(id, { bones: count === 0 ? [] : [...given], binds: [...binds], morphs });
    };
    const commit = (): void => {
      table.commit(posed);
      for (const [id, pose] of set) said.set(id, pose);
      set.clear();
    };
    const send = (): void => {
      if (sent !== null) return; // only one at a time is in the worker
      const frame = written(table, table.statesOf(posed, false));
      for (const [id, pose] of frame) expect(pose).toEqual(said.get(id));
      brought += frame.length;
      expect(new Set(frame.map(([id]) => id)).size).toBe(frame.length);
      table.send(posed);
      sent = { posed, said: new Map(frame) };
      posed = [];
    };
    const answer = (): void => {
      if (sent === null) return;
      const rejected = [...sent.said.keys()].filter(() => random.chance(0.1));
      table.take(sent.posed, Uint32Array.from(rejected));
      for (const [id, pose] of sent.said) if (said.has(id) && !rejected.includes(id)) taken.set(id, pose);
      sent = null;
    };
    const remove = (): void => {
      const id = 1 + random.integer(OBJECTS);
      table.delete(id);
      for (const map of [set, said, taken, sent?.said]) map?.delete(id);
    };
    /** What the next worker is sent: for each pose what was last accepted, and then what was set since. */
    const whole = (): void => {
      const frame = written(table, table.statesOf(table.said(), true));
      const last = new Map(frame);
      expect(last).toEqual(said);
      for (const [id, pose] of frame) expect([said.get(id), taken.get(id)]).toContainEqual(pose);
      for (const id of said.keys()) {
        if (taken.has(id)) expect(frame.find(([each]) => each === id)![1]).toEqual(taken.get(id));
      }
    };
    for (let step = 0; step < STEPS; step++) {
      const all = random.chance(0.02) ? OBJECTS : 1;
      for (let i = 0; i < all; i++) poseOne();
      if (random.chance(0.2)) commit();
      if (random.chance(0.2)) send();
      if (random.chance(0.2)) answer();
      if (random.chance(0.05)) remove();
      if (random.chance(0.02)) whole();
    }
    expect(brought).toBeGreaterThan(STEPS / 4);
  });

  test('goes on after it was cleared', () => {
    const table = new PoseTable();
    const set = () => table.set(1, { bones: new Float32Array(32), binds: UNBOUND, morphs: [] });
    set();
    table.commit([]);
    set();
    table.clear();
    set();
    const posed: PoseEntry[] = [];
    table.commit(posed);
    expect(written(table, table.statesOf(posed, false)).map(([id]) => id)).toEqual([1]);
  });

  test('looks through the rejected objects once, however many poses there are', () => {
    const table = new PoseTable();
    const ids = Array.from({ length: 100 }, (_, i) => i + 1);
    for (const id of ids) table.set(id, { bones: undefined, binds: UNBOUND, morphs: [id] });
    const entries: PoseEntry[] = [];
    table.commit(entries);
    table.send(entries);
    const rejected = Uint32Array.of(50, 200);
    const reads = [
      vi.spyOn(rejected, 'includes'),
      vi.spyOn(rejected, 'indexOf'),
      vi.spyOn(rejected, Symbol.iterator as never),
    ];
    table.take(entries, rejected);
    expect(reads.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(2);
    expect(entries.filter(({ taken }) => taken === undefined)).toEqual([entries[49]]);
  });
});
