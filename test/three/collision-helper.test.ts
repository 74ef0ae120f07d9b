// What CollisionHelper draws, by its lines: their positions,
// and their colours. Pixels are checked in a browser.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { CollisionHelper, type CollisionHelperOptions } from 'collision-worker/three';
import { InstancedMesh, type LineSegments, Matrix4, type Object3D, Raycaster, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontCamera, pickCenter, SIZE, settle, track } from '../fixtures/three-picks.js';
import { cube, overlappingCubes } from '../fixtures/three-scenes.js';

const [WHITE, GREY, RED, BLUE, YELLOW, MAGENTA] = [
  ...['255,255,255', '150,150,150', '255,60,60', '80,160,255', '255,220,60', '230,80,230'],
];
const NOTHING: CollisionHelperOptions = { contacts: false, hits: false, names: false, regions: false };

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const camera = frontCamera();
camera.updateMatrixWorld();

/** Two cubes that overlap, in front of the camera. */
async function build(
  options: CollisionHelperOptions = {},
  place = new Vector3(),
  contacts: 'full' | 'manifold' = 'full',
) {
  const { left, right, scene } = overlappingCubes(place, camera);
  const tracker = await track(service, scene, camera, { contacts });
  const helper = new CollisionHelper(tracker, { ...NOTHING, ...options });
  scene.add(helper);
  return { left, right, scene, tracker, helper };
}

interface Line {
  from: Vector3;
  to: Vector3;
  colour: string;
}

/** The lines that are drawn, in world space. */
function linesOf(helper: Object3D): Line[] {
  const lines: Line[] = [];
  for (const set of helper.children as LineSegments[]) {
    if (!set.visible || !set.isLineSegments) continue;
    const { position, color } = set.geometry.attributes;
    expect(color.count).toBe(position.count);
    const end = (i: number) => new Vector3().fromBufferAttribute(position as never, i).add(set.position);
    for (let i = 0; i < position.count; i += 2) {
      const colours = [i, i + 1].map((k) => [...color.array.slice(4 * k, 4 * k + 3)].join());
      expect(new Set(colours).size).toBe(1);
      lines.push({ from: end(i), to: end(i + 1), colour: colours[0] });
    }
  }
  return lines;
}

function expectLines(found: Line[], expected: [Vector3, Vector3, string][]): void {
  expect(found.map(({ colour }) => colour)).toEqual(expected.map(([, , colour]) => colour));
  expected.forEach(([from, to], i) => {
    expect(found[i].from.distanceTo(from), `the beginning of line ${i}`).toBeLessThan(1e-5);
    expect(found[i].to.distanceTo(to), `the end of line ${i}`).toBeLessThan(1e-5);
  });
}

test.each([
  ['full', new Vector3()],
  ['full', new Vector3(1e6, -1e6, 1e6)],
  ['manifold', new Vector3()],
] as const)('contacts that are told in %s have a normal, a depth and segments: %o', async (detail, place) => {
  const { tracker, helper } = await build({ contacts: true, normalLength: 0.7 }, place, detail);
  expect(linesOf(helper)).toEqual([]);
  const { contacts } = (await tracker.update(camera, SIZE)).result;
  expect(contacts.depths.length).toBeGreaterThan(0);
  expect(contacts.segments.length > 0).toBe(detail === 'full');
  const vector = (array: ArrayLike<number>, i: number) => new Vector3().fromArray(array, 3 * i);
  const expected: [Vector3, Vector3, string][] = [];
  Array.from(contacts.depths).forEach((depth, i) => {
    const [point, normal] = [vector(contacts.points, i), vector(contacts.normals, i)];
    for (const [length, colour] of [
      [0.7, BLUE],
      [depth, RED],
    ] as const) {
      expected.push([point, point.clone().addScaledVector(normal, length), colour]);
    }
  });
  for (let i = 0; i < contacts.segments.length / 3; i += 2) {
    expected.push([vector(contacts.segments, i), vector(contacts.segments, i + 1), YELLOW]);
  }
  expectLines(linesOf(helper), expected);
});

test('it is neither tracked nor hit', async () => {
  const { left, scene, tracker, helper } = await build({ contacts: true, hits: true });
  for (let i = 0; i < 2; i++) await tracker.update(camera, SIZE);
  await pickCenter(tracker);
  await tracker.update(camera, SIZE);
  expect([service.stats.objects, tracker.untracked.size, tracker.pending.length]).toEqual([2, 0, 0]);
  const raycaster = new Raycaster(new Vector3(0, 0, 10), new Vector3(0, 0, -1));
  expect(raycaster.intersectObject(scene, true)[0].object).toBe(left);
  expect(raycaster.intersectObject(helper, true)).toEqual([]);
});

test('contacts that are no more are drawn no more', async () => {
  const { right, tracker, helper } = await build({ contacts: true });
  await tracker.update(camera, SIZE);
  expect(linesOf(helper).length).toBeGreaterThan(0);
  right.position.x = 9;
  await tracker.update(camera, SIZE);
  expect(linesOf(helper)).toEqual([]);
});

describe('a hit', () => {
  /** A line, a cross at its end, and a normal. */
  function rayTo(from: Vector3, point: Vector3, normal: Vector3, length: number): [Vector3, Vector3, string][] {
    const away = (x: number, y: number, z: number) => point.clone().add(new Vector3(x, y, z));
    const arm = 0.25 * length;
    return [
      [from, point, WHITE],
      [away(-arm, 0, 0), away(arm, 0, 0), WHITE],
      [away(0, -arm, 0), away(0, arm, 0), WHITE],
      [away(0, 0, -arm), away(0, 0, arm), WHITE],
      [point, point.clone().addScaledVector(normal, length), WHITE],
    ];
  }

  test('of a pick begins at the near plane and ends in a cross', async () => {
    const { tracker, helper } = await build({ hits: true });
    const { point } = (await pickCenter(tracker))!;
    expect(helper.hitName).toBe('Mesh "left"');
    expectLines(linesOf(helper), rayTo(new Vector3(0, 0, 9.9), point, new Vector3(0, 0, 1), 0.5));
    expect(await tracker.pick(1, 1)).toBeNull();
    expect(helper.hitName).toBe('');
    const [miss, ...rest] = linesOf(helper);
    expect([rest.length, miss.colour]).toEqual([0, GREY]);
    const corner = (z: number) => new Vector3(2 / SIZE.width - 1, 1 - 2 / SIZE.height, z).unproject(camera);
    expect(miss.from.distanceTo(corner(-1))).toBeLessThan(1e-4);
    expect(miss.to.distanceTo(corner(1))).toBeLessThan(1e-3);
  });

  test('of a ray begins at its origin; one that hits nothing is long', async () => {
    const { tracker, helper } = await build({ hits: true, normalLength: 2 });
    await tracker.raycast({ origin: [-5, 0, 0], direction: [3, 0, 0] });
    expectLines(linesOf(helper), rayTo(new Vector3(-5, 0, 0), new Vector3(-1, 0, 0), new Vector3(-1, 0, 0), 2));
    await tracker.raycast({ origin: [-5, 0, 0], direction: [0, 3, 0] });
    expectLines(linesOf(helper), [[new Vector3(-5, 0, 0), new Vector3(-5, 1e4, 0), GREY]]);
  });

  test('has a normal that is turned with its object and its instance, and the number of that', async () => {
    const { scene, tracker, helper } = await build({ hits: true });
    const { geometry, material } = cube();
    const many = Object.assign(new InstancedMesh(geometry, material, 3), { name: 'many' });
    const turned = new Matrix4().makeRotationZ(Math.PI / 2);
    for (let i = 0; i < 3; i++) many.setMatrixAt(i, turned.clone().setPosition(20 * i, 30, 0));
    many.rotation.y = -Math.PI / 2; // x becomes z
    scene.add(many);
    await settle(tracker, camera);
    await tracker.raycast({ origin: [0, 30, 100], direction: [0, 0, -1] });
    expect(helper.hitName).toBe('InstancedMesh "many" [2]');
    const [from, point] = [new Vector3(0, 30, 100), new Vector3(0, 30, 41)];
    expectLines(linesOf(helper), rayTo(from, point, new Vector3(0, 0, 1), 0.5));
  });

  test('is not drawn where nobody wants that, and while it is not visible nothing is', async () => {
    const { tracker, helper } = await build({ hits: false });
    await pickCenter(tracker);
    expect([helper.hitName, linesOf(helper)]).toEqual(['Mesh "left"', []]);
    helper.visible = false;
    await tracker.pick(1, 1);
    expect(helper.hitName).toBe('Mesh "left"');
  });
});

const REGION = { x: 200, y: 150, width: 300, height: 200 };

test.each([
  ['a plain one', REGION],
  ['a DOMRect, whose keys are those of its prototype', Object.create({ ...REGION, [Symbol.toStringTag]: 'DOMRect' })],
])('regions are cut out of the view, unless nobody wants that: %s', async (_, region) => {
  const { tracker, helper } = await build({ regions: true });
  await tracker.pickRegion(region);
  const lines = linesOf(helper);
  expect(lines.map(({ colour }) => colour)).toEqual(Array(12).fill(MAGENTA));
  const pixels = lines.map(({ from }) => {
    const { x, y } = from.clone().project(camera);
    return [Math.round(((x + 1) / 2) * SIZE.width), Math.round(((1 - y) / 2) * SIZE.height)].join();
  });
  expect(new Set(pixels)).toEqual(new Set(['200,150', '500,150', '500,350', '200,350']));
  helper.dispose();
  const { tracker: other, helper: quiet } = await build({ regions: false });
  await other.pickRegion(region);
  expect(linesOf(quiet)).toEqual([]);
});

test('views are drawn once they are set', async () => {
  const { tracker, helper } = await build({ views: ['map'] });
  await tracker.update(camera, SIZE);
  expect(linesOf(helper)).toEqual([]);
  const map = frontCamera();
  map.position.set(4, 3, 12);
  map.updateMatrixWorld();
  tracker.setView(map, SIZE, 'map');
  for (let i = 0; i < 2; i++) await tracker.update(camera, SIZE);
  const lines = linesOf(helper);
  expect(lines.map(({ colour }) => colour)).toEqual(Array(12).fill(BLUE));
  const depths = new Set(lines.flatMap(({ from, to }) => [from, to].map(({ z }) => Math.round(10 * (12 - z)))));
  expect(depths).toEqual(new Set([1, 1000]));
});

test('bounds and trees are those of the service, where they are now', async () => {
  const { left, tracker, helper } = await build({ bounds: true });
  const trees = new CollisionHelper(tracker, { ...NOTHING, trees: [left], levels: [0, 0] });
  const frames = async () => {
    for (let i = 0; i < 3; i++) {
      await tracker.update(camera, SIZE);
      await service.inspect(); // the helper's requests are answered before
    }
  };
  const boxOf = (lines: Line[]) => {
    const ends = lines.flatMap(({ from, to }) => [from, to]);
    const at = (axis: 'x' | 'y' | 'z') => ends.map((end) => Math.round(10 * end[axis]) / 10);
    return (['x', 'y', 'z'] as const).flatMap((axis) => [Math.min(...at(axis)), Math.max(...at(axis))]);
  };
  await frames();
  expect(linesOf(helper).length).toBe(24);
  expect(boxOf(linesOf(helper))).toEqual([-1, 2.5, -1, 1.3, -1, 1]);
  expect(linesOf(trees).length).toBe(12);
  expect(boxOf(linesOf(trees))).toEqual([-1, 1, -1, 1, -1, 1]);
  left.position.x = -2;
  await frames();
  expect(boxOf(linesOf(helper))).toEqual([-3, 2.5, -1, 1.3, -1, 1]);
  expect(boxOf(linesOf(trees))).toEqual([-3, -1, -1, 1, -1, 1]);
  trees.dispose();
  expect(trees.children).toEqual([]);
});
