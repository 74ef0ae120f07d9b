// The procedural building: parts with ids of their own, closed, and no clash except those of deliberate mistakes.
import { type CollisionService, createCollisionService, type ObjectId } from 'collision-worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuildingPart, makeBuilding } from '../../demo/building/building.js';
import type { Solid } from '../../demo/building/solids.js';
import { SEED } from '../oracle/random.js';

const FLOORS = 2;
/** Metres: shallower contacts count as touching. */
const TOLERANCE = 1e-3;
/** The deliberate mistakes of the generator. */
const MISTAKES = [
  /^beam and (branch duct|partition)$/,
  /^(exhaust duct|flange) and sprinkler( branch)?$/,
  /^sprinkler( branch)? and supply duct$/,
  /^cable tray and (coupling|sprinkler main)$/,
];

let service: CollisionService;

beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service?.dispose());

test('the same building for the same options, and another one for another seed', () => {
  const parts = makeBuilding({ floors: FLOORS, seed: SEED });
  expect(makeBuilding({ floors: FLOORS, seed: SEED })).toEqual(parts);
  expect(makeBuilding({ floors: FLOORS, seed: SEED + 1 })).not.toEqual(parts);
  expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
  expect(makeBuilding({ floors: 18, seed: SEED }).length).toBeGreaterThan(20_000);
});

test('meshes are closed, and thousands of parts share a few', async () => {
  const solids = new Set(makeBuilding({ floors: FLOORS, seed: SEED }).map(({ geometry }) => geometry));
  expect(solids.size).toBeLessThan(40);
  for (const { name, positions, indices } of solids) {
    const mesh = await service.addMesh({ positions, indices });
    expect([name, (await service.meshInfo(mesh)).closed]).toEqual([name, true]);
  }
});

test(`only what fitters have fitted wrongly clashes with another trade, seed ${SEED}`, async () => {
  const parts = makeBuilding({ floors: FLOORS, seed: SEED });
  const meshes = new Map<Solid, Awaited<ReturnType<CollisionService['addMesh']>>>();
  const partOf = new Map<ObjectId, BuildingPart>();
  for (const part of parts) {
    const { geometry, matrix } = part;
    const { positions, indices } = geometry;
    if (!meshes.has(geometry)) meshes.set(geometry, await service.addMesh({ positions, indices }));
    const shape = { type: 'mesh', mesh: meshes.get(geometry)! } as const;
    partOf.set(service.addObject({ shape, matrix, contacts: 'manifold' }), part);
  }
  const { contacts } = await service.update();
  const clashes: string[] = [];
  for (let i = 0; i < contacts.count; i++) {
    const [a, b] = [partOf.get(contacts.a[i])!, partOf.get(contacts.b[i])!];
    const isDeep = contacts.depths
      .subarray(contacts.start[i], contacts.start[i + 1])
      .some((depth) => depth > TOLERANCE);
    if (a.layer !== b.layer && isDeep) clashes.push([kindOf(a), kindOf(b)].sort().join(' and '));
  }
  expect(clashes.length).toBeGreaterThan(3);
  expect(clashes.filter((clash) => !MISTAKES.some((each) => each.test(clash)))).toEqual([]);
});

const kindOf = ({ name }: BuildingPart): string => name.replace(/ \d.*/, '');
