import type { Hit, QueryOptions } from 'collision-worker';
import { Matrix3, Ray, Triangle, Vector3 } from 'three';
import { cornerOf, type Placed } from '../oracle/placed.js';
import type { Random } from '../oracle/random.js';
import type { Twin } from './twin.js';

const TOLERANCE = 1e-6;

/** Relative to the distance; and no coordinate can be told more exactly than float64 holds it. */
function tolerance(distance: number, ray: Ray): number {
  return TOLERANCE * distance + 4 * Number.EPSILON * ray.origin.length();
}

/** From all around, outside a cube, to points in it. */
export function aimedRays(random: Random, count: number, middle: Vector3, halfSize: number): Ray[] {
  return Array.from({ length: count }, () => {
    const origin = random
      .direction()
      .multiplyScalar(3 * halfSize)
      .add(middle);
    const target = random.point(halfSize).add(middle);
    return new Ray(origin, target.sub(origin).normalize());
  });
}

export interface ExpectedHit {
  id: number;
  distance: number;
}

/** Casts the rays in the service; a line for each answer that is wrong. `expected` has all hits of each ray. */
export async function differences(
  twin: Twin,
  rays: readonly Ray[],
  options: QueryOptions & { tMin?: number; tMax?: number },
  expected: readonly ExpectedHit[][],
): Promise<string[]> {
  const { tMin = 0, tMax = Infinity, ...query } = options;
  const hits = await Promise.all(
    rays.map(({ origin, direction }) =>
      twin.service.raycast({ origin: origin.toArray(), direction: direction.toArray(), tMin, tMax }, query),
    ),
  );
  return hits.flatMap((hit, i) => {
    const fault =
      difference(hit, rays[i], expected[i]) ?? (hit && inconsistency(hit, rays[i], twin.items.get(hit.object)!));
    return fault ? [`ray ${i}: ${fault}`] : [];
  });
}

/** The nearest hit is right; at equal distance any of them is. */
export function difference(hit: Hit | null, ray: Ray, expected: readonly ExpectedHit[]): string | null {
  const distance = Math.min(...expected.map((of) => of.distance));
  if (hit === null) return expected.length > 0 ? `missed what is at ${distance}` : null;
  if (expected.length === 0) return `hit ${hit.object} at ${hit.distance} where nothing is`;
  const slack = tolerance(distance, ray);
  if (Math.abs(hit.distance - distance) > slack) return `hit at ${hit.distance} instead of ${distance}`;
  const tied = expected.filter((of) => of.distance - distance <= slack);
  return tied.some(({ id }) => id === hit.object) ? null : `hit ${hit.object} instead of ${tied[0].id}`;
}

/** Whether the parts of a hit fit each other: the point lies on the ray, on the triangle by its weights, and so on. */
export function inconsistency(hit: Hit, ray: Ray, item: Placed): string | null {
  const near = (a: Vector3, b: Vector3) => a.distanceTo(b) <= tolerance(hit.distance, ray);
  const point = new Vector3(...hit.point);
  if (!near(point, ray.at(hit.distance, new Vector3()))) return `its point ${hit.point} is not on the ray`;
  const [surfacePoint, normals] = item.shape.mesh ? onTriangle(hit, item) : onBox(point, item);
  if (!near(point, surfacePoint)) return `its point ${hit.point} is not on triangle ${hit.triangle}`;
  if (hit.barycentric.some((weight) => weight < -TOLERANCE)) return `barycentric ${hit.barycentric} is outside`;
  const normal = new Vector3(...hit.normal);
  if (!normals.some((of) => of.distanceTo(normal) < TOLERANCE)) return `normal ${hit.normal} is not its face's`;
  return null;
}

function onTriangle(hit: Hit, item: Placed): [point: Vector3, normals: Vector3[]] {
  const corners = [0, 1, 2].map((corner) => cornerOf(item.shape.mesh!, 3 * hit.triangle + corner));
  const point = new Vector3();
  corners.forEach((corner, i) => {
    point.addScaledVector(corner.clone().applyMatrix4(item.matrix), hit.barycentric[i]);
  });
  const [a, b, c] = corners;
  const normal = Triangle.getNormal(a, b, c, new Vector3());
  return [point, [normal.applyNormalMatrix(new Matrix3().getNormalMatrix(item.matrix))]];
}

/** The point drawn to the face that it is nearest to, and the normals of all that it is on. */
function onBox(point: Vector3, item: Placed): [point: Vector3, normals: Vector3[]] {
  const matrix = item.matrix.clone().multiply(item.shape.bounds);
  const local = point.clone().applyMatrix4(matrix.clone().invert());
  const height = Math.max(...local.toArray().map(Math.abs));
  const faces = [0, 1, 2].filter((axis) => height - Math.abs(local.getComponent(axis)) < TOLERANCE);
  const normals = faces.map((axis) =>
    new Vector3()
      .setComponent(axis, Math.sign(local.getComponent(axis)))
      .applyNormalMatrix(new Matrix3().getNormalMatrix(matrix)),
  );
  return [local.divideScalar(height).applyMatrix4(matrix), normals];
}

/** Asks a query that ignores a fifth of the twin's objects and sees some layers, while another fifth is not pickable. */
export async function amongSome(
  twin: Twin,
  layersOf: ReadonlyMap<number, number>,
  ask: (options: QueryOptions, seen: Placed[]) => Promise<void>,
): Promise<void> {
  const layers = 0b101;
  const ids = [...twin.items.keys()];
  const ignore = ids.filter((_, i) => i % 5 === 0);
  const unpickable = ids.filter((_, i) => i % 5 === 1);
  for (const id of unpickable) twin.service.setObject(id, { pickable: false });
  const seen = [...twin.items.values()].filter(
    ({ id }) => layersOf.get(id)! & layers && !ignore.includes(id) && !unpickable.includes(id),
  );
  await ask({ layers, ignore }, seen);
  for (const id of unpickable) twin.service.setObject(id, { pickable: true });
}
