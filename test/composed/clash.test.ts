// Clashes of parts of all kinds, closed and open, degenerate and with NaN corners, as arrays and baked, by rules of all kinds
// and tolerances: against all triangles of all pairs in float64.
import { type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { clash, type Part, type Rule } from 'collision-worker/clash';
import { Matrix4, Triangle, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boxGap, convexDepth, SolidPart, solidDistance, solidsMeet } from '../oracle/clashes.js';
import { randomHull } from '../oracle/hulls.js';
import { comb, torus } from '../oracle/lumps.js';
import {
  boxMesh,
  icosphere,
  merged,
  replaceFlatTriangles,
  soup,
  type Triangles,
  transformed,
  waves,
} from '../oracle/meshes.js';
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

interface PlacedPart {
  part: Part;
  form: Form;
  solid: SolidPart;
  layer: string;
}

const layers = ['Walls', 'Water', ''];

async function formsOf(random: Random, size: number): Promise<Form[]> {
  const forms: Form[] = [];
  const add = async (source: Triangles, isClosed: boolean, isConvex = false): Promise<void> => {
    const factor = random.chance(0.5) ? size : 1;
    const triangles = transformed(source, (vertex) => vertex.multiplyScalar(factor));
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
  await add(randomHull(random, random.integer(6)), true, true);
  await add(torus(1, 0.3, 8), true);
  await add(comb(3), true);
  await add(waves(4), false);
  await add(soup(random, 8, 0.5, 0.7), false);
  await add(
    merged([boxMesh(1, 1, 1), { positions: new Float32Array(9).fill(0.25), indices: Uint32Array.of(0, 1, 2) }]),
    true,
  );
  for (const form of forms) form.triangles = removeFlat(form.triangles);
  return forms;
}

/** The mesh without the triangles that have no area. */
function removeFlat(mesh: Triangles): Triangles {
  const { indices } = replaceFlatTriangles(mesh);
  const keptIndices: number[] = [];
  for (let i = 0; i < indices.length; i += 3) {
    if ([0, 1, 2].every((k) => indices[i + k] === mesh.indices[i + k])) keptIndices.push(...indices.subarray(i, i + 3));
  }
  return { positions: mesh.positions, indices: Uint32Array.from(keptIndices) };
}

describe.each([
  ['parts of size 1', 1, 0],
  ['parts of a thousandth', 1e-3, 0],
  ['parts of a million', 1e6, 0],
  ['parts a million away', 1, 1e6],
  ['parts of a millionth, a million sizes away', 1e-6, 1],
] as const)(`${ROUNDS} rounds of %s, seed ${SEED}`, (_, size, away) => {
  const origin = new Vector3(away, -away, 0.5 * away);
  const slack = 1e-8 * size + 1e-14 * away;

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
    const placedParts: PlacedPart[] = [];
    const count = random.pick([2, 12, 40]);
    for (let i = 0; i < count; i++) {
      const twin = placedParts.length > 0 && random.chance(0.15) ? random.pick(placedParts) : null;
      const form = twin?.form ?? random.pick(forms);
      const extent = Math.max(...form.triangles.positions.map(Math.abs));
      const matrix = twin
        ? twinOf(random, new Matrix4().fromArray(twin.part.matrix as number[]))
        : random
            .placement(new Vector3(), random.pick([{}, { low: 0.5, high: 2, mirrored: 0.5, sheared: 0.3 }]))
            .scale(new Vector3().setScalar(size / extent))
            .setPosition(random.point(Math.cbrt(count) * size * 0.8).add(origin));
      const layer = random.pick(layers);
      const part: Part = { id: `part ${i}`, mesh: form.mesh, matrix: matrix.elements, layer, properties: { n: i % 3 } };
      placedParts.push({ part, form, solid: new SolidPart(form.triangles, matrix), layer });
    }
    const tolerance = random.pick([0, 1e-3 * size, 0.1 * size]);
    const rules: Rule[] = [
      { name: 'hard', kind: 'hard', tolerance },
      { name: 'all hard', kind: 'hard', tolerance: 0, unlessSame: 'layer' },
      { name: 'near', kind: 'clearance', distance: random.pick([1e-6, 0.1, 1]) * size },
      { name: 'water', kind: 'clearance', distance: 0.3 * size, a: { layer: 'Wa*' }, b: { properties: { n: 1 } } },
      { name: 'twins', kind: 'duplicates', tolerance: random.pick([0, 1e-3 * size]) },
    ];
    const splitAt = random.chance(0.4) ? Math.floor(count / 2) : count;
    const [a, b] = [placedParts.slice(0, splitAt), placedParts.slice(splitAt)];
    const toParts = (list: PlacedPart[]) => list.map(({ part }) => part);
    const report = await clash(toParts(a), splitAt < count ? toParts(b) : null, rules, {
      workers: random.pick([1, 2]),
    });
    expect(report.unread, name).toEqual([]);
    const clashesByKey = new Map(
      report.clashes.map((each) => [`${each.rule}: ${[each.a.id, each.b.id].sort().join(' ')}`, each]),
    );
    expect(clashesByKey.size, name).toBe(report.clashes.length);
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        if (splitAt < count && i < splitAt === j < splitAt) continue;
        for (const rule of rules) {
          const key = `${rule.name}: ${[placedParts[i].part.id, placedParts[j].part.id].sort().join(' ')}`;
          const clashing = clashesByKey.get(key);
          clashesByKey.delete(key);
          if (!isCovered(rule, placedParts[i], placedParts[j], splitAt < count)) {
            expect(clashing, `${name}, ${key} is not asked about`).toBeUndefined();
            continue;
          }
          if (clashing) counts[rule.kind] = (counts[rule.kind] ?? 0) + 1;
          const label = `${name}, ${key}`;
          if (rule.kind === 'hard') compareHard(rule.tolerance!, placedParts[i], placedParts[j], clashing, label);
          else if (rule.kind === 'clearance')
            compareNear(rule.distance, placedParts[i], placedParts[j], clashing, label);
          else compareTwins(rule.tolerance!, placedParts[i], placedParts[j], clashing, label);
        }
      }
    }
    expect([...clashesByKey.keys()], name).toEqual([]);
  }

  /** The same transform, or one that differs by rounding, or slightly. */
  function twinOf(random: Random, matrix: Matrix4): Matrix4 {
    const shift = random.pick([0, 0, 1e-4, 0.01]) * size;
    const changed = matrix.clone();
    if (random.chance(0.5)) {
      // There and back, which changes only the last bits.
      const rotation = new Matrix4().makeRotationFromQuaternion(random.rotation());
      const position = new Vector3().setFromMatrixPosition(changed);
      changed.setPosition(0, 0, 0).premultiply(rotation).premultiply(rotation.clone().invert()).setPosition(position);
    }
    return changed.setPosition(
      random.direction().multiplyScalar(shift).add(new Vector3().setFromMatrixPosition(changed)),
    );
  }

  function isCovered(rule: Rule, partA: PlacedPart, partB: PlacedPart, areSets: boolean): boolean {
    if (rule.unlessSame === 'layer' && partA.layer !== '' && partA.layer === partB.layer) return false;
    if (rule.name !== 'water') return true;
    const isA = ({ layer }: PlacedPart) => layer.startsWith('Wa');
    const isB = ({ part }: PlacedPart) => part.properties!.n === 1;
    return (isA(partA) && isB(partB)) || (!areSets && isA(partB) && isB(partA));
  }

  type Clashing = { depth?: number; distance?: number; inside?: string } | undefined;

  function compareHard(
    tolerance: number,
    partA: PlacedPart,
    partB: PlacedPart,
    clashing: Clashing,
    label: string,
  ): void {
    if (boxGap(partA.solid.box, partB.solid.box) > slack) {
      expect(clashing, label).toBeUndefined();
      return;
    }
    if (partA.form.isConvex && partB.form.isConvex) {
      const depth = convexDepth(partA.solid, partB.solid);
      if (Math.abs(depth - tolerance) > 10 * slack)
        expect(clashing !== undefined, `${label}, ${depth} deep`).toBe(depth > tolerance);
      if (clashing) expect(Math.abs(clashing.depth! - depth), label).toBeLessThan(1e-5 * depth + 10 * slack);
      return;
    }
    const areMeeting = partsMeet(partA, partB);
    if (clashing) expect(areMeeting, `${label}, ${clashing.depth} deep`).toBe(true);
    else if (tolerance === 0 && areMeeting) {
      // Pairs that just touch, or almost.
      const isApart = [...Array(60)].some((_, k) => {
        const offset = new Random(k).direction().multiplyScalar(1e-5 * size + slack);
        return !partsMeet(partA, partB, offset);
      });
      expect(isApart, `${label} meet`).toBe(true);
    }
  }

  function partsMeet(partA: PlacedPart, partB: PlacedPart, offset = new Vector3()): boolean {
    const surfaces = solidsMeet(asOpenSurface(partA.solid), asOpenSurface(partB.solid), offset);
    if (surfaces) return true;
    if (partA.form.isClosed && partA.solid.holds(partB.solid.corner.clone().add(offset))) return true;
    return partB.form.isClosed && partB.solid.holds(partA.solid.corner.clone().sub(offset));
  }

  function compareNear(
    maxDistance: number,
    partA: PlacedPart,
    partB: PlacedPart,
    clashing: Clashing,
    label: string,
  ): void {
    if (boxGap(partA.solid.box, partB.solid.box) > maxDistance + slack) {
      expect(clashing, label).toBeUndefined();
      return;
    }
    const surface = solidDistance(asOpenSurface(partA.solid), asOpenSurface(partB.solid), 4 * maxDistance + size);
    const isInside = surface > 0 && partsMeet(partA, partB);
    const distance = isInside ? 0 : surface;
    if (Math.abs(distance - maxDistance) > slack)
      expect(clashing !== undefined, `${label}, ${distance} of ${maxDistance} apart`).toBe(distance < maxDistance);
    if (clashing) expect(Math.abs(clashing.distance! - distance), label).toBeLessThan(slack);
  }

  function compareTwins(
    tolerance: number,
    partA: PlacedPart,
    partB: PlacedPart,
    clashing: Clashing,
    label: string,
  ): void {
    const maxDeviation = Math.max(
      maxVertexDistance(partA.solid, partB.solid),
      maxVertexDistance(partB.solid, partA.solid),
    );
    const noise = 1e-13 * (size + away);
    if (maxDeviation > tolerance + 4 * noise || (tolerance > 0 && maxDeviation > tolerance - 4 * noise)) {
      if (maxDeviation > tolerance + 100 * noise) expect(clashing, `${label}, ${maxDeviation} apart`).toBeUndefined();
      return;
    }
    const [area, otherArea] = [areaOf(partA.solid), areaOf(partB.solid)];
    if (Math.abs(area - otherArea) < 1e-10 * area) expect(clashing, `${label}, ${maxDeviation} apart`).toBeDefined();
  }
});

/** The same surface, opened, so that it contains nothing. */
function asOpenSurface(part: SolidPart): SolidPart {
  return Object.create(part, { holds: { value: () => false } });
}

function maxVertexDistance(partA: SolidPart, partB: SolidPart): number {
  const corners = partB.corners.flat();
  let maxDistance = 0;
  for (const corner of partA.corners.flat()) {
    let nearest = Infinity;
    for (const each of corners) nearest = Math.min(nearest, each.distanceTo(corner));
    maxDistance = Math.max(maxDistance, nearest);
  }
  return maxDistance;
}

function areaOf({ corners }: SolidPart): number {
  return corners.reduce((sum, [a, b, c]) => sum + new Triangle(a, b, c).getArea(), 0);
}
