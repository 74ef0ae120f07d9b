// The nesting of a section's outlines, their winding, and what of them is filled: of loops that are generated one inside
// another, so that the truth is known.
import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import type { Outlines } from '../../../src/worker/binding/sections.js';
import { fillOutlines, MAX_CROSSING_POINTS, MAX_EAR_POINTS } from '../../../src/worker/caps.js';
import { nest } from '../../../src/worker/outline-nesting.js';
import { Random, SEED } from '../../oracle/random.js';

interface Loop {
  /** Points in the plane, x and y each. */
  points: [number, number][];
  object: number;
  isOpen?: boolean;
  /** The loop directly around it. */
  parent: Loop | null;
}

/** A plane, and its points at two coordinates. */
class Plane {
  readonly normal: Vector3;
  readonly #origin: Vector3;
  readonly #right: Vector3;
  readonly #up: Vector3;

  constructor(normal: Vector3, origin = new Vector3()) {
    this.normal = normal.clone().normalize();
    this.#origin = origin;
    const aside = Math.abs(this.normal.x) < 0.5 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
    this.#right = aside.cross(this.normal).normalize();
    this.#up = this.normal.clone().cross(this.#right);
  }

  /** As a section takes it: a normal of any length. */
  get numbers(): number[] {
    return [2 * this.normal.x, 2 * this.normal.y, 2 * this.normal.z, -2 * this.normal.dot(this.#origin)];
  }

  at([x, y]: [number, number]): Vector3 {
    return this.#origin.clone().addScaledVector(this.#right, x).addScaledVector(this.#up, y);
  }
}

function outlinesOf(loops: readonly Loop[], plane: Plane): Outlines {
  const starts = [0];
  for (const { points } of loops) starts.push(starts.at(-1)! + points.length);
  const count = starts.at(-1)!;
  return {
    objects: Uint32Array.from(loops, ({ object }) => object),
    starts: Uint32Array.from(starts),
    closed: Uint8Array.from(loops, ({ isOpen }) => (isOpen ? 0 : 1)),
    points: Float64Array.from(loops.flatMap(({ points }) => points.flatMap((point) => plane.at(point).toArray()))),
    triangles: Int32Array.from({ length: count }, (_, i) => 1000 + i),
  };
}

/** Runs a generator; returns its result, and how often it yielded. */
function run<T>(work: Generator<void, T>): { value: T; yields: number } {
  let yields = 0;
  for (;;) {
    const { value, done } = work.next();
    if (done) return { value, yields };
    yields++;
  }
}

const pointAt = ({ points }: Outlines, i: number) => new Vector3().fromArray(points, 3 * i);

/** Returns twice the area of an outline, positive if it is counterclockwise from in front. */
function areaOf(outlines: Outlines, i: number, normal: Vector3): number {
  const [first, end] = [outlines.starts[i], outlines.starts[i + 1]];
  const sum = new Vector3();
  const origin = pointAt(outlines, first);
  for (let p = first; p < end; p++) {
    const next = p + 1 === end ? first : p + 1;
    sum.add(pointAt(outlines, p).sub(origin).cross(pointAt(outlines, next).sub(origin)));
  }
  return sum.dot(normal);
}

/** Lists the triangle of each segment of an outline, independent of its direction. */
function segmentsOf({ points, starts, triangles, closed }: Outlines, i: number): string {
  const named: string[] = [];
  for (let p = starts[i]; p < starts[i + 1]; p++) {
    const isLast = p + 1 === starts[i + 1];
    if (isLast && closed[i] === 0) break;
    const next = isLast ? starts[i] : p + 1;
    const ends = [p, next].map((each) => String(points.subarray(3 * each, 3 * each + 3)));
    named.push(`${ends.sort().join()}: ${triangles[p]}`);
  }
  return named.sort().join('\n');
}

/** Nests loops and checks the whole answer. */
function check(loops: readonly Loop[], plane: Plane): { yields: number; outlines: Outlines; parents: Int32Array } {
  const outlines = outlinesOf(loops, plane);
  const before = { ...outlines, points: outlines.points.slice(), triangles: outlines.triangles.slice() };
  const { value: parents, yields } = run(nest(outlines, plane.numbers));
  const places = new Map(loops.map((loop, i) => [loop, i]));
  expect(Array.from(parents)).toEqual(loops.map(({ parent }) => (parent === null ? -1 : places.get(parent)!)));
  loops.forEach((loop, i) => {
    let depth = 0;
    for (let around = loop.parent; around !== null; around = around.parent) depth++;
    expect(segmentsOf(outlines, i) === segmentsOf(before, i), `the segments of loop ${i}`).toBe(true);
    const area = areaOf(before, i, plane.normal);
    if (loop.isOpen || area === 0) expect(areaOf(outlines, i, plane.normal)).toBe(area);
    else expect(areaOf(outlines, i, plane.normal) > 0, `the direction of loop ${i}`).toBe(depth % 2 === 0);
  });
  return { yields, outlines, parents };
}

/** A loop about a centre, all of it within a radius and outside half of it; and others inside it. */
function grow(random: Random, x: number, y: number, radius: number, levels: number, parent: Loop | null, into: Loop[]) {
  const count = 6 + random.integer(4);
  const turn = random.range(0, 1);
  const points = Array.from({ length: count }, (_, i): [number, number] => {
    const angle = (2 * Math.PI * (i + turn + random.range(-0.15, 0.15))) / count;
    const distance = radius * random.range(0.8, 1);
    return [x + distance * Math.cos(angle), y + distance * Math.sin(angle)];
  });
  if (random.chance(0.5)) points.reverse();
  const loop: Loop = { points, object: 0, parent };
  into.push(loop);
  if (levels === 0) return;
  for (const [right, up] of [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ]) {
    if (random.chance(0.3)) continue;
    grow(random, x + 0.18 * radius * right, y + 0.18 * radius * up, 0.17 * radius, levels - 1, loop, into);
  }
}

const rectangle = (x: number, y: number, width: number, height: number): [number, number][] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
];

/** A comb with teeth upwards, four apart and one wide; it is 8 high, and its spine is 1 high. */
function comb(teeth: number): [number, number][] {
  const points: [number, number][] = [
    [4 * teeth - 3, 0],
    [0, 0],
  ].reverse() as [number, number][];
  for (let tooth = teeth - 1; tooth >= 0; tooth--) {
    const x = 4 * tooth;
    points.push([x + 1, 8], [x, 8]);
    if (tooth > 0) points.push([x, 1], [x - 3, 1]);
  }
  return points;
}

describe(`loops are inside of each other, seed ${SEED}`, () => {
  test('of several objects, each of few', () => {
    const random = new Random(SEED);
    for (let round = 0; round < 40; round++) {
      const all: Loop[] = [];
      for (let object = 0; object < 3; object++) {
        const own: Loop[] = [];
        for (let i = 0; i < 1 + random.integer(3); i++) grow(random, 3 * i, 0, 1, random.integer(4), null, own);
        for (const loop of own) loop.object = object;
        // A line that is no loop, and two points, across all of them.
        if (random.chance(0.5)) own.push({ points: rectangle(-9, -9, 30, 30), object, isOpen: true, parent: null });
        if (random.chance(0.5)) own.push({ points: rectangle(-9, 0, 30, 0).slice(1, 3), object, parent: null });
        all.push(...random.shuffled(own));
      }
      check(all, new Plane(random.direction(), random.point(10)));
    }
  });

  test('of many, in the midst of which the work can be left', () => {
    const random = new Random(SEED);
    for (const normal of [new Vector3(0, 0, 1), random.direction()]) {
      const all: Loop[] = [];
      for (let i = 0; i < 12; i++) grow(random, 3 * (i % 4), 3 * (i >> 2), 1, 3, null, all);
      expect(all.length ** 2 * 6).toBeGreaterThan(2 ** 18);
      const { yields } = check(random.shuffled(all), new Plane(normal, random.point(10)));
      expect(yields).toBeGreaterThan(all.length / 4);
    }
  });

  test('of long edges that cross one another, which are in few rows: the work is left every few thousand edges', () => {
    const random = new Random(SEED);
    const loops = [16_384, ...new Array(15).fill(300)].map((count): Loop => {
      const points = Array.from({ length: count }, (): [number, number] => [random.next(), random.next()]);
      return { points, object: 1, parent: null };
    });
    const plane = new Plane(random.direction());
    // They are read, counted by rows, listed by rows, and each row is sorted.
    const edges = 16_384 + 15 * 300;
    expect(run(nest(outlinesOf(loops, plane), plane.numbers)).yields).toBeGreaterThan((2 * edges) / 1024 + 6);
  });

  test('that touch, by corners and by whole edges, of few and of many', () => {
    const random = new Random(SEED);
    for (const side of [1, 2, 26]) {
      const all: Loop[] = [];
      for (let i = 0; i < side * side; i++) {
        const [x, y] = [8 * (i % side), 8 * Math.floor(i / side)];
        // The outer ones touch each other, and the inner ones touch them; the last has a hole that touches its corner.
        const outer: Loop = { points: rectangle(x, y, 8, 8), object: 0, parent: null };
        const inner = [
          rectangle(x, y, 4, 4),
          rectangle(x + 4, y, 4, 4).reverse(),
          rectangle(x, y + 4, 4, 4),
          rectangle(x + 4, y + 4, 4, 4),
        ].map((points): Loop => ({ points, object: 0, parent: outer }));
        const hole: Loop = { points: rectangle(x + 4, y + 4, 2, 2), object: 0, parent: inner[3] };
        all.push(...inner, hole, outer);
      }
      check(random.shuffled(all), new Plane(new Vector3(0, 0, 1)));
      // Far from the origin, what touches is separated by rounding.
      check(random.shuffled(all), new Plane(random.direction(), random.point(1e6)));
    }
  });

  test('that lean, thin ones one inside of another', () => {
    const random = new Random(SEED);
    const lean = ([x, y]: [number, number]): [number, number] => [x + 5 * y, y];
    const all: Loop[] = [];
    for (let i = 0; i < 600; i++) {
      let parent: Loop | null = null;
      const [x, y] = [10 * (i % 100) + random.next(), 5 * Math.floor(i / 100) + random.next()];
      for (const inset of [0, 1, 2]) {
        const points = rectangle(x + inset, y + inset / 9, 8 - 2 * inset, 4 - inset).map(lean);
        parent = { points: random.chance(0.5) ? points : points.reverse(), object: 0, parent };
        all.push(parent);
      }
    }
    check(random.shuffled(all), new Plane(new Vector3(0, 0, 1)));
  });

  test('of one that crosses itself, in both of its halves', () => {
    const points: [number, number][] = [
      [0, 0],
      [8, 4],
      [8, 0],
      [0, 4],
    ];
    const outer: Loop = { points, object: 0, parent: null };
    const inner = [rectangle(0.5, 1.5, 1, 1), rectangle(6.5, 1.5, 1, 1)];
    check(
      [...inner.map((each) => ({ points: each, object: 0, parent: outer })), outer],
      new Plane(new Vector3(0, 0, 1)),
    );
  });

  test('that reach between the teeth of each other are beside each other, of few and of many', () => {
    const random = new Random(SEED);
    for (const pairs of [1, 8, 60]) {
      const all: Loop[] = [];
      for (let i = 0; i < pairs; i++) {
        const y = 20 * i;
        // The one that points down is the larger one, and has another between its teeth.
        const down = comb(6).map(([u, v]): [number, number] => [u * 1.05 - 2.1, y + 9 - v]);
        const up = comb(6).map(([u, v]): [number, number] => [u, y + v]);
        const between: Loop = { points: rectangle(4.5, y + 8.5, 0.4, 0.2), object: 0, parent: null };
        for (const points of [down, up]) {
          const first = random.integer(points.length);
          const turned = [...points.slice(first), ...points.slice(0, first)];
          all.push({ points: random.chance(0.5) ? turned : turned.reverse(), object: 0, parent: null });
        }
        between.parent = all.at(-2)!;
        all.push(between);
      }
      check(random.shuffled(all), new Plane(new Vector3(0, 0, 1)));
      check(random.shuffled(all), new Plane(random.direction(), random.point(10)));
    }
  });

  test('of many without a height, nothing is inside', () => {
    const flat = (x: number): Loop => ({ points: rectangle(x, 0, 1, 0).slice(0, 3), object: 0, parent: null });
    check(
      Array.from({ length: 400 }, (_, i) => flat(2 * i)),
      new Plane(new Vector3(0, 0, 1)),
    );
  });

  test('of one without an area, nothing is inside', () => {
    const there = rectangle(1, 1, 2, 0);
    const outer: Loop = { points: rectangle(0, 0, 9, 9).reverse(), object: 4, parent: null };
    const flat: Loop = { points: [there[0], there[1], there[0]], object: 4, parent: outer };
    const other: Loop = { points: rectangle(5, 1, 1, 1), object: 4, parent: outer };
    check([flat, outer, other], new Plane(new Vector3(0, 0, 1)));
  });
});

test('a loop alone in its object goes counter-clockwise, and a line stays as it is', () => {
  const random = new Random(SEED);
  const axes = [0, 1, 2].flatMap((axis) => [1, -1].map((sign) => new Vector3().setComponent(axis, sign)));
  for (const normal of [...axes, ...Array.from({ length: 8 }, () => random.direction())]) {
    const loops = Array.from({ length: 700 }, (_, object): Loop => {
      const points = rectangle(0, 0, 1 + random.next(), 1 + random.next()).slice(0, 2 + random.integer(3));
      const isOpen = random.chance(0.3);
      return { points: random.chance(0.5) ? points : points.reverse(), object, isOpen, parent: null };
    });
    const { yields } = check(loops, new Plane(normal, random.point(3)));
    expect(yields).toBe(2);
  }
});

test(`what is filled is inside of loops and outside of their holes, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let most = 0;
  for (let round = 0; round < 8; round++) {
    const all: Loop[] = [];
    for (let i = 0; i < 1 + 4 * round; i++) grow(random, 3 * i, 0, 1, random.integer(4), null, all);
    all.push({ points: rectangle(-9, -9, 190, 90), object: 0, isOpen: true, parent: null });
    const plane = new Plane(random.direction(), random.point(3));
    const { outlines, parents } = check(random.shuffled(all), plane);
    const { value: triangles, yields } = run(fillOutlines(outlines, parents, plane.numbers));
    most = Math.max(most, yields);
    let filled = 0;
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => pointAt(outlines, triangles[t + k]));
      const area = b.clone().sub(a).cross(c.sub(a)).dot(plane.normal);
      expect(area).toBeGreaterThanOrEqual(-1e-12);
      filled += area;
    }
    // Loops go one way and holes the other.
    const truth = all.reduce((sum, _, i) => sum + (outlines.closed[i] ? areaOf(outlines, i, plane.normal) : 0), 0);
    expect(filled).toBeCloseTo(truth, 6);
  }
  expect(most).toBeGreaterThan(0);
});

test('a polygon that crosses itself is filled if it has few points, and any other one', () => {
  const circle = (x: number, count: number, turns = 1): Loop => {
    const angles = Array.from({ length: count }, (_, i) => (2 * Math.PI * turns * i) / count);
    return { points: angles.map((angle) => [x + Math.cos(angle), Math.sin(angle)]), object: x, parent: null };
  };
  const plane = new Plane(new Vector3(0, 0, 1));
  // A star of long chords, which cross each other.
  const star = (x: number, count: number) => circle(x, count, (count - 1) / 2 - 3);
  const most = MAX_CROSSING_POINTS - 1;
  const loops = [circle(0, 5), circle(3, MAX_EAR_POINTS), circle(6, 30_000), star(9, most), star(12, most + 2)];
  const outlines = outlinesOf(loops, plane);
  const { value: triangles } = run(fillOutlines(outlines, new Int32Array(loops.length).fill(-1), plane.numbers));
  const counts = loops.map(() => 0);
  for (const point of triangles) counts[outlines.starts.findLastIndex((start) => start <= point)]++;
  expect(counts.slice(0, 3)).toEqual([3 * 3, 3 * (MAX_EAR_POINTS - 2), 3 * 29_998]);
  expect(counts[3]).toBeGreaterThan(0);
  expect(counts[4]).toBe(0);
});
