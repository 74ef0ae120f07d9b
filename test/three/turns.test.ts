// Which of many are visited in a frame: each within a second, however many frames there are, and whatever is removed.
import { expect, test, vi } from 'vitest';
import { Turns } from '../../src/client/three/turns.js';

test.each([1, 10, 60, 240])('each has its turn within a second, and hardly sooner, at %i frames a second', (rate) => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  for (const count of [1, 7, 100, 1000]) {
    const turns = new Turns();
    const last = new Float64Array(count).fill(now);
    let visits = 0;
    for (let frame = 0; frame < 5 * rate; frame++) {
      now += 1000 / rate;
      turns.take(count, (first, end) => {
        expect(first).toBeLessThan(end);
        visits += end - first;
        for (let i = first; i < end; i++) last[i] = now;
      });
      for (const at of last) if (now - at > 1000) expect(now - at).toBeLessThanOrEqual(1000);
    }
    // Five seconds are no more than seven rounds.
    expect(visits).toBeLessThan(7 * count + 2);
  }
  clock.mockRestore();
});

test('what moves up as others leave is not passed over', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const turns = new Turns();
  let all = Array.from({ length: 100 }, (_, i) => i);
  const seen = new Set<number>();
  while (now < 1000) {
    now += 16;
    turns.take(all.length, (first, end) => {
      for (const each of all.slice(first, end)) seen.add(each);
    });
    all = all.filter((each) => each !== all[0]); // the lowest is removed, and all others move up
  }
  for (const each of all) expect(seen.has(each), `${each}`).toBe(true);
  clock.mockRestore();
});

test('nothing is looked at where no time has passed', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(5);
  const turns = new Turns();
  turns.take(1000, () => expect.unreachable());
  clock.mockRestore();
});

test('after a pause, many are looked at within a few frames, and at once where every frame takes as long', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const count = 80_000;
  const turns = new Turns();
  /** Returns how many are visited in a frame, after this many milliseconds. */
  const frameAfter = (ms: number, seen?: Uint8Array): number => {
    let visits = 0;
    now += ms;
    turns.take(count, (first, end) => {
      visits += end - first;
      seen?.fill(1, first, end);
    });
    return visits;
  };
  for (let frame = 0; frame < 100; frame++) expect(frameAfter(16)).toBeLessThan(count / 50);
  const seen = new Uint8Array(count);
  expect(frameAfter(3000, seen)).toBe(count / 16);
  for (let frame = 0; frame < 15; frame++) expect(frameAfter(16, seen)).toBe(count / 16);
  expect(seen.indexOf(0)).toBe(-1);
  for (let frame = 0; frame < 8; frame++) frameAfter(16); // those that have become due meanwhile
  expect(frameAfter(16)).toBeLessThan(count / 50);
  frameAfter(900);
  expect(frameAfter(900)).toBe(count);
  clock.mockRestore();
});

test('after a pause, no more is looked at than there is time for, and in steady frames all that is due', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const count = 80_000;
  const turns = new Turns();
  /** Returns how many are visited in a frame that begins this many milliseconds after the last one, if each visit takes 4 µs. */
  const frameAfter = (ms: number): number => {
    let visits = 0;
    const start = now;
    now += ms;
    const begun = now;
    turns.take(count, (first, end) => {
      visits += end - first;
      now += 0.004 * (end - first);
    });
    expect(now - begun).toBeLessThan(0.004 * (0.13 * count + 512) + 1);
    now = start + ms;
    return visits;
  };
  for (let frame = 0; frame < 100; frame++) frameAfter(16);
  const due = Math.floor((count * 16) / 850);
  expect(frameAfter(16)).toBeGreaterThanOrEqual(due);
  // The frame's own work takes longer than the time available for the others.
  expect(frameAfter(3000)).toBeLessThan(due + 2);
  expect(frameAfter(16)).toBeLessThan(due + 2);
  for (let frame = 0; frame < 20; frame++) frameAfter(3000);
  // Frames of a tenth of a second, each with its share.
  for (let frame = 0; frame < 20; frame++)
    expect(frameAfter(100)).toBeGreaterThanOrEqual(Math.floor((count * 100) / 850));
  clock.mockRestore();
});
