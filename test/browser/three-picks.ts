import type { CollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  InstancedMesh,
  type Intersection,
  Mesh,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Vector2 as Pixel,
  Raycaster,
  type Vector2,
  type Vector3,
} from 'three';
import type { Random } from '../oracle/random.js';

export const SIZE = { width: 800, height: 600 };
const TOLERANCE = 1e-6;
/** Of what is interpolated: float32 corners and weights from two ways of computing the point. */
const LOOSE = 1e-4;

export type AnyCamera = PerspectiveCamera | OrthographicCamera;

/** From a random direction, looking at the middle. The near plane cuts off nothing that three's Raycaster would hit. */
export function randomCamera(random: Random, radius: number): AnyCamera {
  const aspect = SIZE.width / SIZE.height;
  const camera = random.chance(0.5)
    ? new PerspectiveCamera(50, aspect, 1e-3, 1e4)
    : new OrthographicCamera(-radius * aspect, radius * aspect, radius, -radius, 0, 1e4);
  camera.position.copy(random.direction().multiplyScalar(random.range(0.6, 2.5) * radius));
  camera.lookAt(random.point(radius / 4));
  return camera;
}

/** On the z axis, looking at the origin from a distance of 10. */
export function frontCamera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(50, SIZE.width / SIZE.height, 0.1, 100);
  camera.position.z = 10;
  return camera;
}

/** A tracker of `root` whose first frames are done. */
export async function track(
  service: CollisionService,
  root: Object3D,
  camera: AnyCamera = frontCamera(),
): Promise<SceneTracker> {
  const tracker = await trackScene(service, root);
  await settle(tracker, camera);
  return tracker;
}

export function pickMiddle(tracker: SceneTracker): Promise<Intersection | null> {
  return tracker.pick(SIZE.width / 2, SIZE.height / 2);
}

/** Updates until everything in the scene is built and stands, and what has no place is hidden. */
export async function settle(tracker: SceneTracker, camera: AnyCamera): Promise<void> {
  do await tracker.update(camera, SIZE);
  while (tracker.pending.length > 0);
  await tracker.update(camera, SIZE);
}

/** Picks at random pixels; a line for each answer that is not three's. Counts the hits, too. */
export async function comparePicks(
  tracker: SceneTracker,
  root: Object3D,
  camera: AnyCamera,
  random: Random,
  count: number,
): Promise<{ faults: string[]; hits: number }> {
  const pixels = Array.from({ length: count }, () => pixelOf(random));
  const picks = await Promise.all(pixels.map(({ x, y }) => tracker.pick(x, y)));
  const expected = expectation(root, camera);
  const faults = pixels.flatMap((pixel, i) => {
    const fault = faultOf(picks[i], expected(pixel));
    return fault === null ? [] : [`pixel ${pixel.toArray()}: ${fault}`];
  });
  return { faults, hits: picks.filter((pick) => pick !== null).length };
}

/** The same with all that lies under the pixels. */
export async function comparePickAlls(
  tracker: SceneTracker,
  root: Object3D,
  camera: AnyCamera,
  random: Random,
  count: number,
): Promise<{ faults: string[]; hits: number }> {
  const expectedAt = expectation(root, camera);
  const faults: string[] = [];
  let hits = 0;
  for (let i = 0; i < count; i++) {
    const pixel = pixelOf(random);
    const picks = await tracker.pickAll(pixel.x, pixel.y);
    const expected = expectedAt(pixel);
    const isOrdered = picks.every(({ distance }, j) => j === 0 || picks[j - 1].distance <= distance);
    if (!isOrdered) faults.push(`pixel ${pixel.toArray()}: not nearest first`);
    if (picks.length !== expected.length) {
      faults.push(`pixel ${pixel.toArray()}: ${picks.length} hits instead of ${expected.length}`);
    }
    for (const pick of picks) {
      const near = expected.filter(({ distance }) => Math.abs(distance - pick.distance) <= TOLERANCE * distance);
      const fault = faultOf(pick, near);
      if (fault !== null) faults.push(`pixel ${pixel.toArray()}: ${fault}`);
    }
    hits += picks.length;
  }
  return { faults, hits };
}

function pixelOf(random: Random): Vector2 {
  return new Pixel(random.next() * SIZE.width, random.next() * SIZE.height);
}

/** What three's Raycaster finds under a pixel. */
function expectation(root: Object3D, camera: AnyCamera): (pixel: Vector2) => Intersection[] {
  const objects = shown(root);
  const raycaster = new Raycaster();
  raycaster.layers.mask = camera.layers.mask;
  return (pixel) => {
    raycaster.setFromCamera(toClip(pixel), camera);
    return raycaster.intersectObjects(objects, false);
  };
}

/** three's Raycaster hits invisible objects, too; nobody sees them, so the tracker does not. */
function shown(root: Object3D): Object3D[] {
  const found: Object3D[] = [];
  root.traverseVisible((object) => {
    if (!(object instanceof Mesh)) return;
    // three scales the sphere around a mesh by the longest axis of its matrix, too little for a sheared one.
    object.geometry.computeBoundingSphere();
    object.geometry.boundingSphere.radius *= 4;
    if (object instanceof InstancedMesh) object.computeBoundingSphere();
    found.push(object);
  });
  return found;
}

function toClip({ x, y }: Vector2): Vector2 {
  return new Pixel((x / SIZE.width) * 2 - 1, 1 - (y / SIZE.height) * 2);
}

function faultOf(pick: Intersection | null, expected: Intersection[]): string | null {
  if (pick === null) return expected.length === 0 ? null : `missed ${describe(expected[0])}`;
  if (expected.length === 0) return `hit ${describe(pick)} where nothing is`;
  const nearest = expected[0].distance;
  const near = expected.filter(({ distance }) => distance - nearest <= TOLERANCE * nearest);
  const twin = near.find(
    ({ object, instanceId, faceIndex, face }) =>
      object === pick.object &&
      instanceId === pick.instanceId &&
      faceIndex === pick.faceIndex &&
      face!.materialIndex === pick.face?.materialIndex,
  );
  if (twin !== undefined) return differenceOf(pick, twin);
  // On an edge, either of its triangles is right.
  const { x, y, z } = pick.barycoord!;
  const isOnEdge = Math.min(x, y, z) < TOLERANCE;
  const neighbour = near.find(({ object, instanceId }) => object === pick.object && instanceId === pick.instanceId);
  if (isOnEdge && neighbour !== undefined) return null;
  return `hit ${describe(pick)} instead of ${describe(expected[0])}`;
}

function differenceOf(pick: Intersection, twin: Intersection): string | null {
  const scale = twin.distance;
  const { face } = twin;
  const checks: [string, boolean][] = [
    ['distance', Math.abs(pick.distance - twin.distance) <= TOLERANCE * scale],
    ['point', pick.point.distanceTo(twin.point) <= TOLERANCE * scale],
    ['face', pick.face?.a === face?.a && pick.face?.b === face?.b && pick.face?.c === face?.c],
    ['face normal', isNear(pick.face!.normal, face!.normal, TOLERANCE)],
    ['barycoord', isNear(pick.barycoord, twin.barycoord, LOOSE)],
    ['uv', isNear(pick.uv, twin.uv, LOOSE)],
    ['uv1', isNear(pick.uv1, twin.uv1, LOOSE)],
    ['normal', isNear(pick.normal, twin.normal, LOOSE)],
    ['keys', Object.keys(pick).sort().join() === Object.keys(twin).sort().join()],
  ];
  const wrong = checks.filter(([, isRight]) => !isRight).map(([name]) => name);
  return wrong.length === 0 ? null : `${wrong.join(', ')} of ${describe(pick)}`;
}

function isNear<T extends Vector2 | Vector3>(
  a: T | null | undefined,
  b: T | null | undefined,
  tolerance: number,
): boolean {
  if (!a || !b) return a === b;
  return a.toArray().every((value, i) => Math.abs(value - b.toArray()[i]) <= tolerance);
}

function describe({ object, instanceId, faceIndex, distance }: Intersection): string {
  return `${object.name} instance ${instanceId} face ${faceIndex} at ${distance}`;
}
