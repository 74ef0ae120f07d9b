// What error messages say of the value that was given.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeValue } from '../../src/client/check/validate.js';
import { browserHost } from '../../src/client/link/host.browser.js';
import { WorkerStart } from '../../src/client/link/worker-start.js';
import { boxMesh } from '../oracle/meshes.js';

test.each<[string, unknown, string]>([
  ['a text', 'here', '"here"'],
  ['a long text by its beginning', `${'x'.repeat(40)}y`, `"${'x'.repeat(40)}…"`],
  ['a number', 5, '5'],
  ['a zero by its sign', -0, '-0'],
  ['nothing', null, 'null'],
  ['what was not given', undefined, 'undefined'],
  ['a function', () => 7, 'a function'],
  ['a few numbers', [1, 2, 3, 4], '[1, 2, 3, 4]'],
  ['objects among them', [{}, 'a'], '[…, "a"]'],
  ['many numbers by their count', [1, 2, 3, 4, 5], 'an Array of length 5'],
  ['an array of floats', new Float32Array(9), 'a Float32Array of length 9'],
  ['an object', {}, 'an object'],
  ['an object of a class', new Map(), 'an object of Map'],
  ['what throws', new Proxy({}, { get: () => fail() }), 'an object that cannot be read'],
])('%s is shown', (_, value, expected) => {
  expect(describeValue(value)).toBe(expected);
});

function fail(): never {
  throw new Error('no');
}

describe('a call that is refused names', () => {
  let service: CollisionService;
  beforeAll(async () => {
    service = await createCollisionService();
    const [projection, view] = [new PerspectiveCamera().projectionMatrix.elements, new Matrix4().elements];
    for (const name of ['left', 'right'])
      service.setView({ projection, view, viewport: { width: 9, height: 9 } }, name);
  });
  afterAll(() => service.dispose());

  const { positions, indices } = boxMesh(1, 1, 1);
  /** Three bones; one bone index or one weight is invalid. */
  const withSkin = (bone: number, weight: number) => {
    const bones = new Uint8Array((positions.length / 3) * 4);
    const weights = new Float32Array(bones.length).fill(0.25);
    if (bone > 0) bones[bone] = 3;
    if (weight > 0) weights[weight] = Number.NaN;
    return service.addMesh({ positions, indices, skin: { bones, weights, boneCount: 3 } });
  };
  test.each<[string, () => unknown, string]>([
    ['the data that are missing', () => service.addMesh(undefined as never), 'data is undefined'],
    ['an array of no length', () => service.addMesh({ positions: new Float32Array() }), 'length of positions is 0'],
    [
      'indices of no length',
      () => service.addMesh({ positions, indices: new Uint32Array() }),
      'length of indices is 0',
    ],
    [
      'the index that is out of range',
      () => service.addMesh({ positions, indices: indices!.with(7, 1000) }),
      'indices[7] is 1000',
    ],
    [
      'what nearer than the weld is one',
      () => service.addMesh({ positions, indices }, { weld: 100 }),
      'when vertices nearer than 100 are one',
    ],
    [
      'the views that there are',
      () => service.pick(1, 1, { view: 'top' }),
      'expected a view that was set: "left", "right"',
    ],
    [
      'the ray of many',
      () => service.raycastMany(Float32Array.of(0, 0, 9, 0, 0, 0, -1, 99, 1, 2, 3, 0, 0, 0, 0, 5)),
      'ray 1 is 1, 2, 3, 0, 0, 0, 0, 5',
    ],
    [
      'the bone that there is not',
      () => withSkin(9, 0),
      'skin.bones[9] is 3, expected a bone below 3, as it has a weight',
    ],
    ['the weight that is no number', () => withSkin(0, 6), 'skin.weights[6] is NaN, expected a finite number'],
    [
      'the number of the target that is none',
      () => {
        const targets = [0, 1, 2].map(() => positions.slice());
        targets[1][4] = Number.NaN;
        return service.addMesh({ positions, indices, morphs: { targets, relative: false } });
      },
      'morphs.targets[1][4] is NaN, expected a finite number of about the size of the mesh',
    ],
    [
      'how many vertices a mesh has',
      async () => service.updateMesh(await service.addMesh({ positions, indices }), new Float32Array(6)),
      `the length of positions is 6, expected 3 for each of its ${positions.length / 3} vertices`,
    ],
    [
      'the vertex that moved to nowhere',
      async () => service.updateMesh(await service.addMesh({ positions, indices }), positions.with(7, Infinity)),
      'vertex 2 of positions is (0.5, Infinity, -0.5), expected finite numbers',
    ],
  ])('%s', async (_, call, message) => {
    await expect((async () => call())()).rejects.toThrow(message);
  });

  test('what came of it in the worker, as the cause', async () => {
    const answer = service.raycastMany(Float32Array.of(0, 0, 9, 0, 0, 0, 0, 99));
    await expect(answer).rejects.toMatchObject({ name: 'CollisionError', cause: expect.anything() });
  });
});

test('a document of jsdom has no workers, of which Jest is told', () => {
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (linux) AppleWebKit/537.36 jsdom/26.1.0' });
  expect(browserHost.advice()).toMatch(/with Jest, put `testEnvironmentOptions: .*` into jest.config.js$/);
  vi.stubGlobal('Worker', class {});
  expect(browserHost.advice()).toBe('');
  vi.unstubAllGlobals();
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
  expect(browserHost.advice()).toBe('');
  vi.unstubAllGlobals();
});

describe('a worker that does not start, for a content security policy', () => {
  /** What is reported of it once a window, replaced by a stand-in here, has fired an event. */
  function obstacleAfter(event: object, isOver = false): string {
    const page = new EventTarget();
    const { addEventListener, removeEventListener } = globalThis;
    Object.assign(globalThis, {
      addEventListener: page.addEventListener.bind(page),
      removeEventListener: page.removeEventListener.bind(page),
    });
    try {
      const start = new WorkerStart();
      if (isOver) start.end();
      page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), event));
      expect(start.obstacle('it is broken')).toBe('it is broken');
      start.end();
      return start.obstacle(undefined);
    } finally {
      Object.assign(globalThis, { addEventListener, removeEventListener });
    }
  }

  const FORBIDDEN = { disposition: 'enforce', effectiveDirective: 'worker-src', blockedURI: 'blob' };

  test('that forbids it', () => {
    expect(obstacleAfter(FORBIDDEN)).toContain('content security policy');
  });

  test.each<[string, object, boolean]>([
    ['that only reports it', { ...FORBIDDEN, disposition: 'report' }, false],
    ['that forbids something else', { ...FORBIDDEN, effectiveDirective: 'img-src' }, false],
    ['that has forbidden another one, after its start', FORBIDDEN, true],
  ])('but not one %s', (_, event, isOver) => {
    expect(obstacleAfter(event, isOver)).not.toContain('content security policy');
  });
});
