// The pose of one object: its own moved vertices and boxes of a mesh that bones and morph targets deform. For readers of its
// tree, it is a Mesh like any other. The links of nodes and their rotations are copies of those of the mesh at rest; the
// indices, and the data derived from its connectivity, are shared.
//
// Setting a pose only finds its bounds, from the boxes of the bones; vertices are moved and boxes fitted when a query reaches
// its triangles (`refitPose`). A suspended reader of its tree may continue with it: then the object gets a new pose, and the old
// one is kept until nobody reads it (`retire`).

import { isPointLine } from '../point-line/layout';
import { allocate, release, reserve } from '../memory';
import { Affine, isIdentity, multiply } from '../math/affine';
import { Deform, boneBoxAt, deformOf, isDeformable, rangeAt } from '../mesh/tree/deform-layout';
import { Mesh, treeScale } from '../mesh/tree/layout';
import { POSED } from '../mesh/topology/derived';

/**
 * Follows the header of a posed mesh. After it come the bones' maps, the weights of the morph targets, and the binding and
 * the bones as given: if the vertices of the mesh at rest move, or the mesh is replaced, the pose is computed from these
 * again.
 */
@unmanaged
export class Pose {
  /** The mesh at rest. */
  base: u32;
  /** BOUNDS_CURRENT, TREE_CURRENT or SUMS_CURRENT. */
  state: u32;
  /** The memory of nodes and blocks, 0 until they are needed; and of the dipoles. */
  tree: u32;
  dipoles: u32;
  /** 1 if bones move it. */
  hasBones: u32;
  /** 1 if morph targets move it. */
  hasMorphs: u32;
  /** The next retired pose that waits to be freed. */
  next: u32;
  /** The memory of the bones' hit boxes, 0 until they are needed (hit-boxes.ts). */
  hitBoxes: u32;
  /** Position of a vertex without any weight. */
  unweightedX: f64; unweightedY: f64; unweightedZ: f64;
  /** Conservative bounds of all vertices and hit boxes, in object space. */
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  /** Number of hit boxes, or UNKNOWN. */
  hitBoxCount: u32;
  pad: u32;
}

/** Marks a number of hit boxes that has not been computed yet. */
export const UNKNOWN: u32 = 0xffffffff;

const MESH_BYTES: usize = offsetof<Mesh>();
const POSE_BYTES: usize = offsetof<Pose>();
const MAP_BYTES: usize = offsetof<Affine>();

/** Only its bounds are up to date. */
export const BOUNDS_CURRENT: u32 = 0;
/** Its tree is up to date with its vertices. */
export const TREE_CURRENT: u32 = 1;
/** Also its dipoles and its orientation are up to date. */
export const SUMS_CURRENT: u32 = 2;

// @ts-ignore: decorator
@inline
export function isPosed(mesh: Mesh): bool {
  return !isPointLine(changetype<usize>(mesh)) && mesh.derivedState == POSED;
}

// @ts-ignore: decorator
@inline
export function poseOf(mesh: Mesh): Pose {
  return changetype<Pose>(changetype<usize>(mesh) + MESH_BYTES);
}

/** Returns the mesh at rest, which is the mesh itself if it is not posed. */
// @ts-ignore: decorator
@inline
export function baseOf(mesh: Mesh): Mesh {
  return isPosed(mesh) ? changetype<Mesh>(poseOf(mesh).base) : mesh;
}

/** Returns the map of a bone: from the tree space of the mesh at rest to the object's space. */
// @ts-ignore: decorator
@inline
export function boneMapAt(pose: Pose, bone: u32): Affine {
  return changetype<Affine>(changetype<usize>(pose) + POSE_BYTES + <usize>bone * MAP_BYTES);
}

/** Returns the address of the weights of the morph targets, f32 each. */
// @ts-ignore: decorator
@inline
export function morphWeightsAt(pose: Pose): usize {
  const deform = deformOf(changetype<Mesh>(pose.base));
  return changetype<usize>(boneMapAt(pose, deform.boneCount));
}

// --- the pose to come ---

/** The draft of a pose before it replaces another: a Pose with its maps and weights. */
let draft: usize = 0;

// @ts-ignore: decorator
@inline
export function draftPose(): Pose {
  return changetype<Pose>(draft);
}

/** The bytes of a bone as given: 16 f32. */
const BONE_INPUT_BYTES: usize = 64;

function poseBytes(base: Mesh): usize {
  const deform = deformOf(base);
  const bytes = POSE_BYTES + <usize>deform.boneCount * MAP_BYTES + ((<usize>deform.targetCount * 4 + 15) & ~15);
  return deform.boneCount == 0 ? bytes : bytes + 2 * MAP_BYTES + <usize>deform.boneCount * BONE_INPUT_BYTES;
}

/** Returns where a pose stores its inputs: both maps of the binding, then the bones. */
function inputsAt(pose: Pose): usize {
  const deform = deformOf(changetype<Mesh>(pose.base));
  return morphWeightsAt(pose) + ((<usize>deform.targetCount * 4 + 15) & ~15);
}

const treeToMesh = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const treeToBind = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const boneMap = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const treeToPosedBind = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));

/**
 * Drafts a pose. `bones` is 0 or the address of 16 f32 per bone, `morphs` 0 or that of an f32 per target; `bind` and
 * `bindInverse` belong to the bones. Returns false if the pose is invalid: a value is not finite, a map is not affine, or the
 * pose is too large for float32. Throws OUT_OF_MEMORY.
 */
export function draftOf(base: Mesh, bones: usize, bind: Affine, bindInverse: Affine, morphs: usize): bool {
  draft = reserve(draft, 0, poseBytes(base));
  const pose = draftPose();
  const deform = deformOf(base);
  pose.base = <u32>changetype<usize>(base);
  pose.state = BOUNDS_CURRENT;
  pose.tree = pose.dipoles = pose.next = pose.hitBoxes = 0;
  pose.hitBoxCount = UNKNOWN;
  pose.hasBones = bones != 0 ? 1 : 0;
  pose.hasMorphs = 0;
  if (!readMorphWeights(pose, deform, morphs)) return false;
  pose.unweightedX = pose.unweightedY = pose.unweightedZ = 0;
  const inverseScale = 1.0 / treeScale(base);
  memory.fill(changetype<usize>(treeToMesh), 0, MAP_BYTES);
  treeToMesh.xx = treeToMesh.yy = treeToMesh.zz = inverseScale;
  treeToMesh.tx = base.offsetX; treeToMesh.ty = base.offsetY; treeToMesh.tz = base.offsetZ;
  if (bones != 0 && !readBones(pose, deform, bones, bind, bindInverse)) return false;
  return findBounds(pose, base);
}

/** Reads the weights of morph targets. Returns false if one is not finite. */
function readMorphWeights(pose: Pose, deform: Deform, morphs: usize): bool {
  const weights = morphWeightsAt(pose);
  for (let i: usize = 0; i < <usize>deform.targetCount << 2; i += 4) {
    const weight: f32 = morphs == 0 ? 0 : load<f32>(morphs + i);
    if (!(abs(weight) <= f32.MAX_VALUE)) return false;
    if (weight != 0) pose.hasMorphs = 1;
    store<f32>(weights + i, weight);
  }
  return true;
}

/**
 * Reads the bones' matrices and the bind matrices. Returns false if the matrix of a bone that moves something is not affine.
 */
function readBones(pose: Pose, deform: Deform, bones: usize, bind: Affine, bindInverse: Affine): bool {
  const inputs = inputsAt(pose);
  memory.copy(inputs, changetype<usize>(bind), MAP_BYTES);
  memory.copy(inputs + MAP_BYTES, changetype<usize>(bindInverse), MAP_BYTES);
  memory.copy(inputs + 2 * MAP_BYTES, bones, <usize>deform.boneCount * BONE_INPUT_BYTES);
  pose.unweightedX = bindInverse.tx; pose.unweightedY = bindInverse.ty; pose.unweightedZ = bindInverse.tz;
  multiply(treeToBind, bind, treeToMesh);
  const isBindInverseIdentity = isIdentity(bindInverse);
  for (let bone: u32 = 0; bone < deform.boneCount; bone++) {
    const to = boneMapAt(pose, bone);
    const at = bones + <usize>bone * BONE_INPUT_BYTES;
    const isUsed = boneBoxAt(deform, bone).isUsed;
    if (!isUsed || !readBone(boneMap, at)) {
      // A bone that moves nothing may have any matrix. One without an inverse when it was bound has zeros, which three just adds.
      if (isUsed && !isZero(at)) return false;
      memory.fill(changetype<usize>(to), 0, MAP_BYTES);
    } else if (isBindInverseIdentity) multiply(to, boneMap, treeToBind);
    else {
      multiply(treeToPosedBind, boneMap, treeToBind);
      multiply(to, bindInverse, treeToPosedBind);
    }
  }
  return true;
}

/** Returns whether all 16 f32 of a matrix are 0. */
function isZero(at: usize): bool {
  let sum: f32 = 0;
  for (let i: usize = 0; i < BONE_INPUT_BYTES; i += 4) sum += abs(load<f32>(at + i));
  return sum == 0;
}

/** Reads a column-major 4×4 matrix of f32. Returns false if its bottom row is not that of an affine map. */
function readBone(to: Affine, at: usize): bool {
  if (load<f32>(at, 12) != 0 || load<f32>(at, 28) != 0 || load<f32>(at, 44) != 0) return false;
  if (!(abs(load<f32>(at, 60) - 1) < 1e-6)) return false;
  to.xx = load<f32>(at); to.xy = load<f32>(at, 4); to.xz = load<f32>(at, 8);
  to.yx = load<f32>(at, 16); to.yy = load<f32>(at, 20); to.yz = load<f32>(at, 24);
  to.zx = load<f32>(at, 32); to.zy = load<f32>(at, 36); to.zz = load<f32>(at, 40);
  to.tx = load<f32>(at, 48); to.ty = load<f32>(at, 52); to.tz = load<f32>(at, 56);
  return true;
}

// --- bounds ---

/**
 * How far the weighted targets move any vertex, in the tree space of the mesh at rest: the centre of the range, and half its
 * size. With bones, the range includes 0, since targets do not move the bones' hit boxes (hit-boxes.ts).
 */
let morphCenterX: f64 = 0, morphCenterY: f64 = 0, morphCenterZ: f64 = 0;
let morphHalfX: f64 = 0, morphHalfY: f64 = 0, morphHalfZ: f64 = 0;
let isMorphed: bool = false;
const boxToObject = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));

/** The bounds along one axis. */
@unmanaged
class AxisBounds {
  min: f64; max: f64;
  /** Range of the translations of the maps, and the most that the maps stretch. */
  minTranslation: f64; maxTranslation: f64;
  maxStretch: f64;
}

const AXIS_BOUNDS_BYTES: usize = offsetof<AxisBounds>();
const axisBounds: usize = memory.data(3 * <i32>offsetof<AxisBounds>(), 16);

// @ts-ignore: decorator
@inline
function axisBoundsAt(axis: usize): AxisBounds {
  return changetype<AxisBounds>(axisBounds + axis * AXIS_BOUNDS_BYTES);
}

/** Rounding error of a moved vertex in float32, relative to all terms of its sum: some 20 roundings of 2⁻²⁴ in deform.ts. */
const ROUNDING: f64 = 1.9073486328125e-6; // 2^-19
/** Limit of a pose's coordinates, so that nothing derived from them overflows. */
const MAX_COORDINATE: f64 = 1e36;

/**
 * Finds bounds of all vertices. A vertex is Σ wᵢ pᵢ + r q, with its weights wᵢ, points pᵢ in the box of a bone, r = 1 - Σ wᵢ
 * and q the position of a vertex without weights. With c the centre of all boxes, h half of their size and c = Σ wᵢ c + r c,
 * it is no farther from c than Σ |wᵢ| h + |r| |q - c|, along every axis. Everything within h of c is within the bounds in any
 * case: the boxes are, and so are the bones' hit boxes.
 */
function findBounds(pose: Pose, base: Mesh): bool {
  const deform = deformOf(base);
  sumRanges(pose, base);
  for (let axis: usize = 0; axis < 3; axis++) {
    const bounds = axisBoundsAt(axis);
    bounds.min = bounds.minTranslation = Infinity;
    bounds.max = bounds.maxTranslation = -Infinity;
    bounds.maxStretch = 0;
  }
  if (pose.hasBones) {
    for (let bone: u32 = 0; bone < deform.boneCount; bone++) {
      const box = boneBoxAt(deform, bone);
      if (box.isUsed) includeBox(boneMapAt(pose, bone), changetype<Affine>(changetype<usize>(box)));
    }
  } else includeRest(base);
  return (
    setBounds(changetype<usize>(pose), 0, pose, deform.maxWeightSum, deform.minWeightDeficit, deform.maxWeightDeficit) &&
    setBounds(changetype<usize>(pose), 1, pose, deform.maxWeightSum, deform.minWeightDeficit, deform.maxWeightDeficit) &&
    setBounds(changetype<usize>(pose), 2, pose, deform.maxWeightSum, deform.minWeightDeficit, deform.maxWeightDeficit)
  );
}

function sumRanges(pose: Pose, base: Mesh): void {
  morphCenterX = morphCenterY = morphCenterZ = morphHalfX = morphHalfY = morphHalfZ = 0;
  isMorphed = pose.hasMorphs != 0;
  if (!isMorphed) return;
  const deform = deformOf(base);
  const weights = morphWeightsAt(pose);
  // Initial minimum and maximum of a range.
  const initialMin: f64 = pose.hasBones ? 0 : Infinity, initialMax: f64 = pose.hasBones ? 0 : -Infinity;
  for (let target: u32 = 0; target < deform.targetCount; target++) {
    const weight = <f64>load<f32>(weights + (<usize>target << 2));
    const range = rangeAt(deform, target);
    const minX = min(initialMin, <f64>load<f32>(range)), maxX = max(initialMax, <f64>load<f32>(range, 12));
    const minY = min(initialMin, <f64>load<f32>(range, 4)), maxY = max(initialMax, <f64>load<f32>(range, 16));
    const minZ = min(initialMin, <f64>load<f32>(range, 8)), maxZ = max(initialMax, <f64>load<f32>(range, 20));
    morphCenterX += 0.5 * weight * (minX + maxX);
    morphCenterY += 0.5 * weight * (minY + maxY);
    morphCenterZ += 0.5 * weight * (minZ + maxZ);
    morphHalfX += 0.5 * abs(weight) * (maxX - minX);
    morphHalfY += 0.5 * abs(weight) * (maxY - minY);
    morphHalfZ += 0.5 * abs(weight) * (maxZ - minZ);
  }
}

/** Includes a bone's box, and the range of the targets, under the bone's map. */
function includeBox(map: Affine, box: Affine): void {
  multiply(boxToObject, map, box);
  for (let axis: usize = 0; axis < 3; axis++) {
    // Rows of both.
    const row = changetype<usize>(map) + (axis << 3), placed = changetype<usize>(boxToObject) + (axis << 3);
    const mx = load<f64>(row), my = load<f64>(row, 24), mz = load<f64>(row, 48);
    let center = load<f64>(placed, 72);
    let half = abs(load<f64>(placed)) + abs(load<f64>(placed, 24)) + abs(load<f64>(placed, 48));
    if (isMorphed) {
      center += mx * morphCenterX + my * morphCenterY + mz * morphCenterZ;
      half += abs(mx) * morphHalfX + abs(my) * morphHalfY + abs(mz) * morphHalfZ;
    }
    include(axisBoundsAt(axis), center, half, load<f64>(row, 72), abs(mx) + abs(my) + abs(mz));
  }
}

function includeRest(base: Mesh): void {
  const inverseScale = 1.0 / treeScale(base);
  const x = 0.5 * (base.maxX - base.minX), y = 0.5 * (base.maxY - base.minY), z = 0.5 * (base.maxZ - base.minZ);
  include(axisBoundsAt(0), 0.5 * (base.minX + base.maxX) + morphCenterX * inverseScale, x + morphHalfX * inverseScale,
    base.offsetX, inverseScale);
  include(axisBoundsAt(1), 0.5 * (base.minY + base.maxY) + morphCenterY * inverseScale, y + morphHalfY * inverseScale,
    base.offsetY, inverseScale);
  include(axisBoundsAt(2), 0.5 * (base.minZ + base.maxZ) + morphCenterZ * inverseScale, z + morphHalfZ * inverseScale,
    base.offsetZ, inverseScale);
}

// @ts-ignore: decorator
@inline
function include(bounds: AxisBounds, center: f64, half: f64, translation: f64, stretch: f64): void {
  bounds.min = min(bounds.min, center - half);
  bounds.max = max(bounds.max, center + half);
  bounds.minTranslation = min(bounds.minTranslation, translation);
  bounds.maxTranslation = max(bounds.maxTranslation, translation);
  bounds.maxStretch = max(bounds.maxStretch, stretch);
}

/** Sets the bounds along an axis. Returns false if they are too large or not finite. */
function setBounds(poseAddress: usize, axis: usize, pose: Pose, maxWeightSum: f32, minDeficit: f32, maxDeficit: f32): bool {
  const bounds = axisBoundsAt(axis);
  const axisAddress = poseAddress + (axis << 3);
  const center = 0.5 * (bounds.min + bounds.max);
  let half = 0.5 * (bounds.max - bounds.min);
  const maxOffset = max(abs(bounds.minTranslation - center), abs(bounds.maxTranslation - center));
  let weightSum: f64 = 1, deficitOffset: f64 = 0;
  if (pose.hasBones) {
    weightSum = max(<f64>maxWeightSum, 1);
    deficitOffset = max(abs(<f64>minDeficit), abs(<f64>maxDeficit)) *
      abs(load<f64>(axisAddress, offsetof<Pose>('unweightedX')) - center);
  }
  // Vertices and their target offsets are within 2 of the tree's origin, except for large targets.
  const maxTreeCoordinate = 2 + max(max(abs(morphCenterX) + morphHalfX, abs(morphCenterY) + morphHalfY), abs(morphCenterZ) +
    morphHalfZ);
  half = weightSum * half + deficitOffset + ROUNDING *
    (weightSum * (bounds.maxStretch * maxTreeCoordinate + maxOffset) + deficitOffset) + abs(center) * 1e-15;
  store<f64>(axisAddress, center - half, offsetof<Pose>('minX'));
  store<f64>(axisAddress, center + half, offsetof<Pose>('maxX'));
  return half < MAX_COORDINATE && abs(center) < MAX_COORDINATE; // false for NaN
}

// --- poses in their places ---

/**
 * Replaces an object's mesh by the draft: `current` is the present mesh, posed or not. Returns the posed mesh: the same
 * memory, or new memory (at `reserved` if that is not 0) if the old pose is being read (`isRead`), or is a pose of a different
 * mesh than the draft. Throws OUT_OF_MEMORY, with nothing changed.
 */
export function applyDraft(current: Mesh, isRead: bool, reserved: usize = 0): Mesh {
  const base = changetype<Mesh>(draftPose().base);
  const isNew = !isPosed(current) || isRead || baseOf(current) != base;
  const mesh = !isNew ? current : changetype<Mesh>(reserved != 0 ? reserved : allocate(posedBytes(base)));
  const pose = poseOf(mesh), to = draftPose();
  if (!isNew) {
    to.tree = pose.tree;
    to.dipoles = pose.dipoles;
    to.hitBoxes = pose.hitBoxes;
  } else if (isPosed(current)) retire(current);
  memory.copy(changetype<usize>(pose), draft, poseBytes(base));
  memory.copy(changetype<usize>(mesh), changetype<usize>(base), MESH_BYTES);
  mesh.derivedState = POSED;
  // The same data at an offset relative to this mesh, modulo 2³².
  const shift = <u32>(changetype<usize>(base) - changetype<usize>(mesh));
  mesh.indices = base.indices + shift;
  mesh.derived = base.derived + shift;
  mesh.deformBytes = 0;
  const x = pose.maxX - pose.minX, y = pose.maxY - pose.minY, z = pose.maxZ - pose.minZ;
  mesh.radius = 0.5 * sqrt(x * x + y * y + z * z);
  return mesh;
}

function posedBytes(base: Mesh): usize {
  return MESH_BYTES + poseBytes(base);
}

// --- the poses of a mesh that becomes another ---

/** Preallocated memory for posed meshes, each with the address of the next in its first word. */
let reservations: usize = 0;

/** Returns whether an object's mesh is a pose that also fits `base`: the numbers of bones and targets are equal. */
export function fitsPose(posed: Mesh, base: Mesh): bool {
  if (!isPosed(posed) || isPointLine(changetype<usize>(base)) || !isDeformable(base)) return false;
  const from = deformOf(baseOf(posed)), to = deformOf(base);
  return from.boneCount == to.boneCount && from.targetCount == to.targetCount;
}

/** Reserves memory for one more `repose` to `base`, which then cannot throw. Throws OUT_OF_MEMORY. */
export function reserveRepose(base: Mesh): void {
  draft = reserve(draft, 0, poseBytes(base));
  const reserved = allocate(posedBytes(base));
  store<usize>(reserved, reservations);
  reservations = reserved;
}

/** Frees the unused reservations. */
export function freeReservations(): void {
  while (reservations != 0) {
    const next = load<usize>(reservations);
    release(reservations);
    reservations = next;
  }
}

/**
 * Returns the new mesh of an object whose posed mesh was `posed`, and whose mesh at rest becomes `base`, which is another
 * mesh or has moved vertices: the same pose of `base`, or `base` itself if the pose gets too large. `reserveRepose` must be
 * called before.
 */
export function repose(posed: Mesh, base: Mesh, isRead: bool): Mesh {
  const pose = poseOf(posed);
  const inputs = inputsAt(pose);
  const bones: usize = pose.hasBones ? inputs + 2 * MAP_BYTES : 0;
  const bind = changetype<Affine>(inputs), bindInverse = changetype<Affine>(inputs + MAP_BYTES);
  if (!draftOf(base, bones, bind, bindInverse, pose.hasMorphs ? morphWeightsAt(pose) : 0)) {
    retire(posed);
    return base;
  }
  const isNew = isRead || baseOf(posed) != base;
  const reserved = isNew ? reservations : 0;
  if (isNew) reservations = load<usize>(reserved);
  return applyDraft(posed, isRead, reserved);
}

/** The retired posed meshes, which wait to be freed. */
let retired: u32 = 0;

/** Retires a posed mesh that may still be read. */
export function retire(mesh: Mesh): void {
  poseOf(mesh).next = retired;
  retired = <u32>changetype<usize>(mesh);
}

/** Frees the retired poses. Nobody may still read any of them. */
export function freeRetired(): void {
  while (retired != 0) {
    const pose = poseOf(changetype<Mesh>(<usize>retired));
    const next = pose.next;
    release(pose.tree);
    release(pose.dipoles);
    release(pose.hitBoxes);
    release(<usize>retired);
    retired = next;
  }
}
