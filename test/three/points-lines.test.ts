// Points and lines: picks and rays give the results of three's Raycaster
// with the same `params`, and work within pixels without them.
import type { SceneTracker } from 'collision-worker/three';
import {
  BufferAttribute,
  BufferGeometry,
  Group,
  type Intersection,
  Line,
  LineLoop,
  LineSegments,
  Material,
  Matrix4,
  Mesh,
  type Object3D,
  Points,
  PointsMaterial,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import { indexInThree, isMissedByThree } from '../fixtures/three-lines.js';
import {
  type AnyCamera,
  frontCamera,
  pickCenter,
  pixelNear,
  randomCamera,
  SIZE,
  settle,
  track,
} from '../fixtures/three-picks.js';
import { cube, place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
/** Fewer with older versions of three, where all of it would take too long. */
const SCENES = shareOf(24);
const ROUNDS = 4;
const PICKS = 25;
const KINDS = { Points, Line, LineSegments, LineLoop };
type Kind = keyof typeof KINDS;
type Thin = Points | Line;

/** A random walk of vertices, indexed or not, some of which may not be drawn. */
function randomGeometry(random: Random): BufferGeometry {
  const count = 2 + random.integer(60);
  const positions = new Float32Array(3 * count);
  const at = random.point(1);
  for (let i = 0; i < count; i++)
    at.add(random.point(0.5))
      .clampScalar(-1.5, 1.5)
      .toArray(positions, 3 * i);
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  if (random.chance(0.5)) {
    geometry.setIndex(Array.from({ length: 2 + random.integer(80) }, () => random.integer(count)));
  }
  // Groups and draw ranges: the Raycaster ignores the former.
  if (random.chance(0.3)) geometry.setDrawRange(random.integer(2), 2 + random.integer(40));
  if (random.chance(0.2)) geometry.addGroup(0, 3, 1);
  geometry.computeBoundingSphere();
  return geometry;
}

function randomThin(random: Random, kind: Kind): Thin {
  const material: Material | Material[] = random.chance(0.1) ? [new Material(), new Material()] : new PointsMaterial();
  const object: Thin = new (KINDS[kind] as typeof Line)(randomGeometry(random), material as Material);
  object.name = `${kind} ${object.id}`;
  place(object, random, RADIUS / 2);
  return object;
}

function change(random: Random, kind: Kind, parents: Group[], objects: Thin[]): void {
  const object = random.pick(objects);
  const { geometry } = object;
  const kinds: (() => void)[] = [
    () => place(object, random, RADIUS / 2),
    () => {
      object.geometry = randomGeometry(random);
    },
    () => {
      // Vertices that move.
      const { position } = geometry.attributes;
      for (let i = 0; i < position.count; i++) random.point(1.5).toArray(position.array as Float32Array, 3 * i);
      position.needsUpdate = true;
      geometry.computeBoundingSphere();
    },
    () =>
      geometry.setDrawRange(random.integer(3), random.chance(0.3) ? Number.POSITIVE_INFINITY : 3 + random.integer(20)),
    () => {
      object.visible = random.chance(0.6);
    },
    () => random.pick(parents).add(object),
    () => objects.length > 3 && objects.splice(objects.indexOf(object), 1)[0].removeFromParent(),
    () => {
      objects.push(randomThin(random, kind));
      random.pick(parents).add(objects.at(-1)!);
    },
    () => {
      (random.pick(parents) as Object3D).visible = random.chance(0.8);
    },
  ];
  random.pick(kinds)();
}

function shown(root: Object3D): Object3D[] {
  const found: Object3D[] = [];
  root.traverseVisible((object) => {
    if (object instanceof Points || object instanceof Line || object instanceof Mesh) found.push(object);
  });
  return found;
}

function isThin(object: Object3D): object is Thin {
  return !(object instanceof Mesh);
}

const TOLERANCE = 1e-6;

/** Reports how a hit differs from those of three's that are as near. */
function faultOf(hit: Intersection, expected: Intersection[], scale: number): string | null {
  const near = expected.filter(({ distance }) => Math.abs(distance - hit.distance) <= TOLERANCE * scale);
  const twins = near.filter(({ object, index }) => object === hit.object && index === indexInThree(hit));
  if (twins.length === 0) return `${hit.object.name} ${hit.index} at ${hit.distance}, which three does not hit`;
  // three has `barycoord` and `faceIndex` for lines and points since r168.
  const keys = (one: Intersection) => Object.keys(one).filter((key) => key !== 'barycoord' && key !== 'faceIndex');
  const hasKeysOf = (one: Intersection) => {
    const [own, others] = [keys(hit), keys(one)];
    return own.length === others.length && own.every((key) => others.includes(key));
  };
  const isRight = twins.some(
    (twin) =>
      hit.point.distanceTo(twin.point) <= TOLERANCE * scale &&
      Math.abs((hit.distanceToRay ?? 0) - (twin.distanceToRay ?? 0)) <= TOLERANCE * scale &&
      [hit.face, hit.faceIndex].join() === [twin.face, twin.faceIndex ?? null].join() &&
      hasKeysOf(twin),
  );
  return isRight ? null : `${hit.object.name} ${hit.index}: ${keys(hit)} ${keys(twins[0])}`;
}

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  test.each([0, 1e6])(`at %d, ${SCENES} scenes that change while they run, seed ${SEED}`, async (far) => {
    const random = new Random(SEED + (far > 0 ? 1000 : 0));
    const faults: string[] = [];
    let hits = 0;
    for (let scene = 0; scene < SCENES; scene++) {
      const group = new Group();
      const inner = new Group();
      place(inner, random, RADIUS / 4);
      const root = new Group().add(group.add(inner), cube(0.5));
      root.position.setScalar(far);
      const objects = Array.from({ length: 6 }, () => randomThin(random, kind));
      for (const object of objects) random.pick([group, inner]).add(object);
      const camera = randomCamera(random, RADIUS);
      camera.position.addScalar(far);
      camera.updateMatrixWorld();
      const tracker = await track(service, root, camera);
      for (let round = 0; round < ROUNDS; round++) {
        if (round > 0) change(random, kind, [group, inner], objects);
        await settle(tracker, camera);
        const threshold = random.logRange(0.01, 0.4);
        const params = { Points: { threshold }, Line: { threshold: 1.5 * threshold } };
        const found = await compare(tracker, root, camera, random, params, far);
        faults.push(...found.faults);
        hits += found.hits;
      }
      tracker.dispose();
    }
    expect(faults.slice(0, 10)).toEqual([]);
    expect(hits).toBeGreaterThan(SCENES * ROUNDS * PICKS * 0.4);
  });
});

async function compare(
  tracker: SceneTracker,
  root: Object3D,
  camera: AnyCamera,
  random: Random,
  params: Partial<Raycaster['params']>,
  far: number,
): Promise<{ faults: string[]; hits: number }> {
  const faults: string[] = [];
  let hits = 0;
  const raycaster = new Raycaster();
  raycaster.params = { ...raycaster.params, ...params };
  const objects = shown(root);
  const drawn = objects.filter(isThin).map(({ geometry, matrixWorld }) => {
    return { position: geometry.attributes.position, matrixWorld };
  });
  await Promise.all(
    Array.from({ length: PICKS }, async () => {
      const [x, y] = pixelNear(random, drawn, camera, 4);
      raycaster.setFromCamera(new Vector2((x / SIZE.width) * 2 - 1, 1 - (y / SIZE.height) * 2), camera);
      const { near, far: end, ray } = raycaster;
      const { origin, direction } = ray.clone();
      // three closes a LineLoop whose draw range begins beyond its vertices with a vertex that does not exist: at NaN.
      const expected = raycaster.intersectObjects(objects, false).filter(({ distance }) => !Number.isNaN(distance));
      // A pick begins on the near plane, and three's ray at the eye.
      if (expected.length > 0 && expected[0].distance < 2 * camera.near) return;
      const all = tracker.pickAll(x, y, { params });
      const first = await tracker.pick(x, y, { params });
      const cast = await tracker.raycastAll({ origin, direction, tMin: near, tMax: end }, { params });
      const scale = Math.max(expected[0]?.distance ?? 0, 1) + far;
      if (first !== null && isMissedByThree(first)) return;
      const what = (hit: Intersection | null) => (hit === null ? 'nothing' : `${hit.object.name} ${hit.index}`);
      if ((first === null) !== (expected.length === 0)) {
        faults.push(`${what(first)} instead of ${what(expected[0] ?? null)}`);
      }
      hits += expected.length > 0 ? 1 : 0;
      if (first !== null && first.distance > expected[0].distance + TOLERANCE * scale) faults.push('not the nearest');
      const lists = [await all, cast].map((list) => list.filter((hit) => !isMissedByThree(hit)));
      for (const found of lists) {
        if (found.length !== expected.length) faults.push(`${found.length} hits instead of ${expected.length}`);
      }
      for (const hit of [...lists.flat(), ...(first === null ? [] : [first])]) {
        if (hit.object instanceof Mesh) continue; // these are checked in picks.test
        const fault = faultOf(hit, expected, scale);
        if (fault !== null) faults.push(fault);
      }
    }),
  );
  return { faults, hits };
}

function dots(...at: number[]): BufferGeometry {
  return new BufferGeometry().setAttribute('position', new BufferAttribute(Float32Array.from(at), 3));
}

describe('without params', () => {
  test('a pick hits within 4 pixels of the cursor, whatever the distance', async () => {
    const [near, far] = [new Points(dots(-1, 0, 5)), new Line(dots(20, -40, -80, 20, 40, -80))];
    const tracker = await track(service, new Scene().add(near, far));
    const height = SIZE.height / 2 / Math.tan((25 * Math.PI) / 180);
    const [x, onLine] = [SIZE.width / 2 - height / 5, SIZE.width / 2 + (20 * height) / 90];
    for (const [at, object] of [
      [x, near],
      [onLine, far],
    ] as const) {
      expect((await tracker.pick(at + 3.9, SIZE.height / 2))?.object).toBe(object);
      expect((await tracker.pickAll(at - 3.9, SIZE.height / 2)).map((hit) => hit.object)).toEqual([object]);
      expect(await tracker.pick(at + 4.1, SIZE.height / 2)).toBeNull();
      expect((await tracker.pick(at + 9, SIZE.height / 2, { radius: 10 }))?.object).toBe(object);
      expect(await tracker.pick(at + 3.9, SIZE.height / 2, { radius: 0 })).toBeNull();
    }
  });

  test('a ray hits none, and with params that name nothing as three does by default', async () => {
    const points = new Points(dots(0.9, 0, 0));
    const tracker = await track(service, new Scene().add(points));
    const ray = { origin: new Vector3(0, 0, 10), direction: new Vector3(0, 0, -1) };
    expect(await tracker.raycast(ray)).toBeNull();
    expect((await tracker.raycast(ray, { params: {} }))?.object).toBe(points);
    points.position.x = 0.2;
    await tracker.update(frontCamera(), SIZE);
    expect(await tracker.raycast(ray, { params: {} })).toBeNull();
  });
});

test('params and a radius are not taken together, and neither is what is no number', async () => {
  const tracker = await track(service, new Scene().add(new Points(dots(0, 0, 0))));
  const refuse = (options: object) => expect(tracker.pick(1, 1, options)).rejects;
  await refuse({ params: {}, radius: 3 }).toThrow(/^pick: radius is 3, expected none with `params`/);
  await refuse({ params: 3 }).toThrow(/^pick: params is 3/);
  await refuse({ params: { Line: { threshold: -1 } } }).toThrow(/^pick: params.Line.threshold is -1/);
  const ray = { origin: [0, 0, 1], direction: [0, 0, -1] } as const;
  await expect(tracker.raycast(ray, { params: { Points: { threshold: Number.NaN } } })).rejects.toThrow(
    /^raycast: params.Points.threshold is NaN/,
  );
});

test('regions, frusta, the closest point and sight know them', async () => {
  const line = new LineSegments(dots(-2, 1, 0, 2, 1, 0));
  const points = new Points(dots(-3, -1, 0, 3, -1, 0));
  const tracker = await track(service, new Scene().add(line, points));
  const frame = await tracker.update(frontCamera(), SIZE);
  const seen: Object3D[] = [];
  frame.forEachVisible(({ object }) => seen.push(object));
  expect(new Set(seen)).toEqual(new Set([line, points]));
  const [width, middle] = [SIZE.width, SIZE.height / 2];
  expect(await tracker.pickRegion({ x: 0, y: 0, width, height: middle })).toEqual([line]);
  expect(await tracker.pickRegion({ x: 0, y: middle, width, height: middle }, { mode: 'enclose' })).toEqual([points]);
  const nearest = (await tracker.closestPoint([0, 4, 0]))!;
  expect(nearest.object).toBe(line);
  expect([nearest.point.toArray(), nearest.face, nearest.faceIndex]).toEqual([[0, 1, 0], null, null]);
  expect((await tracker.sees([points, line])).map(({ object }) => object)).toEqual([points, line]);
  expect((await tracker.pick(width / 2, middle + 10, { method: 'screen', radius: 400 }))?.object).toBe(points);
});

test('a strange object before them is passed over', async () => {
  const points = new Points(dots(0, 0, 0));
  const tracker = await track(service, new Scene().add(points));
  service.addObject({ shape: { type: 'sphere', radius: 0.5, center: [0, 0, 3] } });
  expect((await pickCenter(tracker))?.object).toBe(points);
  expect((await tracker.pick(400, 300, { params: { Points: { threshold: 0.1 } } }))?.object).toBe(points);
});

test('what has no vertices, or bad ones, is left out until it has some', async () => {
  const points = new Points(new BufferGeometry());
  const bad = new Line(dots(0, 0, 0, Number.NaN, 0, 0));
  const good = new Points(dots(0, 0, 0));
  const scene = new Scene().add(points, bad, good);
  const tracker = await track(service, scene);
  expect([...tracker.untracked.keys()]).toEqual([points, bad]);
  for (const { code } of tracker.untracked.values()) expect(code).toBe('BAD_DATA');
  expect((await pickCenter(tracker))?.object).toBe(good);
  points.geometry = dots(0, 0, 1);
  bad.geometry = dots(-1, 0, 2, 1, 0, 2);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect((await tracker.pickAll(400, 300)).map(({ object }) => object)).toEqual([bad, points, good]);
  bad.removeFromParent();
  points.visible = false;
  await tracker.update(frontCamera(), SIZE);
  expect((await tracker.pickAll(400, 300, { params: {} })).map(({ object }) => object)).toEqual([good]);
});

test('one geometry is drawn as triangles, lines and points', async () => {
  const geometry = cube(2).geometry;
  const objects = [new Mesh(geometry), new Points(geometry), new LineSegments(geometry), new LineLoop(geometry)];
  for (const [i, object] of objects.entries()) object.position.x = 4 * i - 6;
  const tracker = await track(service, new Scene().add(...objects));
  expect(service.stats.meshes).toBe(4);
  const raycaster = new Raycaster(new Vector3(0, 0, 10), new Vector3(0, 0, -1));
  raycaster.params.Points = { threshold: 0.2 };
  raycaster.params.Line = { threshold: 0.2 };
  for (let x = -8; x < 8; x += 0.37) {
    raycaster.ray.origin.set(x, 0.95, 10);
    const expected = raycaster.intersectObjects(objects);
    const { origin, direction } = raycaster.ray;
    const found = await tracker.raycastAll({ origin, direction }, { params: raycaster.params });
    const hits = found.filter((hit) => !isMissedByThree(hit));
    expect(hits.map((hit) => [hit.object.id, indexInThree(hit), hit.faceIndex]).sort()).toEqual(
      expected.map(({ object, index, faceIndex = null }) => [object.id, index, faceIndex]).sort(),
    );
  }
});

test.each([
  [5, 0.05, 0.05],
  [1, 1, -2],
])('a geometry without a sphere, scaled by %d, %d, %d', async (...scale) => {
  const random = new Random(SEED);
  const at = Array.from({ length: 60 }, () => random.range(-1, 1));
  const objects = [new Points(dots(...at)), new Line(dots(...at))];
  for (const object of objects) object.scale.set(...scale);
  const tracker = await track(service, new Scene().add(...objects));
  const raycaster = new Raycaster();
  for (let i = 0; i < 200; i++) {
    const threshold = random.pick([0, 0.1, 1]);
    raycaster.params.Points = raycaster.params.Line = { threshold };
    raycaster.set(random.point(4).setZ(9), new Vector3(0, 0, -1));
    const { origin, direction } = raycaster.ray;
    const keys = (hits: Intersection[]) => hits.map(({ object, index }) => `${object.type} ${index}`).sort();
    const found = await tracker.raycastAll({ origin, direction }, { params: raycaster.params });
    expect(keys(found)).toEqual(keys(raycaster.intersectObjects(objects)));
  }
});

test('large ones are copied in slices', async () => {
  const count = 90_000;
  const random = new Random(SEED);
  const positions = Float32Array.from({ length: 3 * count }, () => random.range(-2, 2));
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  const [line, points] = [new LineLoop(geometry), new Points(geometry)];
  geometry.computeBoundingSphere();
  const tracker = await track(service, new Scene().add(line, points));
  const raycaster = new Raycaster();
  raycaster.params.Points = raycaster.params.Line = { threshold: 0.01 };
  for (let i = 0; i < 20; i++) {
    raycaster.set(random.point(1).add(new Vector3(0, 0, 9)), new Vector3(0, 0, -1));
    const { origin, direction } = raycaster.ray;
    const keys = (hits: Intersection[]) => hits.map(({ object, index }) => `${object.id} ${index}`).sort();
    const found = await tracker.raycastAll({ origin, direction }, { params: raycaster.params });
    expect(keys(found)).toEqual(keys(raycaster.intersectObjects([line, points])));
  }
});

test('a pick looks past objects of others at what is near the cursor', async () => {
  const points = new Points(new BufferGeometry().setFromPoints([new Vector3(), new Vector3(3, 0, 0)]));
  const tracker = await track(service, new Scene().add(points));
  for (const z of [3, 4]) {
    const matrix = new Matrix4().makeTranslation(0, 0, z).elements;
    service.addObject({ shape: { type: 'sphere', radius: 0.5 }, matrix, contacts: 'none' });
  }
  await tracker.update(frontCamera(), SIZE);
  expect(await pickCenter(tracker)).toMatchObject({ object: points, index: 0 });
  const beside = await tracker.pick(SIZE.width / 2 + 3, SIZE.height / 2, { radius: 4 });
  expect(beside).toMatchObject({ object: points, index: 0 });
  expect(await tracker.pick(SIZE.width / 2 + 3, SIZE.height / 2, { radius: 2 })).toBeNull();
});
