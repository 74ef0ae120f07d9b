// The clipping of materials and renderers, as numbers, and which changes of a material change its clipping.
import { type Material, MeshBasicMaterial, Plane, ShaderMaterial, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { ClipSetTable, isCutAway } from '../../src/client/three/track/clip-sets.js';
import { cutOf, isCutUnchanged, isSameCut, type MaterialCut } from '../../src/client/three/track/material-cut.js';
import { Random, SEED } from '../oracle/random.js';

const plane = (x: number, y: number, z: number, constant: number) => new Plane(new Vector3(x, y, z), constant);
const [LEFT, UP, FRONT] = [plane(1, 0, 0, -1), plane(0, 1, 0, -2), plane(0, 0, 1, -3)];
const shader = (clipping: boolean) => Object.assign(new ShaderMaterial(), { clipping });
const cut = (clippingPlanes: Plane[] | null, clipIntersection = false): Material =>
  new MeshBasicMaterial({ clippingPlanes, clipIntersection });

describe('how a material cuts', () => {
  /** All of these differ from each other. */
  const kinds: [string, () => Material][] = [
    ['nothing', () => cut(null)],
    ['one plane', () => cut([LEFT])],
    ['another one', () => cut([UP])],
    ['two', () => cut([LEFT, UP])],
    ['two, where both agree', () => cut([LEFT, UP], true)],
    ['in another order', () => cut([UP, LEFT])],
    ['a shader that asks for it', () => Object.assign(shader(true), { clippingPlanes: [LEFT, FRONT] })],
    ['a shader that does not', () => Object.assign(shader(false), { clippingPlanes: [LEFT] })],
  ];
  test('is told from each other kind', () => {
    for (const [name, one] of kinds) {
      const own = cutOf(one());
      expect(isCutUnchanged(one(), own), name).toBe(true);
      expect(isSameCut(own, cutOf(one())), name).toBe(true);
      for (const [other, another] of kinds) {
        if (name === other) continue;
        expect(isCutUnchanged(another(), own), `${name} and ${other}`).toBe(false);
        expect(isSameCut(own, cutOf(another())), `${name} and ${other}`).toBe(false);
      }
    }
  });

  test('is none where there are no planes, and of a copy of the list', () => {
    for (const given of [null, undefined, [], {}, 3]) {
      const material = Object.assign(new MeshBasicMaterial(), { clippingPlanes: given });
      expect(cutOf(material)).toBeUndefined();
      expect(isCutUnchanged(material, undefined)).toBe(true);
      expect(isCutUnchanged(material, cutOf(cut([LEFT])))).toBe(false);
    }
    expect(cutOf(undefined)).toBeUndefined();
    expect(cutOf(shader(false))).toEqual({ planes: [], isIntersection: false, isExempt: true });
    const planes = [LEFT];
    const own = cutOf(cut(planes))!;
    expect(own).toEqual({ planes: [LEFT], isIntersection: false, isExempt: false });
    planes.push(UP);
    expect(own.planes).toEqual([LEFT]);
  });
});

describe('the sets of a tracker', () => {
  const cutBy = (planes: Plane[], isIntersection = false): MaterialCut => ({ planes, isIntersection, isExempt: false });

  test('of many materials with planes of their own are found without a look at all others', () => {
    const table = new ClipSetTable(undefined);
    let reads = 0;
    const planesOf = (plane: Plane): Plane[] => {
      const planes = [UP, plane];
      return new Proxy(planes, {
        get(target, key) {
          reads++;
          return Reflect.get(target, key);
        },
      });
    };
    const own = Array.from({ length: 300 }, () => LEFT.clone());
    const numbers = own.map((each) => table.hold(cutBy(planesOf(each))));
    expect(new Set(numbers).size).toBe(300);
    expect(own.map((each) => table.hold(cutBy(planesOf(each))))).toEqual(numbers);
    expect(reads).toBeLessThan(600 * 20);
    // A value that is no plane counts as a different one, too.
    const odd = [null, undefined, ...Array(1000).keys()].map((each) => table.hold(cutBy([each as unknown as Plane])));
    expect(new Set([...odd, ...numbers]).size).toBe(1302);
    expect(table.hold(cutBy([null as unknown as Plane]))).toBe(odd[0]);
  });

  test('are held as long as somebody has them, and their numbers are given again', () => {
    const table = new ClipSetTable(undefined);
    expect(table.hold(undefined)).toBe(0);
    expect(table.hold({ planes: [], isIntersection: false, isExempt: true })).toBe(0);
    const first = table.hold(cutBy([LEFT]));
    expect(first).toBe(2);
    expect(table.hold(cutBy([LEFT]))).toBe(2);
    expect(table.hold(cutBy([UP]))).toBe(3);
    table.release(0);
    table.release(2);
    expect(table.hold(cutBy([FRONT]))).toBe(4);
    table.release(2);
    expect(table.hold(cutBy([FRONT], true))).toBe(2);
    const { sets, planes } = table.read('pick')!;
    // First plane, how many clip alone, how many only together, and 0; the first two sets belong to no material.
    expect(Array.from(sets)).toEqual([
      ...[0, 0, 0, 0],
      ...[0, 0, 0, 0],
      ...[0, 0, 1, 0],
      ...[1, 1, 0, 0],
      ...[2, 1, 0, 0],
    ]);
    expect(Array.from(planes)).toEqual([...[0, 0, 1, -3], ...[0, 1, 0, -2], ...[0, 0, 1, -3]]);
    for (const number of [2, 3, 4]) table.release(number);
    expect(table.read('pick')).toBeUndefined();
  });

  test('are those of the renderer, too, and of materials where it cuts by them', () => {
    const renderer = { clippingPlanes: [LEFT, UP], localClippingEnabled: false };
    const table = new ClipSetTable(renderer);
    expect(table.hold(undefined)).toBe(1);
    expect(table.hold(cutBy([FRONT], true))).toBe(2);
    expect(table.hold(cutBy([FRONT]))).toBe(3);
    table.release(1);
    const everywhere = [...[1, 0, 0, -1], ...[0, 1, 0, -2]];
    let read = table.read('pick')!;
    expect(Array.from(read.sets)).toEqual([...[0, 0, 0, 0], ...[0, 2, 0, 0], ...[2, 2, 0, 0], ...[4, 2, 0, 0]]);
    expect(Array.from(read.planes)).toEqual([...everywhere, ...everywhere, ...everywhere]);
    renderer.localClippingEnabled = true;
    read = table.read('pick')!;
    expect(Array.from(read.sets)).toEqual([...[0, 0, 0, 0], ...[0, 2, 0, 0], ...[2, 2, 1, 0], ...[5, 3, 0, 0]]);
    const own = [0, 0, 1, -3];
    expect(Array.from(read.planes)).toEqual([...everywhere, ...everywhere, ...own, ...everywhere, ...own]);
    renderer.clippingPlanes = [];
    expect(Array.from(table.read('pick')!.sets)).toEqual([
      ...[0, 0, 0, 0],
      ...[0, 0, 0, 0],
      ...[0, 0, 1, 0],
      ...[1, 1, 0, 0],
    ]);
    renderer.localClippingEnabled = false;
    expect(table.read('pick')).toBeUndefined();
    expect(new ClipSetTable({}).read('pick')).toBeUndefined();
  });

  test('of more than 32 planes at once are refused; of the ones and of the others apart, they may be as many', () => {
    const many = (count: number) => Array.from({ length: count }, () => LEFT);
    const table = new ClipSetTable({ clippingPlanes: many(32), localClippingEnabled: true });
    table.hold(cutBy(many(32), true));
    expect(table.read('pick')!.planes.length).toBe(4 * (32 + 64));
    table.hold(cutBy(many(1)));
    expect(() => table.read('pick')).toThrow('pick: 33 clipping planes cut an object, expected at most 32');
    const local = new ClipSetTable(undefined);
    local.hold(cutBy(many(33), true));
    expect(() => local.read('raycast')).toThrow('raycast: 33 clipping planes cut an object, expected at most 32');
  });

  test('take planes as a shader does, whatever they are', () => {
    const asRead = (given: unknown) => {
      const table = new ClipSetTable(undefined);
      table.hold(cutBy([given as Plane]));
      return Array.from(table.read('pick')!.planes);
    };
    expect(asRead(plane(0, -8, 2, 4))).toEqual([0, -1, 0.25, 0.5]);
    expect(asRead(plane(1, 0, 0, Infinity))).toEqual([1, 0, 0, 1e150]);
    expect(asRead(plane(1, 0, 0, -Infinity))).toEqual([1, 0, 0, -1e150]);
    // Planes that cannot be compared clip nothing; those without a normal clip all or nothing.
    const all = [1, 0, 0, 1e150];
    for (const given of [
      {},
      null,
      plane(NaN, 0, 0, 0),
      plane(0, NaN, 0, 0),
      plane(0, 0, 1, NaN),
      plane(0, Infinity, 0, -1),
    ]) {
      expect(asRead(given)).toEqual(all);
    }
    expect(asRead(plane(0, 0, 0, 0))).toEqual(all);
    expect(asRead(plane(0, 0, 0, -1e-9))).toEqual([1, 0, 0, -1e150]);
  });

  test(`a point is cut away as three does it, seed ${SEED}`, () => {
    const random = new Random(SEED);
    let [away, kept] = [0, 0];
    for (let round = 0; round < 200; round++) {
      const planes = () =>
        Array.from({ length: random.integer(4) }, () => new Plane(random.direction(), random.range(-1, 2)));
      const renderer = { clippingPlanes: planes(), localClippingEnabled: true };
      const table = new ClipSetTable(renderer);
      const own = cutBy(planes(), random.chance(0.5));
      const number = table.hold(own);
      table.hold(cutBy([LEFT]));
      const read = table.read('pick')!;
      const point = random.point(2);
      const isBehind = (each: Plane) => each.distanceToPoint(point) < 0;
      const byOwn = own.isIntersection
        ? own.planes.length > 0 && own.planes.every(isBehind)
        : own.planes.some(isBehind);
      const expected = renderer.clippingPlanes.some(isBehind) || byOwn;
      expect(isCutAway(read, number, point)).toBe(expected);
      expect(isCutAway(read, 1, point)).toBe(renderer.clippingPlanes.some(isBehind));
      expect(isCutAway(read, 0, point)).toBe(false);
      if (expected) away++;
      else kept++;
    }
    expect(Math.min(away, kept)).toBeGreaterThan(20);
    // A point on a plane to within rounding is kept.
    const table = new ClipSetTable(undefined);
    const number = table.hold(cutBy([plane(3, 3, 3, -1)]));
    for (const [x, isAway] of [
      [1 / 9 - 1e-17, false],
      [1 / 9 - 1e-10, true],
    ] as const) {
      expect(isCutAway(table.read('pick')!, number, new Vector3(x, 1 / 9, 1 / 9))).toBe(isAway);
    }
  });
});
