// Sections through scenes of objects of all kinds that change, several at once, some of them aborted: against cutting
// each triangle of each object in float64, caps against the areas of loops, round shapes against their own inequality.
import { type CollisionService, createCollisionService, type Section } from 'collision-worker';
import { Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ComposedObject,
  type ComposedObjects,
  type ComposedScene,
  compareInRounds,
  queriedObjects,
  worldCorners,
} from '../fixtures/composed-scene.js';
import { boxCorners, excessOf } from '../oracle/nearest.js';
import { SEED } from '../oracle/random.js';
import { flatLoop, longestSideMidpoint, loopArea, loopWinding } from '../oracle/sections.js';
import { frameOf } from '../oracle/shapes.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(SCALE);
const AT_ONCE = 6;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const CASES: [string, number, number, number][] = [
  ['one thing', 1, 1, 0],
  ['a dozen', 12, 1, 0],
  ['dozens', SCALE > 2 ? 200 : 40, 1, 0],
  ['a dozen a million away', 12, 1, 1e6],
  ['dozens of a millionth', 30, 1e-6, 0],
  ['dozens of a million', 30, 1e6, 0],
  ['dozens of a millionth, a million sizes away', 30, 1e-6, 1],
];

/** A point of a section relative to the place of its scene. */
const pointOf = ({ points }: Section, i: number, place: Vector3) => new Vector3().fromArray(points, 3 * i).sub(place);

describe.each(CASES)(`${ROUNDS} rounds with %s, seed ${SEED}`, (_, count, size, away) => {
  const place = new Vector3(1, -0.5, 0.25).multiplyScalar(away);

  test('outlines, how they lie within each other, and caps', async () => {
    const spreads = [1, 2, Math.cbrt(count)];
    const options = { count, rounds: ROUNDS, atOnce: AT_ONCE, size, place, spreads };
    const { queries, aborted } = await compareInRounds(service, options, compareSection);
    if (ROUNDS > 3) expect(aborted).toBeGreaterThan(0);
    expect(aborted).toBeLessThan(queries / 2);
  });

  async function compareSection(
    scene: ComposedScene,
    things: ComposedObjects,
    signal: AbortSignal | undefined,
    label: string,
  ): Promise<void> {
    const { random } = scene;
    const [normal, point, isRandom] = randomPlane(scene, things);
    const plane = [...normal.toArray(), -normal.dot(point)];
    const options = { ...scene.filter(), ...(signal && { signal }) };
    const roundPoints = random.pick([3, 7, 64]);
    const section = await service.section(plane, { ...options, roundPoints, caps: true });
    expect(section.starts[section.closed.length], label).toBe(section.points.length / 3);
    expect([...section.objects], label).toEqual([...section.objects].sort((a, b) => a - b));
    const candidates = queriedObjects(things, options);
    const candidateById = new Map(candidates.map((thing) => [thing.id, thing]));
    const outlines = new Map<number, number[]>();
    section.objects.forEach((object, i) => {
      const list = outlines.get(object) ?? [];
      outlines.set(object, list);
      list.push(i);
      expect(candidateById.has(object), `${label}: ${object} is not asked about`).toBe(true);
      const parent = section.parents[i];
      if (parent >= 0) expect(section.objects[parent], label).toBe(object);
    });
    let maxDeviation = 0;
    const local = point.clone().sub(place);
    for (let i = 0; i < section.points.length / 3; i++) {
      maxDeviation = Math.max(
        maxDeviation,
        Math.abs(normal.dot(pointOf(section, i, place).sub(local))) / normal.length(),
      );
    }
    expect(maxDeviation, label).toBeLessThan(2e-9 * size + 1e-14 * place.length());
    for (const thing of candidates) {
      const ownOutlines = outlines.get(thing.id) ?? [];
      const name = `${label}: ${thing.kind} ${thing.id} ${JSON.stringify(thing.shape)}`;
      if (thing.kind === 'lines' || thing.kind === 'points') expect(ownOutlines, name).toEqual([]);
      else if (thing.shape && thing.shape.type !== 'box')
        compareRound(section, ownOutlines, thing, normal, point, roundPoints, name);
      else compareTriangles(section, ownOutlines, thing, normal, point, name);
      const isSimple = thing.kind !== 'posed' && (thing.shape || thing.isSimple);
      if (isSimple) compareCaps(section, ownOutlines, normal, isRandom, name);
    }
  }

  /** A plane by its normal and a point; `isRandom`: it passes through no vertices. */
  function randomPlane(
    scene: ComposedScene,
    things: ComposedObjects,
  ): [normal: Vector3, point: Vector3, isAnyhow: boolean] {
    const { random } = scene;
    const thing = things.size > 0 ? random.pick([...things.values()]) : null;
    const length = random.logRange(1e-3, 1e3);
    const kind = random.integer(5);
    if (kind === 0 || thing === null) return [random.direction().multiplyScalar(length), scene.point(1), true];
    const { matrix } = thing;
    if (kind === 1)
      return [random.direction().multiplyScalar(length), new Vector3().setFromMatrixPosition(matrix), true];
    // Along the axes, where boxes on a grid have their faces.
    const axis = new Vector3().setComponent(random.integer(3), random.pick([-1, 1]));
    const grid = place.clone().addScaledVector(axis, 0.5 * size * random.integer(4));
    if (kind === 2) return [axis.multiplyScalar(length), grid, false];
    const corners = thing.shape
      ? boxCorners(matrix.clone().multiply(frameOf(thing.shape).matrix), place)
      : worldCorners(thing, place);
    if (corners.length < 9) return [axis, grid, false];
    const triangleAt = 9 * random.integer(Math.floor(corners.length / 9));
    const [a, b, c] = [0, 3, 6].map((k) => new Vector3().fromArray(corners, triangleAt + k));
    // Through a vertex, or along a face.
    const faceNormal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
    if (kind === 3 || !(faceNormal.length() > 0.5)) return [random.direction(), a.add(place), false];
    return [faceNormal.multiplyScalar(length), a.add(place), false];
  }

  function compareTriangles(
    section: Section,
    ownOutlines: number[],
    thing: ComposedObject,
    normal: Vector3,
    point: Vector3,
    name: string,
  ): void {
    const corners = thing.shape
      ? boxCorners(thing.matrix.clone().multiply(frameOf(thing.shape).matrix), place)
      : worldCorners(thing, place);
    const n = normal.clone().normalize();
    const local = point.clone().sub(place);
    let extent = 0;
    for (const value of corners) extent = Math.max(extent, Math.abs(value));
    const tolerance = (thing.rig ? 1e-6 : 1e-12) * extent + 1e-15 * place.length() * 4;
    const nearTolerance = 1e-5 * extent + 1e-9 * place.length();
    const cuts = new Map<number, [Vector3, Vector3]>();
    const doubtful = new Set<number>();
    for (let at = 0, t = 0; at < corners.length; at += 9, t++) {
      const faceCorners = [0, 3, 6].map((k) => new Vector3().fromArray(corners, at + k));
      const heights = faceCorners.map((p) => n.dot(p) - n.dot(local));
      if (heights.some((height) => Math.abs(height) <= tolerance)) {
        doubtful.add(t);
        continue;
      }
      const ends: Vector3[] = [];
      for (let k = 0; k < 3; k++) {
        const [s, u] = [heights[k], heights[(k + 1) % 3]];
        if (s >= 0 !== u >= 0) ends.push(faceCorners[k].clone().lerp(faceCorners[(k + 1) % 3], s / (s - u)));
      }
      if (ends.length === 2) cuts.set(t, [ends[0], ends[1]]);
    }
    if (thing.shape) {
      // Faces of a box have no numbers; each end of a cut is a point of the outline.
      for (const ends of cuts.values()) {
        expect(ownOutlines.length, `${name} is cut`).toBe(1);
        const [start, end] = [section.starts[ownOutlines[0]], section.starts[ownOutlines[0] + 1]];
        for (const each of ends) {
          let minDistance = Infinity;
          for (let i = start; i < end; i++) {
            const [p, q] = [pointOf(section, i, place), pointOf(section, i + 1 === end ? start : i + 1, place)];
            minDistance = Math.min(minDistance, segmentDistance(each, p, q));
          }
          expect(minDistance, name).toBeLessThan(nearTolerance);
        }
      }
      if (cuts.size === 0 && doubtful.size === 0) expect(ownOutlines, name).toEqual([]);
      return;
    }
    const seenTriangles = new Set<number>();
    for (const outline of ownOutlines) {
      const [start, end] = [section.starts[outline], section.starts[outline + 1]];
      if (thing.isClosed) expect(section.closed[outline], `${name} is closed`).toBe(1);
      for (let i = start; i < end; i++) {
        const triangle = section.triangles[i];
        if (i + 1 === end && !section.closed[outline]) {
          expect(triangle, name).toBe(-1);
          continue;
        }
        if (triangle < 0 || doubtful.has(triangle)) continue;
        const cut = cuts.get(triangle);
        expect(cut, `${name}, triangle ${triangle}`).toBeDefined();
        expect(seenTriangles.has(triangle), `${name}, triangle ${triangle} twice`).toBe(false);
        seenTriangles.add(triangle);
        const [p, q] = [pointOf(section, i, place), pointOf(section, i + 1 === end ? start : i + 1, place)];
        const [from, to] = cut!;
        const deviation = Math.min(
          Math.max(p.distanceTo(from), q.distanceTo(to)),
          Math.max(p.distanceTo(to), q.distanceTo(from)),
        );
        expect(deviation, `${name}, triangle ${triangle}`).toBeLessThan(nearTolerance);
      }
    }
    for (const [triangle, [from, to]] of cuts) {
      if (from.distanceTo(to) > 1e-6 * extent + 1e-9 * place.length())
        expect(seenTriangles.has(triangle), `${name}, triangle ${triangle} is cut`).toBe(true);
    }
  }

  function compareRound(
    section: Section,
    ownOutlines: number[],
    thing: ComposedObject,
    normal: Vector3,
    point: Vector3,
    roundPoints: number,
    name: string,
  ): void {
    const frame = frameOf(thing.shape!);
    const matrix = thing.matrix.clone().multiply(frame.matrix);
    const [u, v, w] = [0, 1, 2].map((k) => new Vector3().setFromMatrixColumn(matrix, k));
    const n = normal.clone().normalize();
    const height = Math.abs(n.dot(new Vector3().setFromMatrixPosition(matrix).sub(point)));
    const halfExtent = Math.hypot(n.dot(u), n.dot(v), n.dot(w)) + frame.half * Math.abs(n.dot(w));
    const tolerance = 1e-9 * halfExtent + 1e-14 * place.length();
    if (height > halfExtent + tolerance) expect(ownOutlines, name).toEqual([]);
    if (height < halfExtent - tolerance - 1e-6 * halfExtent) {
      expect(ownOutlines.length, `${name} is cut ${height} of ${halfExtent}`).toBe(1);
      const points = section.starts[ownOutlines[0] + 1] - section.starts[ownOutlines[0]];
      expect(points, name).toBe(roundPoints);
    }
    for (const outline of ownOutlines) {
      expect(section.closed[outline], name).toBe(1);
      for (let i = section.starts[outline]; i < section.starts[outline + 1]; i++) {
        const surfacePoint = new Vector3().fromArray(section.points, 3 * i);
        const farTolerance = place.length() * 1e-15 * 8 * Math.hypot(...matrix.clone().invert().elements.slice(0, 11));
        expect(Math.abs(excessOf(thing, surfacePoint)), name).toBeLessThan(1e-7 + farTolerance);
        expect(section.triangles[i], name).toBe(-1);
      }
    }
  }

  /** Checks the winding of loops, their nesting, and the caps that fill them. */
  function compareCaps(
    section: Section,
    ownOutlines: number[],
    normal: Vector3,
    isRandom: boolean,
    name: string,
  ): void {
    if (ownOutlines.length === 0) return;
    const origin = section.starts[ownOutlines[0]];
    const loops = ownOutlines.map((i) =>
      flatLoop(section.points, section.starts[i], section.starts[i + 1], normal, origin),
    );
    const areas = loops.map(loopArea);
    const extent = Math.max(...loops.flat().flat().map(Math.abs));
    const areaTolerance = 1e-9 * extent ** 2 + 1e-15 * place.length() * extent * 50;
    const [first, last] = [section.starts[ownOutlines[0]], section.starts[ownOutlines[ownOutlines.length - 1] + 1]];
    let capArea = 0;
    const n = normal.clone().normalize();
    for (let t = 0; t < section.caps.length; t += 3) {
      const isOwn = (i: number) => i >= first && i < last;
      if (![0, 1, 2].some((k) => isOwn(section.caps[t + k]))) continue;
      const capIndices = [...section.caps.subarray(t, t + 3)];
      if (!capIndices.every((i) => i >= first && i < last)) {
        expect(
          capIndices.some((i) => i >= first && i < last),
          `${name}: a cap of two objects`,
        ).toBe(false);
        continue;
      }
      const [a, b, c] = capIndices.map((i) => pointOf(section, i, place));
      const area = b.sub(a).cross(c.sub(a)).dot(n) / 2;
      expect(area, name).toBeGreaterThan(-areaTolerance);
      capArea += area;
    }
    const expected = areas.reduce((sum, each) => sum + each, 0);
    expect(Math.abs(capArea - expected), `${name}: caps of ${capArea}, loops of ${expected}`).toBeLessThan(
      areaTolerance * 10,
    );
    if (!isRandom) return;
    ownOutlines.forEach((outline, i) => {
      if (loops[i].length < 3 || Math.abs(areas[i]) < areaTolerance) return;
      const containing = ownOutlines.flatMap((_, k) =>
        k !== i && loopWinding(loops[k], longestSideMidpoint(loops[i])) % 2 !== 0 ? [k] : [],
      );
      const innermost = containing.sort((a, b) => Math.abs(areas[a]) - Math.abs(areas[b]))[0];
      expect(section.parents[outline], name).toBe(innermost === undefined ? -1 : ownOutlines[innermost]);
      expect(Math.sign(areas[i]), `${name}: loop ${i} of ${areas}`).toBe(containing.length % 2 === 0 ? 1 : -1);
    });
  }
});

function segmentDistance(p: Vector3, a: Vector3, b: Vector3): number {
  const direction = b.clone().sub(a);
  const t =
    direction.lengthSq() > 0 ? Math.min(Math.max(p.clone().sub(a).dot(direction) / direction.lengthSq(), 0), 1) : 0;
  return p.distanceTo(a.clone().addScaledVector(direction, t));
}
