// The draw lists of BatchedMeshes that culling writes are those of three
// itself, for WebGL and for WebGPU, with and without the WebAssembly filter.
import { readFileSync } from 'node:fs';
import {
  BatchedMesh,
  BoxGeometry,
  type Camera,
  ConeGeometry,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  REVISION,
  TorusGeometry,
} from 'three';
import { expect, test } from 'vitest';
import { BatchDraws } from '../../src/client/three/culling/batch-draws.js';
import { frustumFilter, startFilter } from '../../src/client/three/culling/frustum-filter.js';
import { ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { Random, SEED } from '../oracle/random.js';

const FILTER = new URL('../../build/frustum-filter.wasm.gz', import.meta.url);

interface Insides {
  _updateDrawParameters?(...args: unknown[]): void;
  _multiDrawCount: number;
  _multiDrawStarts: Int32Array;
  _multiDrawCounts: Int32Array;
  _mergedDrawCount: number;
  _mergedDrawStarts: Int32Array;
  _mergedDrawCounts: Int32Array;
  _mergedDrawInstanceCounts: Int32Array;
  _multiDrawBytesPerElement: number;
  _indirectTexture: { image: { data: Uint32Array } };
}

function listOf(insides: Insides, format: string): object {
  const { _multiDrawCount: count, _mergedDrawCount: runs, _multiDrawBytesPerElement: bytes } = insides;
  const first = (array: ArrayLike<number>, n: number) => Array.from(array).slice(0, n);
  return {
    ...{ count, bytes, numbers: first(insides._indirectTexture.image.data, count) },
    ...(format === 'merged'
      ? {
          starts: first(insides._mergedDrawStarts, runs),
          counts: first(insides._mergedDrawCounts, runs),
          copies: first(insides._mergedDrawInstanceCounts, runs),
        }
      : { starts: first(insides._multiDrawStarts, count), counts: first(insides._multiDrawCounts, count) }),
  };
}

/** What a camera sees, with the numbers of the instances that nearer objects occlude. */
function viewOf(camera: Camera, hidden: number[] | null) {
  const none = { numbers: new Uint32Array(0), count: 0 };
  const occluded = hidden === null ? null : { numbers: Uint32Array.from(hidden), count: hidden.length };
  return {
    ...{ camera, volume: new ViewVolume().set(camera), asked: null, pixels: 500, minPixels: 0 },
    occlusion: hidden === null ? null : { instancesOf: () => occluded },
    seen: { instancesOf: () => none, update: 7, view: { layers: 3 } },
  };
}

const KINDS = [false, true].flatMap((isFiltered) =>
  [true, false].flatMap((sortObjects) =>
    [true, false].flatMap((transparent) =>
      ['multiDraw', 'merged'].map((format) => ({ isFiltered, sortObjects, transparent, format })),
    ),
  ),
);

// Older versions have no such method: their images are compared (culling.browser.test.ts).
test.skipIf(Number.parseInt(REVISION, 10) < 187).each(KINDS)(
  `of $format, sorted: $sortObjects, transparent: $transparent, filtered: $isFiltered, seed ${SEED}`,
  async ({ isFiltered, sortObjects, transparent, format }) => {
    if (isFiltered && frustumFilter() === null) await startFilter(new Uint8Array(readFileSync(FILTER)));
    expect(frustumFilter() !== null).toBe(isFiltered);
    const random = new Random(SEED);
    const material = new MeshBasicMaterial({ transparent });
    const isIndexed = sortObjects === transparent;
    const batch = new BatchedMesh(400, 4000, isIndexed ? 4000 : 0, material);
    batch.sortObjects = sortObjects;
    batch.position.set(1, 2, 3);
    batch.rotation.set(1, 2, 3);
    batch.updateMatrixWorld();
    const shapes = [new BoxGeometry(), new BoxGeometry(2, 1, 1), new ConeGeometry(), new TorusGeometry()];
    const forms = shapes.map((form) => batch.addGeometry(isIndexed ? form : form.toNonIndexed()));
    const entry = { cullable: true, standsOnGeometry: () => true, wasSeenAsItIs: () => true };
    const draws = new BatchDraws(batch, entry as never);
    const insides = batch as unknown as Insides;
    const place = () => random.placement(random.point(30));
    for (let i = 0; i < 300; i++) batch.setMatrixAt(batch.addInstance(random.pick(forms)), place());
    for (let frame = 0; frame < 30; frame++) {
      const camera =
        frame % 2 === 0
          ? new PerspectiveCamera(random.range(20, 100), 1.5, 0.1, 200)
          : new OrthographicCamera(-20, 20, 20, -20);
      camera.position.copy(random.point(40));
      camera.quaternion.copy(random.rotation());
      camera.updateMatrixWorld();
      // Some changes follow a list of ours, some follow one of three's own, which takes them into account.
      const change = (): void => {
        batch.setVisibleAt(random.integer(300), random.chance(0.5));
        batch.setGeometryIdAt(random.integer(300), random.pick(forms));
        for (let n = 0; n < 30; n++) batch.setMatrixAt(random.integer(300), place());
        if (frame % 7 === 3) batch.setMatrixAt(batch.addInstance(random.pick(forms)), place());
      };
      if (random.chance(0.7)) change();
      const { perObjectFrustumCulled } = batch;
      const three = (): object => {
        insides._updateDrawParameters!(camera, batch.geometry, material, format);
        return listOf(insides, format);
      };
      if (random.chance(0.5)) three();
      draws.write(viewOf(camera, null) as never, batch.geometry, material, format === 'merged');
      const ours = listOf(insides, format);
      expect(ours).toEqual(three());
      expect(batch.perObjectFrustumCulled).toBe(perObjectFrustumCulled);
    }
  },
);

test.skipIf(Number.parseInt(REVISION, 10) < 187)(
  `what nearer objects hide is left out, where it stands on its geometry and is as it was, seed ${SEED}`,
  () => {
    const random = new Random(SEED);
    const material = new MeshBasicMaterial();
    const count = 400;
    const batch = new BatchedMesh(count, 100, 100, material);
    batch.sortObjects = false;
    const form = batch.addGeometry(new BoxGeometry());
    for (let i = 0; i < count; i++) batch.setMatrixAt(batch.addInstance(form), random.placement(random.point(10)));
    batch.updateMatrixWorld();
    const camera = new PerspectiveCamera(60, 1, 0.1, 100);
    const entry = {
      cullable: true,
      standsOnGeometry: (i: number, kind: number) => i % 3 !== 0 && kind === form,
      wasSeenAsItIs: (update: number, layers: number) => update === 7 && layers === 3,
    };
    const written = (hidden: number[] | null, own: object = entry) => {
      const draws = new BatchDraws(batch, own as never);
      const { occluded, hidden: all } = draws.write(viewOf(camera, hidden) as never, batch.geometry, material, false);
      const insides = batch as unknown as Insides;
      const numbers = [...insides._indirectTexture.image.data.subarray(0, insides._multiDrawCount)];
      expect(all).toBe(count - numbers.length);
      return { occluded, numbers };
    };
    const { numbers } = written(null);
    expect(numbers.length).toBeGreaterThan(10);
    const hidden = Array.from({ length: count }, (_, i) => i).filter(() => random.chance(0.5));
    const left = numbers.filter((i) => i % 3 === 0 || !hidden.includes(i));
    expect(written(hidden)).toEqual({ occluded: numbers.length - left.length, numbers: left });
    expect(left.length).toBeLessThan(numbers.length);
    const all = { occluded: 0, numbers };
    expect(written([])).toEqual(all);
    expect(written(hidden, { ...entry, standsOnGeometry: undefined })).toEqual(all);
    expect(written(hidden, { ...entry, wasSeenAsItIs: () => false })).toEqual(all);
    material.depthTest = false;
    expect(written(hidden)).toEqual(all);
  },
);

const SORTS = (list: unknown[]) => list;
test.skipIf(Number.parseInt(REVISION, 10) < 187).each<[string, object, object?]>([
  ['what its instances are', { _instanceInfo: undefined }],
  ['what its geometries are', { _geometryInfo: undefined }],
  ['where they begin', { _multiDrawStarts: undefined }],
  ['how long they are', { _multiDrawCounts: undefined }],
  ['their numbers', { _indirectTexture: { image: {} } }],
  ['their matrices', { _matricesTexture: { image: { data: [] } } }],
  ['their matrices, in a texture', { _matricesTexture: undefined }],
  ['an order that is known', { customSort: SORTS }],
  ['triangles', {}, { wireframe: true }],
])('it writes no list where it does not have %s', (_, insides, material = {}) => {
  const drawn = new MeshBasicMaterial(material);
  const batch = new BatchedMesh(4, 100, 100, drawn);
  batch.addInstance(batch.addGeometry(new BoxGeometry()));
  const draws = new BatchDraws(batch, {} as never);
  expect(draws.canDraw(new MeshBasicMaterial())).toBe(true);
  Object.assign(batch, insides);
  expect(draws.canDraw(drawn)).toBe(false);
});
