// The caller's choices for single objects that are culled: the
// callback is called once per object, and errors are reported once.
import { BoxGeometry, InstancedMesh, LOD, Mesh, MeshBasicMaterial } from 'three';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { CullingSettings } from '../../src/client/three/culling/culling-settings.js';

const said: string[] = [];

beforeEach(() => {
  said.length = 0;
  const warn = vi.spyOn(console, 'warn').mockImplementation((message) => said.push(message));
  onTestFinished(() => warn.mockRestore());
});

const meshOf = (name = 'rocks') =>
  Object.assign(new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 1), { name });

function lodOf(levels: number): LOD {
  const lod = new LOD();
  for (let i = 0; i < levels; i++) lod.addLevel(new Mesh(), i);
  return lod;
}

test('without a wish there is none, of which nothing is said', () => {
  for (const wish of [undefined, null, []]) {
    let calls = 0;
    const levels = () => {
      calls++;
      return wish as never;
    };
    const wishes = new CullingSettings({ levels, order: () => wish as never });
    const [mesh, lod] = [meshOf(), lodOf(2)];
    for (let i = 0; i < 2; i++) expect([wishes.levelsOf(mesh), wishes.levelsOf(lod)]).toEqual([null, null]);
    expect(calls).toBe(2);
    if (!Array.isArray(wish)) expect(wishes.orderOf(mesh)).toBeNull();
  }
  const wishes = new CullingSettings({});
  expect([wishes.levelsOf(meshOf()), wishes.orderOf(meshOf())]).toEqual([null, null]);
  expect(said).toEqual([]);
});

test('an order is that of all, or asked of each', () => {
  expect(new CullingSettings({ order: 'front-to-back' }).orderOf(meshOf())).toBe('front-to-back');
  const wishes = new CullingSettings({ order: ({ name }) => (name === 'glass' ? 'back-to-front' : undefined) });
  expect([wishes.orderOf(meshOf('glass')), wishes.orderOf(meshOf())]).toEqual(['back-to-front', null]);
  expect(said).toEqual([]);
});

test('levels are those that were named, finest first', () => {
  const geometry = new BoxGeometry();
  const wishes = new CullingSettings({
    levels: (object) =>
      'isLOD' in object
        ? [{ pixels: 40 }, { pixels: 20 }]
        : [
            { pixels: 40, geometry },
            { pixels: 0, geometry, hysteresis: 0 },
          ],
  });
  expect(wishes.levelsOf(meshOf())!.geometries).toEqual([null, geometry, geometry]);
  const lod = lodOf(3);
  expect(wishes.levelsOf(lod)!.geometries).toEqual([null, null, null]);
  expect(wishes.levelsOf(lod)).toBe(wishes.levelsOf(lod));
  expect(said).toEqual([]);
});

const geometry = new BoxGeometry();
test.each<[string, unknown, (Mesh | LOD)?]>([
  ['culling.levels is 7', 7],
  ['culling.levels[0].pixels is -1', [{ pixels: -1, geometry }]],
  ['culling.levels[0].hysteresis is -1', [{ pixels: 1, geometry, hysteresis: -1 }]],
  [
    'culling.levels[1].pixels is 5, expected less than 5',
    [
      { pixels: 5, geometry },
      { pixels: 5, geometry },
    ],
  ],
  ['culling.levels[0].geometry is undefined', [{ pixels: 1 }]],
  ['culling.levels[0].geometry is', [{ pixels: 1, geometry }], lodOf(2)],
  ['the length of the answer of culling.levels is 2, expected at most 1', [{ pixels: 2 }, { pixels: 1 }], lodOf(2)],
])('%s … is said once, and it has none', (message, answer, object = meshOf()) => {
  const wishes = new CullingSettings({ levels: () => answer as never });
  for (let i = 0; i < 2; i++) expect(wishes.levelsOf(object as LOD)).toBeNull();
  expect(said).toEqual([expect.stringContaining(message)]);
  expect(said[0]).toContain('is drawn without it');
});

test('so is an order that is none, and what the caller throws', () => {
  const wishes = new CullingSettings({
    order: () => 'sideways' as never,
    levels: () => {
      throw new Error('no levels today');
    },
  });
  const mesh = meshOf();
  for (let i = 0; i < 2; i++) expect([wishes.orderOf(mesh), wishes.levelsOf(mesh)]).toEqual([null, null]);
  expect(said).toEqual([expect.stringContaining('culling.order'), expect.stringContaining('no levels today')]);
  for (let i = 0; i < 2; i++) wishes.drawAsItIs(mesh, new Error('cannot be read'));
  expect(said.length).toBe(3);
  expect(said[2]).toMatch(/rocks.*cannot be read.*drawn without culling/);
});
