// Which instances of an InstancedMesh are drawn, in which order and in which level of detail: by three's own frustum, and by
// the depth of each along the view.
import {
  BoxGeometry,
  BufferAttribute,
  DataTexture,
  Frustum,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  Sphere,
  SphereGeometry,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { DetailLevels } from '../../src/client/three/culling/detail-levels.js';
import { InstanceCulling } from '../../src/client/three/culling/instance-culling.js';
import { ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { Random, SEED } from '../oracle/random.js';

const COUNT = 150;
const PIXELS = 500;
const LAYERS = 3;
const UPDATE = 7;

type AnyCamera = PerspectiveCamera | OrthographicCamera;

interface Named {
  /** What the newest answer sees, and what it occludes. */
  seen: number[];
  hidden?: number[];
  /** What was occluded at the time of the query, which may no longer be valid. */
  asked?: number[];
}

const listed = (numbers: number[]) => ({ numbers: Uint32Array.from(numbers), count: numbers.length });
/** As in OcclusionAnswer: there is no entry for a mesh without occluded instances. */
const answerOf = (numbers: number[] | undefined) =>
  numbers === undefined ? null : { instancesOf: () => (numbers.length === 0 ? null : listed(numbers)) };

function viewOf(camera: AnyCamera, { seen, hidden, asked }: Named = { seen: [] }) {
  return {
    ...{ camera, volume: new ViewVolume().set(camera), pixels: PIXELS, minPixels: 0, isContained: true },
    ...{ occlusion: answerOf(hidden), asked: answerOf(asked ?? hidden) },
    seen: { instancesOf: () => listed(seen), update: UPDATE, view: { layers: LAYERS } },
  } as never;
}

/** An entry for a mesh whose instances the answer knows, or not. */
function entryOf(isKnown: boolean) {
  const wasSeenAsItIs = (update: number, layers: number) => isKnown && update === UPDATE && layers === LAYERS;
  return { cullable: true, wasSeenAsItIs } as never;
}

function randomMesh(random: Random): InstancedMesh {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), COUNT);
  for (let i = 0; i < COUNT; i++) mesh.setMatrixAt(i, random.placement(random.point(20)));
  mesh.position.copy(random.point(3));
  mesh.quaternion.copy(random.rotation());
  mesh.updateMatrixWorld();
  mesh.geometry.computeBoundingSphere();
  return mesh;
}

function randomCamera(random: Random): AnyCamera {
  const camera = random.chance(0.5)
    ? new PerspectiveCamera(random.range(30, 90), 1.5, 0.1, 200)
    : new OrthographicCamera(-15, 15, 15, -15, 0.1, 100);
  camera.position.copy(random.point(25));
  camera.lookAt(random.point(3));
  camera.updateMatrixWorld();
  return camera;
}

/** For each instance that three's frustum sees, its number and the depth of its centre along the view. */
function seenBy(camera: AnyCamera, mesh: InstancedMesh, growth = (_instance: number) => 0): Map<number, number> {
  const matrix = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const frustum = new Frustum().setFromProjectionMatrix(matrix, camera.coordinateSystem, camera.reversedDepth);
  const found = new Map<number, number>();
  for (let i = 0; i < COUNT; i++) {
    const own = new Matrix4();
    mesh.getMatrixAt(i, own);
    own.premultiply(mesh.matrixWorld);
    const { center, radius } = mesh.geometry.boundingSphere!;
    if (!frustum.intersectsSphere(new Sphere(center.clone(), radius + growth(i)).applyMatrix4(own))) continue;
    found.set(i, -new Vector3().setFromMatrixPosition(own).applyMatrix4(camera.matrixWorldInverse).z);
  }
  return found;
}

/** The numbers of the drawn instances, by their matrices. */
function drawnOf(stand: InstancedMesh, mesh: InstancedMesh): number[] {
  const keyOf = (of: InstancedMesh, i: number) => of.instanceMatrix.array.slice(16 * i, 16 * i + 16).join();
  const numbers = new Map(Array.from({ length: COUNT }, (_, i) => [keyOf(mesh, i), i]));
  return Array.from({ length: stand.count }, (_, i) => numbers.get(keyOf(stand, i))!);
}

const ascending = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

describe.each([null, 'front-to-back', 'back-to-front'] as const)('in the order %s', (order) => {
  test.each([false, true])(`all that three sees are drawn, of which the answer knows: %s, seed ${SEED}`, (isKnown) => {
    const random = new Random(SEED);
    for (let round = 0; round < 10; round++) {
      const mesh = randomMesh(random);
      const culling = new InstanceCulling(mesh, entryOf(isKnown), order, null);
      const camera = randomCamera(random);
      const expected = seenBy(camera, mesh);
      // The answer may name more, because of its margin, and instances that were removed since.
      const seen = [...Array(COUNT + 5).keys()].filter((i) => expected.has(i) || random.chance(0.3));
      const part = culling.draw(viewOf(camera, { seen }));
      if (part === null) {
        expect([order, expected.size]).toEqual([null, COUNT]);
        continue;
      }
      const drawn = part.stands.flatMap((stand) => drawnOf(stand, mesh));
      expect(ascending(drawn)).toEqual(ascending(expected.keys()));
      expect(part).toMatchObject({
        hidden: COUNT - expected.size,
        occluded: 0,
        triangles: 12 * (COUNT - expected.size),
      });
      const depths = drawn.map((i) => expected.get(i)!);
      if (order === null) expect(drawn).toEqual(ascending(drawn));
      for (let n = 1; n < depths.length && order !== null; n++) {
        const further = order === 'front-to-back' ? depths[n] - depths[n - 1] : depths[n - 1] - depths[n];
        expect(further).toBeGreaterThan(-1e-4);
      }
    }
  });
});

/** The size of a level, and whether the answer, which is for the mesh's own geometry, is valid for it as well. */
const LEVELS: [name: string, size: number | null, isKnown: boolean][] = [
  ['without levels', null, true],
  ['in levels that are smaller', 0.9, true],
  ['in levels that reach farther', 1.1, false],
];

test.each(LEVELS)(
  `what is hidden is left out for as long as that holds, and else drawn, %s, seed ${SEED}`,
  (_, ...own) => {
    const [size, isKnown] = own;
    const random = new Random(SEED);
    for (let round = 0; round < 10; round++) {
      const mesh = randomMesh(random);
      const levels =
        size === null ? null : new DetailLevels([{ pixels: 20, geometry: new BoxGeometry(size, size, size) }]);
      const culling = new InstanceCulling(mesh, entryOf(true), null, levels);
      const camera = randomCamera(random);
      const all = ascending(seenBy(camera, mesh).keys());
      const asked = all.filter(() => random.chance(0.4));
      const seen = all.filter((i) => !asked.includes(i));
      const drawn = (named: Named) => {
        const part = culling.draw(viewOf(camera, named));
        if (part === null) return { occluded: 0, numbers: Array.from({ length: COUNT }, (_, i) => i) };
        const { stands, occluded } = part;
        const lists = stands.map((stand) => drawnOf(stand, mesh));
        for (const list of lists) expect(list).toEqual(ascending(list)); // as three draws them
        return { occluded, numbers: ascending(lists.flat()) };
      };
      if (!isKnown) {
        const { occluded, numbers } = drawn({ seen, hidden: asked });
        expect(occluded).toBe(0);
        expect(numbers).toEqual(expect.arrayContaining(all));
        continue;
      }
      expect(drawn({ seen, hidden: asked })).toEqual({ occluded: asked.length, numbers: seen });
      expect(drawn({ seen, asked })).toEqual({ occluded: 0, numbers: all });
      expect(drawn({ seen: all, hidden: [] })).toEqual({ occluded: 0, numbers: all });
      (mesh.material as MeshBasicMaterial).depthTest = false;
      expect(drawn({ seen, hidden: asked })).toEqual({ occluded: 0, numbers: all });
    }
  },
);

test(`each is drawn in the level that its size in pixels asks for, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const coarse = new SphereGeometry(0.5, 4, 3);
  const levels = [
    { pixels: 60, geometry: coarse },
    { pixels: 20, geometry: new BoxGeometry(0.9, 0.9, 0.9) },
  ];
  const triangles = [12, coarse.index!.count / 3, 12];
  for (let round = 0; round < 10; round++) {
    const mesh = randomMesh(random);
    const order = random.pick([null, 'front-to-back', 'back-to-front'] as const);
    const culling = new InstanceCulling(mesh, entryOf(false), order, new DetailLevels(levels));
    const camera = new PerspectiveCamera(60, 1.5, 0.1, 200);
    camera.position.copy(random.point(25));
    camera.lookAt(random.point(3));
    camera.updateMatrixWorld();
    const { stands, triangles: saved, hidden } = culling.draw(viewOf(camera))!;
    const geometries = [mesh.geometry, levels[0].geometry, levels[1].geometry];
    const used = stands.map(({ geometry }) => geometries.indexOf(geometry));
    expect(used).toEqual(order === 'back-to-front' ? ascending(used).reverse() : ascending(used));
    let drawn = 0;
    let count = 0;
    stands.forEach((stand, n) => {
      drawn += stand.count * triangles[used[n]];
      count += stand.count;
      for (const i of drawnOf(stand, mesh)) {
        const own = new Matrix4();
        mesh.getMatrixAt(i, own);
        own.premultiply(mesh.matrixWorld);
        const { center, radius } = mesh.geometry.boundingSphere!;
        const depth = -center.clone().applyMatrix4(own).applyMatrix4(camera.matrixWorldInverse).z;
        const pixels = depth > 0 ? (2 * PIXELS * radius * own.getMaxScaleOnAxis()) / depth : Number.POSITIVE_INFINITY;
        const [least, most] = [
          [60, Number.POSITIVE_INFINITY],
          [20, 60],
          [0, 20],
        ][used[n]];
        expect(pixels).toBeGreaterThan(least * (1 - 1e-4));
        expect(pixels).toBeLessThan(most * (1 + 1e-4));
      }
    });
    expect(hidden).toBe(COUNT - count);
    expect(saved).toBe(Math.max(0, 12 * COUNT - drawn));
    const visible = [...seenBy(camera, mesh).keys()];
    expect(count).toBeGreaterThanOrEqual(visible.length);
  }
});

// three has morphs of instances since r162.
const morphTest = test.skipIf(!('setMorphAt' in InstancedMesh.prototype));

morphTest(`those that morph targets move are drawn where they may be seen, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let more = 0;
  for (let round = 0; round < 10; round++) {
    const mesh = randomMesh(random);
    const { geometry } = mesh;
    const way = random.direction().multiplyScalar(random.range(1, 8));
    const moved = new Float32Array(geometry.attributes.position.array.length);
    for (let at = 0; at < moved.length; at += 3) way.toArray(moved, at);
    geometry.morphAttributes.position = [new BufferAttribute(moved, 3)];
    geometry.morphTargetsRelative = true;
    const influences = Array.from({ length: COUNT }, () => (random.chance(0.3) ? 0 : random.range(-1, 1)));
    const posed = new Mesh(geometry);
    influences.forEach((influence, i) => {
      posed.morphTargetInfluences![0] = influence;
      mesh.setMorphAt(i, posed);
    });
    const camera = randomCamera(random);
    const expected = seenBy(camera, mesh, (i) => Math.abs(influences[i]) * way.length());
    // The answer knows them, but not how three draws them.
    const part = new InstanceCulling(mesh, entryOf(true), null, null).draw(viewOf(camera));
    const drawn = part === null ? [...Array(COUNT).keys()] : part.stands.flatMap((stand) => drawnOf(stand, mesh));
    expect(drawn).toEqual(ascending(expected.keys()));
    more += expected.size - seenBy(camera, mesh).size;
  }
  expect(more).toBeGreaterThan(0);
});

morphTest('all are drawn where nobody knows how far morph targets move them', () => {
  const mesh = randomMesh(new Random(SEED));
  mesh.morphTexture = new DataTexture(new Float32Array(2 * COUNT), 2, COUNT);
  const many = 1 << 19;
  const positions = new Float32Array(3 * many);
  positions.set(mesh.geometry.attributes.position.array);
  mesh.geometry.setAttribute('position', new BufferAttribute(positions, 3));
  const away = new PerspectiveCamera(30, 1, 0.1, 1);
  away.position.set(0, 0, 1000);
  away.updateMatrixWorld();
  const draw = () => new InstanceCulling(mesh, entryOf(false), null, null).draw(viewOf(away));
  expect(draw()).toBeNull();
  mesh.geometry = new BoxGeometry();
  expect(draw()).toMatchObject({ hidden: COUNT, stands: [] });
});

test('a mesh that is seen as it is is drawn as it is', () => {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2);
  for (let i = 0; i < 2; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, -10));
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  const draw = (order: 'front-to-back' | null) =>
    new InstanceCulling(mesh, entryOf(false), order, null).draw(viewOf(camera));
  expect(draw(null)).toBeNull();
  expect(draw('front-to-back')).toMatchObject({ hidden: 0 });
  mesh.count = 0;
  expect(draw('front-to-back')).toBeNull();
});
