// The functions that the worker calls, with addresses and counts as arguments, and codes and addresses as results; core.ts is
// the other side.

import {
  HIT_BARYCENTRIC, HIT_BONE, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE,
  RAY_DIRECTION, RAY_ORIGIN, RAY_T_MAX, RAY_T_MIN,
} from '../../shared/layout';
import { hitAt, hitCount } from './hits';
import { Affine } from './math/affine';
import { checkTree } from './mesh/tree/tree-invariants';
import { DeformBuild, copyTarget, refitDeform, refitDeformBytes } from './mesh/build/bake-deform';
import { Build } from './mesh/build/build-state';
import { beginDerivation as begin } from './mesh/topology/derivation';
import { Derivation, freeDerivation as free } from './mesh/topology/derivation-state';
import { installDerived, markStale, releaseDerived, unwant } from './mesh/topology/derived';
import { copyWhole } from './mesh/topology/pack';
import { bonesAt, deformOf, isDeformable, weightsAt } from './mesh/tree/deform-layout';
import { Mesh, treeScale } from './mesh/tree/layout';
import { release } from './memory';
import { PointLineBuild } from './point-line/build';
import { checkPointLineTree } from './point-line/invariants';
import { copyPointLine, isPointLine, pointLineOf } from './point-line/layout';
import { culprit as refitPointLineCulprit, refitPointLine, refitPointLineBytes } from './point-line/refit';
import { REFIT_OK, culprit, refit, refitBytes } from './mesh/tree/refit';
import { intersectMeshes, meshesMeet, noWitness, pairCount, pairs } from './mesh/query/mesh-pair';
import { ALL, ANY, NEAREST } from './mesh/query/ray';
import { checkScene } from './scene/scene-invariants';
import { setFilter } from './scene/query/filter';
import { castMany } from './scene/query/ray-many';
import { boneOfHit } from './scene/poses';
import {
  castRay, findNormal, foundBone, foundDistanceToRay, foundElement, foundNormalX, foundNormalY, foundNormalZ, foundObject, foundTriangle,
  foundU, foundV, foundW, hitDistance, pointX, pointY, pointZ, setCone,
} from './scene/query/ray';
import { forgetOccluder } from './occlusion/occluder-table';
import { forgetMesh } from './scene/pairs/narrow-phase-slices';
import { arePosesRead } from './scene/frame/frame';
import { reserveSwap, swapMesh } from './scene/mesh-swap';
import { updateTrees } from './scene/scene';

export { beginCheck, stepCheck } from './check-mesh';
export { bakedMesh, beginBake, freeBake, isFresh, readsMesh, stepBake } from './mesh-bake';
export { allocate, release, usedBytes } from './memory';
export { beginUpdate, dropUpdate, stepUpdate, updateBytes, updateCulprit, updatedMesh } from './mesh-update';
export { beginBuild, reserveBuild, reserveBuildDeform, stepBuild, freeBuild } from './mesh/build/build';
export { deriveSecond, joinSecond, mayJoin } from './mesh/build/parted-build';
export { countWanted, keepUp, takeWanted } from './mesh/topology/derived';
export { beginPointLine, freePointLine, reservePointLine, stepPointLine } from './point-line/build';
export { stepDerivation } from './mesh/topology/derivation';
export { holdBoxes } from './shape/box-list';
export { dropList, holdList } from './shared-lists';
export {
  beginContact, beginDistance, beginKeptContact, beginKeptDistance, canMeasure, contactBonePairCount, contactBonePairs, contactCrossingCount, contactCrossings,
  contactPointCount, contactPoints, isLongContact, keepContact, measuredDistance, resumeContact,
  resumeDistance,
} from './scene/pairs/pair-query';
export { mayHaveMesh } from './scene/objects';
export { putObject, removeObject, setLayers } from './scene/scene';
export { removeView, setSeen } from './scene/view/views';
export { putCharacter, removeCharacter } from './scene/character/character-table';
export { areCharactersMoved, beginFrame, goAhead, placeAhead, placeFrame, stepFrame } from './scene/frame/frame';
export { boneOfHit };
export {
  inspectedBoxCount, inspectedBoxes, inspectedElementCount, inspectedElements,
} from './scene/inspect/inspected-boxes';
export { inspectBounds, inspectCells, inspectScene } from './scene/inspect/scene-boxes';
export { beginMeshListing, beginTreeListing, endInspection, inspectedMesh, stepTreeListing } from './scene/inspect/tree-boxes';
export { considered } from './scene/pairs/broad-phase';
export { interruptions } from './scene/pairs/narrow-phase-slices';
export { setPairs } from './scene/pairs/pairs';
export { askedCount, foundIds, waitingCount, waitingIds } from './scene/query/result-ids';
export { closestPoint, containing, overlap } from './scene/query/proximity';
export { frustumOfPlanes, frustumOfView, foundInside, foundOccluded, foundSeen } from './scene/query/frustum';
export { pickRegion } from './scene/query/region';
export { pickScreen } from './scene/query/screen';
export { beginObjectSection, beginSection, endSection, stepObjectSection } from './scene/query/section';
export { beginSnapRoom, closeSnap, isSnapSmall, openSnap } from './scene/snap/snap-pick';
export { beginSnap, beginSnapKinds, listSnap, resumeSnap, stepSnap } from './scene/snap/snap';
export { addSnapTarget } from './scene/snap/targets';
export { sweep, sweepAll, sweepMany } from './scene/query/sweep';
export { beginKeptSweep, giveUpQuestion, keepSweep, keepWay, resumeSweep } from './scene/query/sweep-slices';
export { sees } from './scene/query/line-of-sight';
export { countOutlinePoints, countOutlines, outlinePoints, outlineTriangles, outlines } from './section/outlines';

export function buildPositions(build: usize): usize {
  return changetype<Build>(build).positions;
}

export function buildIndices(build: usize): usize {
  return changetype<Build>(build).indices;
}

/** Returns the address for the weights of a build, four f32 per vertex. */
export function buildWeights(build: usize): usize {
  return changetype<DeformBuild>(changetype<Build>(build).deform).weights;
}

/** Returns the address for the bones of a build, four u16 per vertex. */
export function buildBones(build: usize): usize {
  return changetype<DeformBuild>(changetype<Build>(build).deform).bones;
}

/** Returns the address for the morph targets of a build, three f32 per vertex, one target after the other. */
export function buildTargets(build: usize): usize {
  return changetype<DeformBuild>(changetype<Build>(build).deform).targets;
}

export function buildError(build: usize): u32 {
  return changetype<Build>(build).error;
}

export function buildCulprit(build: usize): u32 {
  return changetype<Build>(build).culprit;
}

export function pointLinePositions(build: usize): usize {
  return changetype<PointLineBuild>(build).positions;
}

export function pointLineIndices(build: usize): usize {
  return changetype<PointLineBuild>(build).indices;
}

export function pointLineError(build: usize): u32 {
  return changetype<PointLineBuild>(build).error;
}

export function pointLineCulprit(build: usize): u32 {
  return changetype<PointLineBuild>(build).culprit;
}

/** Takes the finished mesh over, as `takeMesh` does. */
export function takePointLine(build: usize): usize {
  const mesh = changetype<PointLineBuild>(build).mesh;
  changetype<PointLineBuild>(build).mesh = 0;
  return mesh;
}

/** Takes the finished mesh over: freeing the build then leaves it alone. */
export function takeMesh(build: usize): usize {
  const mesh = changetype<Build>(build).mesh;
  changetype<Build>(build).mesh = 0;
  return mesh;
}

/** Returns a copy of a mesh whose vertices are to be moved; the caller must free it. Throws OUT_OF_MEMORY. */
export function copyMesh(address: usize): usize {
  if (isPointLine(address)) return copyPointLine(pointLineOf(changetype<Mesh>(address)));
  return copyWhole(changetype<Mesh>(address));
}

export function beginDerivation(mesh: usize): usize {
  return changetype<usize>(begin(changetype<Mesh>(mesh)));
}

/** Installs the derived data in the mesh, updates its objects, and frees the derivation. */
export function installDerivation(derivation: usize): void {
  const mesh = changetype<Mesh>(<usize>changetype<Derivation>(derivation).mesh);
  forgetMesh(mesh);
  installDerived(changetype<Derivation>(derivation));
  swapMesh(mesh, mesh);
}

export function freeDerivation(derivation: usize): void {
  free(changetype<Derivation>(derivation));
}

export function refitScratch(address: usize): usize {
  if (isPointLine(address)) return refitPointLineBytes(pointLineOf(changetype<Mesh>(address)));
  const mesh = changetype<Mesh>(address);
  return isDeformable(mesh) ? max(refitBytes(mesh), refitDeformBytes(mesh)) : refitBytes(mesh);
}

export function freeMesh(address: usize): void {
  if (isPointLine(address)) {
    release(address);
    return;
  }
  forgetMesh(changetype<Mesh>(address));
  forgetOccluder(changetype<Mesh>(address));
  unwant(changetype<Mesh>(address));
  releaseDerived(changetype<Mesh>(address));
  release(address);
}

/**
 * Moves the vertices of a mesh to `positions`, f32 xyz each; `scratch` has `refitScratch` bytes. The mesh's objects keep their
 * poses. Returns REFIT_*. Throws OUT_OF_MEMORY, with nothing changed.
 */
export function refitMesh(address: usize, positions: usize, scratch: usize): u32 {
  const mesh = changetype<Mesh>(address);
  if (isPointLine(address)) {
    const fault = refitPointLine(pointLineOf(mesh), positions, scratch);
    lastCulprit = refitPointLineCulprit;
    if (fault == REFIT_OK) swapMesh(mesh, mesh);
    return fault;
  }
  const isRead = arePosesRead();
  reserveSwap(mesh, mesh, isRead);
  forgetMesh(mesh);
  forgetOccluder(mesh);
  const scale = treeScale(mesh);
  const fault = refit(mesh, positions, scratch);
  lastCulprit = culprit;
  if (fault == REFIT_OK) {
    if (isDeformable(mesh)) refitDeform(mesh, positions, scale, scratch);
    markStale(mesh);
    swapMesh(mesh, mesh, isRead);
  }
  return fault;
}

let lastCulprit: u32 = 0;

export function refitCulprit(): u32 {
  return lastCulprit;
}

/**
 * Replaces one mesh by another for all objects, which keep their poses. Pairs that are under way may continue with the old one.
 * Throws OUT_OF_MEMORY, with nothing changed.
 */
export function replaceMesh(from: usize, to: usize): void {
  const isRead = arePosesRead();
  reserveSwap(changetype<Mesh>(from), changetype<Mesh>(to), isRead);
  swapMesh(changetype<Mesh>(from), changetype<Mesh>(to), isRead);
}

/**
 * Returns the address of the weights of a mesh with a skin, four f32 per vertex; and below, of its bones, four u16 per vertex.
 */
export function meshWeights(address: usize): usize {
  return weightsAt(deformOf(changetype<Mesh>(address)), 0);
}

export function meshBones(address: usize): usize {
  return bonesAt(deformOf(changetype<Mesh>(address)), 0);
}

/** Returns whether the targets of a mesh were given as offsets. */
export function hasRelativeTargets(address: usize): bool {
  return deformOf(changetype<Mesh>(address)).areAbsolute == 0;
}

/** Writes a morph target of a mesh as it was given, f32 xyz per vertex. */
export function copyMeshTarget(address: usize, target: u32, to: usize): void {
  copyTarget(changetype<Mesh>(address), target, to);
}

export function checkMeshTree(address: usize): u32 {
  if (isPointLine(address)) return checkPointLineTree(pointLineOf(changetype<Mesh>(address)));
  return checkTree(changetype<Mesh>(address));
}

/**
 * Returns how many pairs of triangles of two meshes intersect; only 0 or 1 unless `countsAll`. `matrix`: 12 f64, from b's
 * mesh space to a's. Throws OUT_OF_MEMORY.
 */
export function meshPairs(a: usize, b: usize, matrix: usize, countsAll: bool): u32 {
  const meshA = changetype<Mesh>(a), meshB = changetype<Mesh>(b), map = changetype<Affine>(matrix);
  if (!countsAll) return <u32>meshesMeet(meshA, meshB, map, noWitness());
  intersectMeshes(meshA, meshB, map);
  return pairCount;
}

/** Returns the address of the pairs that `meshPairs` found last: two u32 each, a's triangle and b's. */
export function foundPairs(): usize {
  return pairs;
}

export function check(): u32 {
  return checkScene();
}

function cast(ray: usize, filter: usize, mode: u32): bool {
  updateTrees();
  setFilter(filter);
  setCone(ray);
  const isHit = castRay(
    load<f64>(ray, RAY_ORIGIN), load<f64>(ray, RAY_ORIGIN + 8), load<f64>(ray, RAY_ORIGIN + 16),
    load<f64>(ray, RAY_DIRECTION), load<f64>(ray, RAY_DIRECTION + 8), load<f64>(ray, RAY_DIRECTION + 16),
    load<f64>(ray, RAY_T_MIN), load<f64>(ray, RAY_T_MAX), mode,
  );
  setCone(0);
  return isHit;
}

/**
 * Casts a ray (layout.ts, RAY_*) and writes its nearest hit to `hit` (HIT_*). Returns false if it hits nothing.
 * Throws OUT_OF_MEMORY.
 */
export function raycast(ray: usize, filter: usize, hit: usize): bool {
  if (!cast(ray, filter, NEAREST)) return false;
  findNormal();
  store<u32>(hit, foundObject, HIT_OBJECT);
  store<i32>(hit, foundTriangle, HIT_TRIANGLE);
  store<i32>(hit, foundElement, HIT_ELEMENT);
  store<i32>(hit, foundTriangle < 0 ? foundBone : boneOfHit(foundObject, foundTriangle, foundU, foundV, foundW), HIT_BONE);
  store<f64>(hit, foundDistanceToRay, HIT_DISTANCE_TO_RAY);
  store<f64>(hit, hitDistance(), HIT_DISTANCE);
  store<f64>(hit, pointX, HIT_POINT);
  store<f64>(hit, pointY, HIT_POINT + 8);
  store<f64>(hit, pointZ, HIT_POINT + 16);
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

/** Finds all hits of a ray and returns their number. Throws OUT_OF_MEMORY. */
export function raycastAll(ray: usize, filter: usize): u32 {
  cast(ray, filter, ALL);
  for (let i: u32 = 0; i < hitCount; i++) {
    const hit = hitAt(i), triangle = load<i32>(hit, HIT_TRIANGLE);
    if (triangle < 0) continue;
    const at = hit + HIT_BARYCENTRIC;
    const bone = boneOfHit(load<u32>(hit, HIT_OBJECT), triangle, load<f64>(at), load<f64>(at, 8), load<f64>(at, 16));
    store<i32>(hit, bone, HIT_BONE);
  }
  return hitCount;
}

/** Returns the address of the last query's hits: HIT_* each, unordered. */
export function foundHits(): usize {
  return hitAt(0);
}

/**
 * Casts `count` rays of 8 f32 at `rays`: origin, tMin, direction, tMax. Writes for each ray: object u32, triangle, element and
 * bone i32, distance f64, barycentrics 3 f32. Returns how many are done by time `deadline`: at least one. Throws OUT_OF_MEMORY.
 */
export function raycastMany(
  filter: usize, rays: usize, count: u32, objects: usize, triangles: usize, elements: usize, bones: usize,
  distances: usize, barycentrics: usize, deadline: f64,
): u32 {
  updateTrees();
  setFilter(filter);
  return castMany(rays, count, objects, triangles, elements, bones, distances, barycentrics, deadline);
}
