// The sides of objects, which apply where a query does not name one; and sides that differ within a mesh.
import type { ObjectOptions, QueryOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera, type Ray, Vector3 } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FaceRun, MixedObjectOptions, Side } from '../../../../src/client/scene/object-description.js';
import { FormTwin, formMaker } from '../../../fixtures/forms.js';
import { KillableService } from '../../../fixtures/mortal.js';
import { aimedRays, findDifferences } from '../../../fixtures/ray-differences.js';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { boxMesh, icosphere, rods, soup, type Triangles } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type OracleHit, rayHits } from '../../../oracle/ray.js';

const SIDES: readonly Side[] = ['front', 'back', 'double'];
const PRECISIONS = ['mesh', 'obb', 'aabb', 'sphere'] as const;
const FORM = { low: 0.3, high: 2, mirrored: 0.5, sheared: 0.5 };

/** A camera somewhere around a place, looking at it. */
function viewAt(random: Random, place: Vector3) {
  const camera = new PerspectiveCamera(60, 1, 0.5, 100);
  camera.position.copy(random.direction().multiplyScalar(14)).add(place);
  camera.lookAt(random.point(2).add(place));
  camera.updateMatrixWorld();
  const view = camera.matrixWorldInverse.elements;
  return { projection: camera.projectionMatrix.elements, view, viewport: { width: 100, height: 100 } };
}

const rayOf = ({ origin, direction }: Ray) => ({ origin: origin.toArray(), direction: direction.toArray() });
const numbersOf = (rays: readonly Ray[]) =>
  new Float32Array(rays.flatMap(({ origin, direction }) => [...origin, 0, ...direction, 100]));
const rectangle = (random: Random) => ({
  ...{ x: random.range(0, 90), y: random.range(0, 90) },
  ...{ width: random.logRange(0.5, 50), height: random.logRange(0.5, 50) },
});

describe(`the side of all objects is the side of all queries without one, seed ${SEED}`, () => {
  test.each(PRECISIONS.flatMap((precision) => SIDES.map((side) => [precision, side] as const)))(
    'by precision %s, side %s',
    async (precision, side) => {
      const random = new Random(SEED);
      const twin = await FormTwin.create();
      onTestFinished(() => twin.dispose());
      const { service } = twin;
      const form = formMaker(random);
      for (let i = 0; i < 40; i++) await twin.add(form(), random.placement(random.point(6), FORM));
      const ids = Uint32Array.from(twin.items.keys());
      const rays = aimedRays(random, 150, new Vector3(), 6);
      service.setView(viewAt(random, new Vector3()));
      const eye = viewAt(random, new Vector3());
      const pixels = Array.from({ length: 50 }, () => [100 * random.next(), 100 * random.next()] as const);
      const regions = Array.from({ length: 50 }, () => rectangle(random));

      const ask = (given: QueryOptions) => {
        const options = { ...given, precision };
        return Promise.all([
          ...rays.map((ray) => service.raycast(rayOf(ray), options)),
          ...rays.map((ray) => service.raycastAll(rayOf(ray), options)),
          ...rays.map(({ origin, direction }) =>
            service.lineOfSight(origin.toArray(), direction.clone().multiplyScalar(20).add(origin).toArray(), options),
          ),
          ...pixels.flatMap(([x, y]) => [service.pick(x, y, options), service.pickAll(x, y, options)]),
          ...regions.map((region) => service.pickRegion(region, options)),
          service.raycastMany(numbersOf(rays), options).then((hits) => ({ ...hits, ms: 0 })),
          service.sees(eye, ids, options),
        ]);
      };
      const all = await ask({ side: 'double' });
      const expected = await ask({ side });
      if (side !== 'double') expect(expected).not.toEqual(all);
      expect(await ask({})).toEqual(all);
      for (const id of ids) service.setObject(id, { side });
      expect(await ask({})).toEqual(expected);
      expect(await ask({ side: 'double' })).toEqual(all);
      // An object is enclosed only as a whole.
      const enclosed = { mode: 'enclose', precision } as const;
      for (const region of regions) {
        const found = await service.pickRegion(region, enclosed);
        expect(found).toEqual(await service.pickRegion(region, { ...enclosed, side: 'double' }));
      }
      for (const id of ids) service.setObject(id, { side: 'double' });
      expect(await ask({})).toEqual(all);
    },
  );
});

/** An object with a side, and triangles that have others: in one service as it is, in the other as parts of one side each. */
interface Mixed {
  id: number;
  side: Side;
  runs: FaceRun[];
}

/** Ascending, with gaps; sometimes adjacent runs of one side, and single triangles. */
function someRuns(random: Random, triangles: number): FaceRun[] {
  const runs: FaceRun[] = [];
  for (let start = random.integer(3); start < triangles; ) {
    const count = Math.min(1 + random.integer(random.pick([1, 3, 20])), triangles - start);
    runs.push({ start, count, side: random.pick(SIDES) });
    start += count + (random.chance(0.5) ? 0 : random.integer(5));
  }
  return runs;
}

function sideAt({ side, runs }: Pick<Mixed, 'side' | 'runs'>, triangle: number): Side {
  return runs.find(({ start, count }) => triangle >= start && triangle < start + count)?.side ?? side;
}

const isHit = (side: Side, front: boolean) => side === 'double' || front === (side === 'front');
const mixedOptions = (options: Partial<MixedObjectOptions>) => options as Omit<ObjectOptions, 'shape' | 'matrix'>;

describe.each(PLACES)(`sides that differ within meshes, %s, seed ${SEED}`, (_, place) => {
  /** The same scene twice: with mixed objects, and with one object for each side of each of them. */
  async function scenes(random: Random) {
    const twin = await Twin.create();
    const parts = await Twin.create();
    onTestFinished(() => {
      twin.dispose();
      parts.dispose();
    });
    const meshes: Triangles[] = [icosphere(1, 2), soup(random, 60, 0.8, 1), rods(random, 10, 1), boxMesh(2, 1, 1)];
    const shapes = await Promise.all(meshes.map((mesh) => twin.mesh(mesh)));
    const mixed = new Map<number, Mixed>();
    /** For each part: its object, and the numbers of its triangles there. */
    const wholes = new Map<number, { id: number; triangles: number[] }>();

    async function addParts({ id, side, runs }: Mixed, mesh: Triangles, matrix: Matrix4): Promise<void> {
      for (const each of SIDES) {
        const all = Array.from({ length: mesh.indices.length / 3 }, (_, i) => i);
        const triangles = all.filter((i) => sideAt({ side, runs }, i) === each);
        if (triangles.length === 0) continue;
        const indices = Uint32Array.from(triangles.flatMap((i) => [...mesh.indices.subarray(3 * i, 3 * i + 3)]));
        const shape = await parts.mesh({ positions: mesh.positions, indices });
        wholes.set(parts.add(shape, matrix, { side: each }), { id, triangles });
      }
    }
    for (let i = 0; i < 60; i++) {
      const k = random.integer(meshes.length);
      const runs = random.chance(0.8) ? someRuns(random, meshes[k].indices.length / 3) : [];
      const side = random.pick(SIDES);
      const matrix = random.placement(random.point(6).add(place), FORM);
      const id = twin.add(shapes[k], matrix, mixedOptions({ side, faceSides: runs }));
      mixed.set(id, { id, side, runs });
      await addParts({ id, side, runs }, meshes[k], matrix);
    }
    return { twin, parts, mixed, wholes };
  }

  test('rays hit what brute force does; a side of the query goes before', async () => {
    const random = new Random(SEED);
    const { twin, mixed } = await scenes(random);
    const rays = aimedRays(random, 600, place, 6);
    const all = rays.map((ray) => rayHits(twin.items.values(), ray));
    const shows = ({ id, triangle, front }: OracleHit) => isHit(sideAt(mixed.get(id)!, triangle), front);
    const expected = all.map((hits) => hits.filter(shows));
    expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
    for (const side of SIDES) {
      const shown = all.map((hits) => hits.filter(({ front }) => isHit(side, front)));
      expect(await findDifferences(twin, rays, { side }, shown)).toEqual([]);
    }
    for (const [i, ray] of rays.entries()) {
      const key = ({ id, triangle }: Pick<OracleHit, 'id' | 'triangle'>) => `${id} ${triangle}`;
      const hits = await twin.service.raycastAll(rayOf(ray));
      expect(hits.map(({ object, triangle }) => key({ id: object, triangle })).sort()).toEqual(
        expected[i].map(key).sort(),
      );
    }
    // Something nearer was skipped, which hid the hit.
    const passed = all.filter((hits, i) => expected[i].length > 0 && hits[0] !== expected[i][0]);
    expect(passed.length).toBeGreaterThan(30);
  });

  test('all queries answer as with an object for each side', async () => {
    const random = new Random(SEED + 1);
    const { twin, parts, wholes } = await scenes(random);
    const rays = aimedRays(random, 300, place, 6);
    const { objects, distances } = await twin.service.raycastMany(numbersOf(rays));
    const apart = await parts.service.raycastMany(numbersOf(rays));
    expect(distances).toEqual(apart.distances);
    expect([...objects]).toEqual(Array.from(apart.objects, (id) => wholes.get(id)?.id ?? id));

    let between = 0;
    for (const { origin, direction } of rays) {
      const [from, to] = [origin.toArray(), direction.clone().multiplyScalar(18).add(origin).toArray()];
      const isClear = await twin.service.lineOfSight(from, to);
      expect(isClear).toBe(await parts.service.lineOfSight(from, to));
      if (!isClear) between++;
    }
    expect(between).toBeGreaterThan(30);

    const targets = [twin, parts].map((each) =>
      Array.from({ length: 30 }, (_, i) => {
        const at = new Random(SEED + i).point(6).add(place);
        return each.add(each.box(new Vector3(0.2, 0.2, 0.2)), new Matrix4().setPosition(at), { pickable: false });
      }),
    );
    let touched = 0;
    let seen = 0;
    for (let i = 0; i < 20; i++) {
      const view = viewAt(random, place);
      for (const { service } of [twin, parts]) service.setView(view);
      for (let k = 0; k < 10; k++) {
        const region = rectangle(random);
        const found = await twin.service.pickRegion(region);
        const expected = new Set(Array.from(await parts.service.pickRegion(region), (id) => wholes.get(id)!.id));
        expect([...found]).toEqual([...expected].sort((a, b) => a - b));
        touched += found.length;
      }
      const { points } = await twin.service.sees(view, targets[0]);
      expect(points).toEqual((await parts.service.sees(view, targets[1])).points);
      seen += points.filter((each) => each > 0 && each < 9).length;
    }
    expect(touched).toBeGreaterThan(100);
    expect(seen).toBeGreaterThan(5);
  });

  test('they change, go with the shape, and are there in the next worker', async () => {
    const random = new Random(SEED + 2);
    const mortal = await KillableService.create();
    const twin = new Twin(mortal.service);
    const meshes = [icosphere(1, 2), soup(random, 60, 0.8, 1)];
    const shapes = await Promise.all(meshes.map((mesh) => twin.mesh(mesh)));
    const mixed = new Map<number, Mixed>();
    const add = () => {
      const k = random.integer(2);
      const runs = someRuns(random, meshes[k].indices.length / 3);
      const side = random.pick(SIDES);
      const matrix = random.placement(random.point(4).add(place), FORM);
      const id = twin.add(shapes[k], matrix, mixedOptions({ side, faceSides: runs }));
      mixed.set(id, { id, side, runs });
    };
    const compare = async () => {
      const rays = aimedRays(random, 150, place, 4);
      const expected = rays.map((ray) =>
        rayHits(twin.items.values(), ray).filter(({ id, triangle, front }) =>
          isHit(sideAt(mixed.get(id)!, triangle), front),
        ),
      );
      expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
    };
    for (let i = 0; i < 30; i++) add();
    await compare();
    for (let round = 0; round < 6; round++) {
      for (const object of mixed.values()) {
        const { id } = object;
        const { truth, shape } = shapes.find(({ truth }) => truth === twin.items.get(id)!.shape)!;
        const set = (options: Partial<MixedObjectOptions>) => mortal.service.setObject(id, options);
        const what = random.integer(6);
        if (what === 0) {
          object.side = random.pick(SIDES);
          set({ side: object.side });
        } else if (what === 1) {
          object.runs = someRuns(random, truth.mesh!.indices.length / 3);
          set({ faceSides: object.runs });
        } else if (what === 2) {
          object.runs = [];
          set(random.chance(0.5) ? { faceSides: null } : { shape });
        } else if (what === 3) set({ layers: 1 });
        else if (what === 4) {
          twin.remove(id);
          mixed.delete(id);
          add();
        }
      }
      await compare();
      if (round % 2 === 1) await mortal.kill();
      if (round % 2 === 1) await compare();
    }
  });
});

describe('what is said of the sides', () => {
  const RAY = { origin: [0.1, 0.2, 5], direction: [0, 0, -1] } as const;

  test('by an object that is no side', async () => {
    const { service } = await KillableService.create();
    const shape = { type: 'sphere', radius: 1 } as const;
    const id = service.addObject({ shape, side: 'back' });
    const wrong = (side: unknown) => ({ shape, side }) as ObjectOptions;
    for (const side of ['none', 'Front', 1, null, 0]) {
      const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/side is /) });
      for (const act of [() => service.addObject(wrong(side)), () => service.setObject(id, wrong(side))]) {
        expect(act).toThrow(refused);
      }
      await expect(service.raycast(RAY, { side: side as Side })).rejects.toEqual(refused);
    }
    expect(await service.raycast(RAY)).toMatchObject({ object: id, distance: expect.closeTo(5.97, 1) });
    expect(service.stats.objects).toBe(1);
  });

  test('by runs of triangles that are not there, out of order, or of no mesh', async () => {
    const { service } = await KillableService.create();
    const mesh = await service.addMesh(boxMesh(2, 2, 2));
    const shape = { type: 'mesh', mesh } as const;
    const id = service.addObject({ shape, side: 'front' });
    const run = (start: unknown, count: unknown, side: unknown = 'back') => ({ start, count, side });
    const wrong: [unknown, RegExp][] = [
      [[run(0, 13)], /faceSides\[0\]\.count is 13, expected an integer in 1 … 12/],
      [[run(12, 1)], /faceSides\[0\]\.start is 12, expected an integer in 0 … 11/],
      [[run(0, 0)], /faceSides\[0\]\.count is 0/],
      [[run(3, 2), run(4, 1)], /faceSides\[1\]\.start is 4, expected an integer in 5 … 11/],
      [[run(3, 2), run(0, 1)], /faceSides\[1\]\.start is 0/],
      [[run(0.5, 1)], /faceSides\[0\]\.start is 0\.5/],
      [[run(0, 1, 'none')], /faceSides\[0\]\.side is "none"/],
      [[null], /faceSides\[0\] is null/],
      [run(0, 1), /faceSides is an object, expected an array of runs/],
      [Array(13).fill(run(0, 1)), /the length of faceSides is 13/],
    ];
    for (const [faceSides, message] of wrong) {
      const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) });
      expect(() => service.setObject(id, { faceSides } as Partial<ObjectOptions>)).toThrow(refused);
    }
    const ball = { shape: { type: 'sphere', radius: 1 }, faceSides: [run(0, 1)] } as unknown as ObjectOptions;
    expect(() => service.addObject(ball)).toThrow(/faceSides is .*, expected none, as the shape is no mesh/);
    expect(await service.raycastAll(RAY)).toHaveLength(1);
    service.setObject(id, { faceSides: [run(0, 12, 'double')] } as Partial<ObjectOptions>);
    expect(await service.raycastAll(RAY)).toHaveLength(2);
  });
});
