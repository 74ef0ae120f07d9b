// Points and lines against three's own Raycaster, in nested groups. three divides its threshold by the mean of the object's own
// scale, whatever the groups above it do, and compares in the object's space; and it skips objects whose bounding sphere the ray
// misses by more than the threshold in the world. The adapter therefore asks with a threshold for each object.
import { createCollisionService, type Hit, type QueryOptions } from 'collision-worker';
import {
  BufferAttribute,
  BufferGeometry,
  Group,
  Line,
  LineLoop,
  LineSegments,
  Points,
  Raycaster,
  Scene,
  Sphere,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import type { AdapterQuery } from '../../../src/client/query/query-options.js';
import { PLACES } from '../../fixtures/near-scene.js';
import { type Elements, elementsIn } from '../../oracle/points-lines.js';
import { Random, SEED } from '../../oracle/random.js';

const CLASSES = {
  Points: (geometry: BufferGeometry) => new Points(geometry),
  LineSegments: (geometry: BufferGeometry) => new LineSegments(geometry),
  Line: (geometry: BufferGeometry) => new Line(geometry),
  LineLoop: (geometry: BufferGeometry) => new LineLoop(geometry),
};
type Kind = keyof typeof CLASSES;

interface Drawn {
  object: Points | Line;
  elements: Elements;
  /** three's `index` of an element. */
  indexOf(element: number): number;
}

/** An object of three, and the elements that it draws. */
function drawn(random: Random, kind: Kind): Drawn {
  const count = 2 + 2 * random.integer(random.pick([2, 40]));
  const indexed = random.chance(0.5);
  const vertices = elementsIn(random, 'points', count, { indexed, degenerate: false });
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(vertices.positions, 3));
  if (vertices.indices) geometry.setIndex(new BufferAttribute(vertices.indices, 1));
  const object = CLASSES[kind](geometry);
  const at = (i: number) => vertices.indices?.[i] ?? i;
  if (kind === 'Points') return { object, elements: vertices, indexOf: at };
  const step = kind === 'LineSegments' ? 2 : 1;
  const indices: number[] = [];
  for (let i = 0; i + 1 < count; i += step) indices.push(at(i), at(i + 1));
  if (kind === 'LineLoop') indices.push(at(count - 1), at(0));
  const elements: Elements = { topology: 'lines', positions: vertices.positions, indices: Uint32Array.from(indices) };
  return { object, elements, indexOf: (element) => element * step };
}

/** Under groups with any transforms, near the place. */
function nested(random: Random, objects: readonly (Points | Line)[], place: Vector3): Scene {
  const scene = new Scene();
  scene.position.copy(place);
  for (const object of objects) {
    let parent: Scene | Group = scene;
    for (let i = random.integer(3); i > 0; i--) {
      const group = new Group();
      form(random, group);
      parent.add(group);
      parent = group;
    }
    form(random, object);
    parent.add(object);
  }
  scene.updateMatrixWorld();
  return scene;
}

function form(random: Random, object: Group | Points | Line): void {
  object.position.copy(random.point(2));
  object.quaternion.copy(random.rotation());
  object.scale.set(random.logRange(0.3, 3), random.logRange(0.3, 3), random.logRange(0.3, 3));
  // A mirrored one may have any mean; one of 0 or less makes no sense, and neither does three's threshold then.
  if (random.chance(0.3)) object.scale.x *= -0.3;
}

const meanOf = ({ scale }: Points | Line) => (scale.x + scale.y + scale.z) / 3;

describe.each(Object.keys(CLASSES) as Kind[])('%s', (kind) => {
  test.each(PLACES)(`are hit as three hits them, %s (seed ${SEED})`, { timeout: 120_000 }, async (_, place) => {
    const random = new Random(SEED);
    const service = await createCollisionService();
    const raycaster = new Raycaster();
    let [hitCount, borders] = [0, 0];
    for (let round = 0; round < 50; round++) {
      const all = Array.from({ length: 4 }, () => drawn(random, kind));
      nested(
        random,
        all.map(({ object }) => object),
        place,
      );
      const ids: number[] = [];
      for (const { object, elements } of all) {
        const mesh = await service.addMesh(elements);
        ids.push(service.addObject({ shape: { type: 'mesh', mesh }, matrix: object.matrixWorld.elements }));
      }
      for (let i = 0; i < 100; i++) {
        const target = new Vector3(0.5, 0.5, 0.5).applyMatrix4(random.pick(all).object.matrixWorld);
        const origin = random.point(random.pick([2, 10])).add(place);
        raycaster.set(origin, target.sub(origin).add(random.point(1)).normalize());
        raycaster.near = random.pick([0, 0, 0.5]);
        raycaster.far = random.pick([Infinity, 6]);
        const threshold = random.pick([0.02, 0.1, 0.5]);
        raycaster.params.Points.threshold = threshold;
        raycaster.params.Line.threshold = threshold;
        const expected = all.flatMap(({ object }, k) =>
          meanOf(object) > 0 ? raycaster.intersectObject(object).map((hit) => ({ ...hit, id: ids[k] })) : [],
        );
        const ownThresholds = new Map<number, number>();
        for (const [k, { object }] of all.entries()) {
          const sphere = new Sphere()
            .copy(object.geometry.boundingSphere ?? boundsOf(object))
            .applyMatrix4(object.matrixWorld);
          sphere.radius += threshold;
          const isLookedAt = meanOf(object) > 0 && raycaster.ray.intersectsSphere(sphere);
          if (isLookedAt) ownThresholds.set(ids[k], threshold / meanOf(object));
        }
        const ignore = ids.filter((id) => !ownThresholds.has(id));
        const options: QueryOptions & AdapterQuery = { ownThresholds, ignore };
        const ray = {
          ...{ origin: origin.toArray(), direction: raycaster.ray.direction.toArray() },
          ...{ tMin: raycaster.near, tMax: raycaster.far },
        };
        const hits = await service.raycastAll(ray, options);
        hitCount += hits.length;
        // three transforms to the object's space and back: by exact
        // arithmetic, it is up to 7.5e-9 off at 10⁶, where ours is 6e-11 off.
        const slack = 1e-12 + place.length() * 5e-15;
        const same = (hit: Hit, each: (typeof expected)[number]) =>
          hit.object === each.id && all[ids.indexOf(hit.object)].indexOf(hit.element) === each.index;
        for (const each of expected) {
          const found = hits.filter((hit) => same(hit, each));
          if (found.length === 0) borders++;
          else if (!found.some((hit) => isAlike(hit, each, slack))) {
            expect.fail(
              `${kind} in round ${round}, ray ${i}: ${JSON.stringify(found)}, expected ${JSON.stringify({ ...each, object: 0 })}`,
            );
          }
        }
        for (const hit of hits) if (!expected.some((each) => same(hit, each))) borders++;
      }
      for (const id of ids) service.removeObject(id);
    }
    service.dispose();
    expect(hitCount).toBeGreaterThan(1000);
    // Elements at the threshold to within rounding.
    expect(borders).toBeLessThanOrEqual(place.length() > 0 ? 3 : 0);
  });
});

function boundsOf({ geometry }: Points | Line): Sphere {
  geometry.computeBoundingSphere();
  return geometry.boundingSphere!;
}

function isAlike(
  { distance, distanceToRay, point }: Hit,
  three: { distance: number; distanceToRay?: number | undefined; point: Vector3 },
  slack: number,
): boolean {
  if (!(Math.abs(distance - three.distance) <= 1e-6 * three.distance + slack)) return false;
  if (!(new Vector3(...point).distanceTo(three.point) <= 1e-6 * three.distance + slack)) return false;
  if (three.distanceToRay === undefined) return true;
  return Math.abs(distanceToRay! - three.distanceToRay) <= 1e-6 * three.distanceToRay + slack;
}
