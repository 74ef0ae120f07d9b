// Clashes of parts of all kinds, closed and open, degenerate and with NaN corners, as arrays and baked, by rules of all kinds
// and tolerances: against all triangles of all pairs in float64.
import { type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { clash, type Part, type Rule } from 'collision-worker/clash';
import { Matrix4, Triangle, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convexDepth, gap, SolidPart, solidDistance, solidsMeet } from '../oracle/clashes.js';
import { someHull } from '../oracle/hulls.js';
import { comb, torus } from '../oracle/lumps.js';
import { boxMesh, icosphere, merged, soup, type Triangles, transformed, waves, withoutFlat } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(2 * SCALE);

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

interface Form {
  mesh: MeshData | ArrayBuffer;
  /** Its triangles that have an area and finite corners. */
  triangles: Triangles;
  isClosed: boolean;
  isConvex: boolean;
}

interface Known {
  part: Part;
  form: Form;
  solid: SolidPart;
  layer: string;
}

const layers = ['Walls', 'Water', ''];

async function formsOf(random: Random, size: number): Promise<Form[]> {
  const forms: Form[] = [];
  const add = async (given: Triangles, isClosed: boolean, isConvex = false): Promise<void> => {
    const factor = random.chance(0.5) ? size : 1;
    const triangles = transformed(given, (vertex) => vertex.multiplyScalar(factor));
    let mesh: MeshData | ArrayBuffer = { positions: triangles.positions.slice(), indices: triangles.indices.slice() };
    switch (random.integer(6)) {
      case 0: {
        const id = await service.addMesh(mesh);
        mesh = await service.bakeMesh(id);
        service.removeMesh(id);
        break;
      }
      case 1:
        mesh = {
          positions: Float32Array.from(
            [...triangles.indices].flatMap((i) => [...triangles.positions.subarray(3 * i, 3 * i + 3)]),
          ),
        };
        break;
      case 2:
        mesh.indices = Uint16Array.from(triangles.indices);
        break;
      case 3: {
        // Data that makes no surface: unused vertices, triangles without an area, NaN corners.
        const far = 2 * factor;
        const count = triangles.positions.length / 3;
        mesh = {
          positions: Float32Array.from([...triangles.positions, far, 0, 0, 0, far, NaN, NaN, 0, 0]),
          indices: Uint32Array.from([...triangles.indices, 0, 1, count + 1, 0, 0, 1, 2, 2, 2]),
        };
        break;
      }
    }
    forms.push({ mesh, triangles, isClosed, isConvex });
  };
  await add(boxMesh(1, 2, 0.5), true, true);
  await add(boxMesh(1, 2, 0.5), true, true);
  await add(icosphere(0.8, 1), true, true);
  await add(someHull(random, random.integer(6)), true, true);
  await add(torus(1, 0.3, 8), true);
  await add(comb(3), true);
  await add(waves(4), false);
  await add(soup(random, 8, 0.5, 0.7), false);
  await add(
    merged([boxMesh(1, 1, 1), { positions: new Float32Array(9).fill(0.25), indices: Uint32Array.of(0, 1, 2) }]),
    true,
  );
  for (const form of forms) form.triangles = shown(form.triangles);
  return forms;
}

/** The mesh without the triangles that have no area. */
function shown(mesh: Triangles): Triangles {
  const { indices } = withoutFlat(mesh);
  const kept: number[] = [];
  for (let i = 0; i < indices.length; i += 3) {
    if ([0, 1, 2].every((k) => indices[i + k] === mesh.indices[i + k])) kept.push(...indices.subarray(i, i + 3));
  }
  return { positions: mesh.positions, indices: Uint32Array.from(kept) };
}

describe.each([
  ['parts of size 1', 1, 0],
  ['parts of a thousandth', 1e-3, 0],
  ['parts of a million', 1e6, 0],
  ['parts a million away', 1, 1e6],
  ['parts of a millionth, a million sizes away', 1e-6, 1],
] as const)(`${ROUNDS} rounds of %s, seed ${SEED}`, (_, size, away) => {
  const place = new Vector3(away, -away, 0.5 * away);
  const hair = 1e-8 * size + 1e-14 * away;

  test('are as brute force has them', async () => {
    const random = new Random(SEED);
    const counts: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const seed = random.integer(2 ** 31);
      await compareRound(new Random(seed), `round ${round}, seed ${seed}`, counts);
    }
    console.log(JSON.stringify(counts));
    for (const kind of ROUNDS > 3 ? ['hard', 'clearance', 'duplicates'] : ['hard', 'clearance'])
      expect(counts[kind] ?? 0, kind).toBeGreaterThan(0);
  });

  async function compareRound(random: Random, name: string, counts: Record<string, number>): Promise<void> {
    const forms = await formsOf(random, size);
    const all: Known[] = [];
    const count = random.pick([2, 12, 40]);
    for (let i = 0; i < count; i++) {
      const twin = all.length > 0 && random.chance(0.15) ? random.pick(all) : null;
      const form = twin?.form ?? random.pick(forms);
      const own = Math.max(...form.triangles.positions.map(Math.abs));
      const matrix = twin
        ? twinOf(random, new Matrix4().fromArray(twin.part.matrix as number[]))
        : random
            .placement(new Vector3(), random.pick([{}, { low: 0.5, high: 2, mirrored: 0.5, sheared: 0.3 }]))
            .scale(new Vector3().setScalar(size / own))
            .setPosition(random.point(Math.cbrt(count) * size * 0.8).add(place));
      const layer = random.pick(layers);
      const part: Part = { id: `part ${i}`, mesh: form.mesh, matrix: matrix.elements, layer, properties: { n: i % 3 } };
      all.push({ part, form, solid: new SolidPart(form.triangles, matrix), layer });
    }
    const tolerance = random.pick([0, 1e-3 * size, 0.1 * size]);
    const rules: Rule[] = [
      { name: 'hard', kind: 'hard', tolerance },
      { name: 'all hard', kind: 'hard', tolerance: 0, unlessSame: 'layer' },
      { name: 'near', kind: 'clearance', distance: random.pick([1e-6, 0.1, 1]) * size },
      { name: 'water', kind: 'clearance', distance: 0.3 * size, a: { layer: 'Wa*' }, b: { properties: { n: 1 } } },
      { name: 'twins', kind: 'duplicates', tolerance: random.pick([0, 1e-3 * size]) },
    ];
    const halves = random.chance(0.4) ? Math.floor(count / 2) : count;
    const [a, b] = [all.slice(0, halves), all.slice(halves)];
    const partsOf = (known: Known[]) => known.map(({ part }) => part);
    const report = await clash(partsOf(a), halves < count ? partsOf(b) : null, rules, { workers: random.pick([1, 2]) });
    expect(report.unread, name).toEqual([]);
    const found = new Map(
      report.clashes.map((each) => [`${each.rule}: ${[each.a.id, each.b.id].sort().join(' ')}`, each]),
    );
    expect(found.size, name).toBe(report.clashes.length);
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        if (halves < count && i < halves === j < halves) continue;
        for (const rule of rules) {
          const key = `${rule.name}: ${[all[i].part.id, all[j].part.id].sort().join(' ')}`;
          const clashing = found.get(key);
          found.delete(key);
          if (!isAbout(rule, all[i], all[j], halves < count)) {
            expect(clashing, `${name}, ${key} is not asked about`).toBeUndefined();
            continue;
          }
          if (clashing) counts[rule.kind] = (counts[rule.kind] ?? 0) + 1;
          const what = `${name}, ${key}`;
          if (rule.kind === 'hard') compareHard(rule.tolerance!, all[i], all[j], clashing, what);
          else if (rule.kind === 'clearance') compareNear(rule.distance, all[i], all[j], clashing, what);
          else compareTwins(rule.tolerance!, all[i], all[j], clashing, what);
        }
      }
    }
    expect([...found.keys()], name).toEqual([]);
  }

  /** The same transform, or one that differs by rounding, or slightly. */
  function twinOf(random: Random, matrix: Matrix4): Matrix4 {
    const by = random.pick([0, 0, 1e-4, 0.01]) * size;
    const turned = matrix.clone();
    if (random.chance(0.5)) {
      // There and back, which changes only the last bits.
      const way = new Matrix4().makeRotationFromQuaternion(random.rotation());
      const at = new Vector3().setFromMatrixPosition(turned);
      turned.setPosition(0, 0, 0).premultiply(way).premultiply(way.clone().invert()).setPosition(at);
    }
    return turned.setPosition(random.direction().multiplyScalar(by).add(new Vector3().setFromMatrixPosition(turned)));
  }

  function isAbout(rule: Rule, one: Known, other: Known, areSets: boolean): boolean {
    if (rule.unlessSame === 'layer' && one.layer !== '' && one.layer === other.layer) return false;
    if (rule.name !== 'water') return true;
    const isA = ({ layer }: Known) => layer.startsWith('Wa');
    const isB = ({ part }: Known) => part.properties!.n === 1;
    return (isA(one) && isB(other)) || (!areSets && isA(other) && isB(one));
  }

  type Clashing = { depth?: number; distance?: number; inside?: string } | undefined;

  function compareHard(tolerance: number, one: Known, other: Known, clashing: Clashing, what: string): void {
    if (gap(one.solid.box, other.solid.box) > hair) {
      expect(clashing, what).toBeUndefined();
      return;
    }
    if (one.form.isConvex && other.form.isConvex) {
      const depth = convexDepth(one.solid, other.solid);
      if (Math.abs(depth - tolerance) > 10 * hair)
        expect(clashing !== undefined, `${what}, ${depth} deep`).toBe(depth > tolerance);
      if (clashing) expect(Math.abs(clashing.depth! - depth), what).toBeLessThan(1e-5 * depth + 10 * hair);
      return;
    }
    const areMeeting = meet(one, other);
    if (clashing) expect(areMeeting, `${what}, ${clashing.depth} deep`).toBe(true);
    else if (tolerance === 0 && areMeeting) {
      // Pairs that just touch, or almost.
      const isApart = [...Array(60)].some((_, k) => {
        const way = new Random(k).direction().multiplyScalar(1e-5 * size + hair);
        return !meet(one, other, way);
      });
      expect(isApart, `${what} meet`).toBe(true);
    }
  }

  function meet(one: Known, other: Known, way = new Vector3()): boolean {
    const surfaces = solidsMeet(open(one.solid), open(other.solid), way);
    if (surfaces) return true;
    if (one.form.isClosed && one.solid.holds(other.solid.corner.clone().add(way))) return true;
    return other.form.isClosed && other.solid.holds(one.solid.corner.clone().sub(way));
  }

  function compareNear(most: number, one: Known, other: Known, clashing: Clashing, what: string): void {
    if (gap(one.solid.box, other.solid.box) > most + hair) {
      expect(clashing, what).toBeUndefined();
      return;
    }
    const surface = solidDistance(open(one.solid), open(other.solid), 4 * most + size);
    const isInside = surface > 0 && meet(one, other);
    const distance = isInside ? 0 : surface;
    if (Math.abs(distance - most) > hair)
      expect(clashing !== undefined, `${what}, ${distance} of ${most} apart`).toBe(distance < most);
    if (clashing) expect(Math.abs(clashing.distance! - distance), what).toBeLessThan(hair);
  }

  function compareTwins(tolerance: number, one: Known, other: Known, clashing: Clashing, what: string): void {
    const worst = Math.max(farthest(one.solid, other.solid), farthest(other.solid, one.solid));
    const noise = 1e-13 * (size + away);
    if (worst > tolerance + 4 * noise || (tolerance > 0 && worst > tolerance - 4 * noise)) {
      if (worst > tolerance + 100 * noise) expect(clashing, `${what}, ${worst} apart`).toBeUndefined();
      return;
    }
    const [area, otherArea] = [areaOf(one.solid), areaOf(other.solid)];
    if (Math.abs(area - otherArea) < 1e-10 * area) expect(clashing, `${what}, ${worst} apart`).toBeDefined();
  }
});

/** The same surface, opened, so that it contains nothing. */
function open(part: SolidPart): SolidPart {
  return Object.create(part, { holds: { value: () => false } });
}

function farthest(one: SolidPart, other: SolidPart): number {
  const corners = other.corners.flat();
  let most = 0;
  for (const corner of one.corners.flat()) {
    let least = Infinity;
    for (const each of corners) least = Math.min(least, each.distanceTo(corner));
    most = Math.max(most, least);
  }
  return most;
}

function areaOf({ corners }: SolidPart): number {
  return corners.reduce((sum, [a, b, c]) => sum + new Triangle(a, b, c).getArea(), 0);
}
