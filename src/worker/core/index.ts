// What the worker calls. Addresses and counts in, codes and addresses out; core.ts is the other side.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, RAY_DIRECTION, RAY_ORIGIN, RAY_T_MAX,
  RAY_T_MIN,
} from '../../shared/layout';
import { hitAt, hitCount } from './hits';
import { checksum } from './mesh/tree/checksum';
import { Affine } from './math/affine';
import { checkTree } from './mesh/tree/tree-invariants';
import { Build } from './mesh/build/build';
import { forgetDerived } from './mesh/topology/derived';
import { Mesh } from './mesh/tree/layout';
import { release } from './memory';
import { REFIT_OK, culprit, refit, refitBytes } from './mesh/tree/refit';
import { intersectMeshes, meshesMeet, noWitness, pairCount, pairs } from './mesh/query/mesh-pair';
import { ALL, ANY, NEAREST } from './mesh/query/ray';
import { checkScene } from './scene/scene-invariants';
import { setFilter } from './scene/query/filter';
import {
  castRay, findNormal, foundDistance, foundNormalX, foundNormalY, foundNormalZ, foundObject, foundTriangle, foundU, foundV,
  foundW, pointX, pointY, pointZ,
} from './scene/query/ray';
import { reshape } from './scene/mesh-swap';
import { updateTrees } from './scene/scene';

export { allocate, release, usedBytes } from './memory';
export { beginBuild, reserveBuild, stepBuild, freeBuild } from './mesh/build/build';
export { checkMesh } from './mesh/tree/validate-baked';
export { contact, contactCrossingCount, contactCrossings, contactPointCount, contactPoints } from './scene/pairs/pair-query';
export { putObject, removeObject } from './scene/scene';
import { slotCount } from './scene/objects';
import { setSeen as setSeenIn } from './scene/view/views';

export { removeView } from './scene/view/views';
export { placeFrame, runFrame } from './scene/frame/frame';
export { setPairs } from './scene/pairs/pairs';
export { foundIds } from './scene/query/result-ids';
export { closestPoint, containing, overlap } from './scene/query/proximity';
export { frustumOfPlanes, frustumOfView, foundInside } from './scene/query/frustum';
export { pickRegion } from './scene/query/region';
export { pickScreen } from './scene/query/screen';
export { sees } from './scene/query/line-of-sight';

export function buildPositions(build: usize): usize {
  return changetype<Build>(build).positions;
}

export function buildIndices(build: usize): usize {
  return changetype<Build>(build).indices;
}

export function buildError(build: usize): u32 {
  return changetype<Build>(build).error;
}

export function buildCulprit(build: usize): u32 {
  return changetype<Build>(build).culprit;
}

/** Hands the finished mesh over: freeing the build leaves it alone. */
export function takeMesh(build: usize): usize {
  const mesh = changetype<Build>(build).mesh;
  changetype<Build>(build).mesh = 0;
  return mesh;
}

/** Makes a mesh one that `checkMesh` takes for good. */
export function sealMesh(address: usize): void {
  forgetDerived(changetype<Mesh>(address));
  changetype<Mesh>(address).checksum = checksum(changetype<Mesh>(address));
}

export function refitScratch(address: usize): usize {
  return refitBytes(changetype<Mesh>(address));
}

export function freeMesh(address: usize): void {
  forgetDerived(changetype<Mesh>(address));
  release(address);
}

/** REFIT_*. The vertices, f32 xyz each, and `refitScratch` bytes. */
export function refitMesh(address: usize, positions: usize, scratch: usize): u32 {
  const mesh = changetype<Mesh>(address);
  const fault = refit(mesh, positions, scratch);
  if (fault == REFIT_OK) {
    forgetDerived(mesh);
    reshape(mesh, mesh);
  }
  return fault;
}

export function refitCulprit(): u32 {
  return culprit;
}

/** Puts one mesh in the place of another, for all objects. */
export function replaceMesh(from: usize, to: usize): void {
  reshape(changetype<Mesh>(from), changetype<Mesh>(to));
}

export function checkMeshTree(address: usize): u32 {
  return checkTree(changetype<Mesh>(address));
}

/** `matrix`: 12 f64, b's mesh space to a's. Answers how many pairs of triangles meet; only 0 or 1 unless `all`. */
export function meshPairs(a: usize, b: usize, matrix: usize, all: bool): u32 {
  const meshA = changetype<Mesh>(a), meshB = changetype<Mesh>(b), map = changetype<Affine>(matrix);
  if (!all) return <u32>meshesMeet(meshA, meshB, map, noWitness());
  intersectMeshes(meshA, meshB, map);
  return pairCount;
}

/** Address of what `meshPairs` found last: two u32 per pair, a's triangle and b's. */
export function foundPairs(): usize {
  return pairs;
}

export function setSeen(view: u32, ids: usize, count: u32): void {
  setSeenIn(view, ids, count, slotCount);
}

export function check(): u32 {
  return checkScene();
}

function cast(ray: usize, filter: usize, mode: u32): bool {
  updateTrees();
  setFilter(filter);
  return castRay(
    load<f64>(ray, RAY_ORIGIN), load<f64>(ray, RAY_ORIGIN + 8), load<f64>(ray, RAY_ORIGIN + 16),
    load<f64>(ray, RAY_DIRECTION), load<f64>(ray, RAY_DIRECTION + 8), load<f64>(ray, RAY_DIRECTION + 16),
    load<f64>(ray, RAY_T_MIN), load<f64>(ray, RAY_T_MAX), mode,
  );
}

/** One ray (layout.ts, RAY_*); its nearest hit to `hit` (HIT_*). */
export function raycast(ray: usize, filter: usize, hit: usize): bool {
  if (!cast(ray, filter, NEAREST)) return false;
  findNormal();
  store<u32>(hit, foundObject, HIT_OBJECT);
  store<i32>(hit, foundTriangle, HIT_TRIANGLE);
  store<f64>(hit, foundDistance, HIT_DISTANCE);
  store<f64>(hit, pointX(), HIT_POINT);
  store<f64>(hit, pointY(), HIT_POINT + 8);
  store<f64>(hit, pointZ(), HIT_POINT + 16);
  store<f64>(hit, foundNormalX, HIT_NORMAL);
  store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
  store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  store<f64>(hit, foundU, HIT_BARYCENTRIC);
  store<f64>(hit, foundV, HIT_BARYCENTRIC + 8);
  store<f64>(hit, foundW, HIT_BARYCENTRIC + 16);
  return true;
}

export function anyHit(ray: usize, filter: usize): bool {
  return cast(ray, filter, ANY);
}

/** Every hit of one ray; answers how many. */
export function raycastAll(ray: usize, filter: usize): u32 {
  cast(ray, filter, ALL);
  return hitCount;
}

/** Address of the hits that the last query found: HIT_* each, in no order. */
export function foundHits(): usize {
  return hitAt(0);
}

/**
 * `count` rays of 8 f32 at `rays`: origin, tMin, direction, tMax. Answers by ray: objects u32, triangles i32, distances
 * f64, barycentrics 3 f32.
 */
export function raycastMany(
  filter: usize, rays: usize, count: u32, objects: usize, triangles: usize, distances: usize, barycentrics: usize,
): void {
  updateTrees();
  setFilter(filter);
  for (let i: usize = 0; i < count; i++) {
    const ray = rays + (i << 5);
    const hit = castRay(
      <f64>load<f32>(ray), <f64>load<f32>(ray, 4), <f64>load<f32>(ray, 8),
      <f64>load<f32>(ray, 16), <f64>load<f32>(ray, 20), <f64>load<f32>(ray, 24),
      <f64>load<f32>(ray, 12), <f64>load<f32>(ray, 28), NEAREST,
    );
    store<u32>(objects + (i << 2), hit ? foundObject : 0xffffffff);
    store<i32>(triangles + (i << 2), hit ? foundTriangle : -1);
    store<f64>(distances + (i << 3), hit ? foundDistance : Infinity);
    const weights = barycentrics + i * 12;
    store<f32>(weights, hit ? <f32>foundU : 0);
    store<f32>(weights, hit ? <f32>foundV : 0, 4);
    store<f32>(weights, hit ? <f32>foundW : 0, 8);
  }
}
