// The pose of one object: its own moved vertices and boxes of a mesh that bones and morph targets deform. For readers of its
// tree, it is a Mesh like any other. The links of nodes and their rotations are copies of those of the mesh at rest; the
// indices, and the data derived from its connectivity, are shared.
//
// Setting a pose only finds its bounds, from the boxes of the bones; vertices are moved and boxes fitted when a query reaches
// its triangles (`settle`). A suspended reader of its tree may continue with it: then the object gets a new pose, and the old
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
  /** SET, SETTLED or SUMMED. */
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
  hits: u32;
  /** Position of a vertex without any weight. */
  nowhereX: f64; nowhereY: f64; nowhereZ: f64;
  /** Conservative bounds of all vertices and hit boxes, in object space. */
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
  /** Number of hit boxes, or UNKNOWN. */
  hitCount: u32;
  pad: u32;
}

/** Marks a number of hit boxes that has not been computed yet. */
export const UNKNOWN: u32 = 0xffffffff;

const MESH_BYTES: usize = offsetof<Mesh>();
const POSE_BYTES: usize = offsetof<Pose>();
export const MAP_BYTES: usize = offsetof<Affine>();

/** Only its bounds are up to date. */
export const SET: u32 = 0;
/** Its tree is up to date with its vertices. */
export const SETTLED: u32 = 1;
/** Also its dipoles and its orientation are up to date. */
export const SUMMED: u32 = 2;

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
const GIVEN_BYTES: usize = 64;

function poseBytes(base: Mesh): usize {
  const deform = deformOf(base);
  const bytes = POSE_BYTES + <usize>deform.boneCount * MAP_BYTES + ((<usize>deform.targetCount * 4 + 15) & ~15);
  return deform.boneCount == 0 ? bytes : bytes + 2 * MAP_BYTES + <usize>deform.boneCount * GIVEN_BYTES;
}

/** Returns where a pose stores its inputs: both maps of the binding, then the bones. */
function givenAt(pose: Pose): usize {
  const deform = deformOf(changetype<Mesh>(pose.base));
  return morphWeightsAt(pose) + ((<usize>deform.targetCount * 4 + 15) & ~15);
}

const fromTree = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const bound = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const boneMap = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));
const boned = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));

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
  pose.state = SET;
  pose.tree = pose.dipoles = pose.next = pose.hits = 0;
  pose.hitCount = UNKNOWN;
  pose.hasBones = bones != 0 ? 1 : 0;
  pose.hasMorphs = 0;
  if (!takeMorphs(pose, deform, morphs)) return false;
  pose.nowhereX = pose.nowhereY = pose.nowhereZ = 0;
  const shrink = 1.0 / treeScale(base);
  memory.fill(changetype<usize>(fromTree), 0, MAP_BYTES);
  fromTree.xx = fromTree.yy = fromTree.zz = shrink;
  fromTree.tx = base.offsetX; fromTree.ty = base.offsetY; fromTree.tz = base.offsetZ;
  if (bones != 0 && !takeBones(pose, deform, bones, bind, bindInverse)) return false;
  return findBounds(pose, base);
}

/** Reads the weights of morph targets. Returns false if one is not finite. */
function takeMorphs(pose: Pose, deform: Deform, morphs: usize): bool {
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
function takeBones(pose: Pose, deform: Deform, bones: usize, bind: Affine, bindInverse: Affine): bool {
  const given = givenAt(pose);
  memory.copy(given, changetype<usize>(bind), MAP_BYTES);
  memory.copy(given + MAP_BYTES, changetype<usize>(bindInverse), MAP_BYTES);
  memory.copy(given + 2 * MAP_BYTES, bones, <usize>deform.boneCount * GIVEN_BYTES);
  pose.nowhereX = bindInverse.tx; pose.nowhereY = bindInverse.ty; pose.nowhereZ = bindInverse.tz;
  multiply(bound, bind, fromTree);
  const isPlain = isIdentity(bindInverse);
  for (let bone: u32 = 0; bone < deform.boneCount; bone++) {
    const to = boneMapAt(pose, bone);
    // A bone that moves nothing may have any matrix.
    if (!boneBoxAt(deform, bone).isUsed) {
      memory.fill(changetype<usize>(to), 0, MAP_BYTES);
      continue;
    }
    if (!readBone(boneMap, bones + <usize>bone * GIVEN_BYTES)) return false;
    if (isPlain) multiply(to, boneMap, bound);
    else {
      multiply(boned, boneMap, bound);
      multiply(to, bindInverse, boned);
    }
  }
  return true;
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
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
let halfX: f64 = 0, halfY: f64 = 0, halfZ: f64 = 0;
let isMorphed: bool = false;
const placedBox = changetype<Affine>(memory.data(<i32>MAP_BYTES, 16));

/** The bounds along one axis. */
@unmanaged
class Reach {
  low: f64; high: f64;
  /** Range of the translations of the maps, and the most that the maps stretch. */
  lowPlace: f64; highPlace: f64;
  stretch: f64;
}

const REACH_BYTES: usize = offsetof<Reach>();
const reaches: usize = memory.data(3 * <i32>offsetof<Reach>(), 16);

// @ts-ignore: decorator
@inline
function reachAt(axis: usize): Reach {
  return changetype<Reach>(reaches + axis * REACH_BYTES);
}

/** Rounding error of a moved vertex in float32, relative to all terms of its sum: some 20 roundings of 2⁻²⁴ in deform.ts. */
const ROUNDING: f64 = 1.9073486328125e-6; // 2^-19
/** Limit of a pose's coordinates, so that nothing derived from them overflows. */
const FARTHEST: f64 = 1e36;

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
    const reach = reachAt(axis);
    reach.low = reach.lowPlace = Infinity;
    reach.high = reach.highPlace = -Infinity;
    reach.stretch = 0;
  }
  if (pose.hasBones) {
    for (let bone: u32 = 0; bone < deform.boneCount; bone++) {
      const box = boneBoxAt(deform, bone);
      if (box.isUsed) includeBox(boneMapAt(pose, bone), changetype<Affine>(changetype<usize>(box)));
    }
  } else includeRest(base);
  return (
    setBounds(changetype<usize>(pose), 0, pose, deform.reach, deform.leastRest, deform.greatestRest) &&
    setBounds(changetype<usize>(pose), 1, pose, deform.reach, deform.leastRest, deform.greatestRest) &&
    setBounds(changetype<usize>(pose), 2, pose, deform.reach, deform.leastRest, deform.greatestRest)
  );
}

function sumRanges(pose: Pose, base: Mesh): void {
  middleX = middleY = middleZ = halfX = halfY = halfZ = 0;
  isMorphed = pose.hasMorphs != 0;
  if (!isMorphed) return;
  const deform = deformOf(base);
  const weights = morphWeightsAt(pose);
  // Initial minimum and maximum of a range.
  const least: f64 = pose.hasBones ? 0 : Infinity, greatest: f64 = pose.hasBones ? 0 : -Infinity;
  for (let target: u32 = 0; target < deform.targetCount; target++) {
    const weight = <f64>load<f32>(weights + (<usize>target << 2));
    const range = rangeAt(deform, target);
    const lowX = min(least, <f64>load<f32>(range)), highX = max(greatest, <f64>load<f32>(range, 12));
    const lowY = min(least, <f64>load<f32>(range, 4)), highY = max(greatest, <f64>load<f32>(range, 16));
    const lowZ = min(least, <f64>load<f32>(range, 8)), highZ = max(greatest, <f64>load<f32>(range, 20));
    middleX += 0.5 * weight * (lowX + highX);
    middleY += 0.5 * weight * (lowY + highY);
    middleZ += 0.5 * weight * (lowZ + highZ);
    halfX += 0.5 * abs(weight) * (highX - lowX);
    halfY += 0.5 * abs(weight) * (highY - lowY);
    halfZ += 0.5 * abs(weight) * (highZ - lowZ);
  }
}

/** Includes a bone's box, and the range of the targets, under the bone's map. */
function includeBox(map: Affine, box: Affine): void {
  multiply(placedBox, map, box);
  for (let axis: usize = 0; axis < 3; axis++) {
    // Rows of both.
    const row = changetype<usize>(map) + (axis << 3), placed = changetype<usize>(placedBox) + (axis << 3);
    const mx = load<f64>(row), my = load<f64>(row, 24), mz = load<f64>(row, 48);
    let middle = load<f64>(placed, 72);
    let half = abs(load<f64>(placed)) + abs(load<f64>(placed, 24)) + abs(load<f64>(placed, 48));
    if (isMorphed) {
      middle += mx * middleX + my * middleY + mz * middleZ;
      half += abs(mx) * halfX + abs(my) * halfY + abs(mz) * halfZ;
    }
    include(reachAt(axis), middle, half, load<f64>(row, 72), abs(mx) + abs(my) + abs(mz));
  }
}

function includeRest(base: Mesh): void {
  const shrink = 1.0 / treeScale(base);
  const x = 0.5 * (base.highX - base.lowX), y = 0.5 * (base.highY - base.lowY), z = 0.5 * (base.highZ - base.lowZ);
  include(reachAt(0), 0.5 * (base.lowX + base.highX) + middleX * shrink, x + halfX * shrink, base.offsetX, shrink);
  include(reachAt(1), 0.5 * (base.lowY + base.highY) + middleY * shrink, y + halfY * shrink, base.offsetY, shrink);
  include(reachAt(2), 0.5 * (base.lowZ + base.highZ) + middleZ * shrink, z + halfZ * shrink, base.offsetZ, shrink);
}

// @ts-ignore: decorator
@inline
function include(reach: Reach, middle: f64, half: f64, place: f64, stretch: f64): void {
  reach.low = min(reach.low, middle - half);
  reach.high = max(reach.high, middle + half);
  reach.lowPlace = min(reach.lowPlace, place);
  reach.highPlace = max(reach.highPlace, place);
  reach.stretch = max(reach.stretch, stretch);
}

/** Sets the bounds along an axis. Returns false if they are too large or not finite. */
function setBounds(at: usize, axis: usize, pose: Pose, weights: f32, leastRest: f32, greatestRest: f32): bool {
  const reach = reachAt(axis);
  const place = at + (axis << 3);
  const middle = 0.5 * (reach.low + reach.high);
  let half = 0.5 * (reach.high - reach.low);
  const far = max(abs(reach.lowPlace - middle), abs(reach.highPlace - middle));
  let spread: f64 = 1, rest: f64 = 0;
  if (pose.hasBones) {
    spread = max(<f64>weights, 1);
    rest = max(abs(<f64>leastRest), abs(<f64>greatestRest)) * abs(load<f64>(place, offsetof<Pose>('nowhereX')) - middle);
  }
  // Vertices and their target offsets are within 2 of the tree's origin, except for large targets.
  const added = 2 + max(max(abs(middleX) + halfX, abs(middleY) + halfY), abs(middleZ) + halfZ);
  half = spread * half + rest + ROUNDING * (spread * (reach.stretch * added + far) + rest) + abs(middle) * 1e-15;
  store<f64>(place, middle - half, offsetof<Pose>('lowX'));
  store<f64>(place, middle + half, offsetof<Pose>('highX'));
  return half < FARTHEST && abs(middle) < FARTHEST; // false for NaN
}

// --- poses in their places ---

/**
 * Replaces an object's mesh by the draft: `before` is the present mesh, posed or not. Returns the posed mesh: the same
 * memory, or new memory (at `room` if that is not 0) if the old pose is being read (`isRead`), or is a pose of a different
 * mesh than the draft. Throws OUT_OF_MEMORY, with nothing changed.
 */
export function placeDraft(before: Mesh, isRead: bool, room: usize = 0): Mesh {
  const base = changetype<Mesh>(draftPose().base);
  const isNew = !isPosed(before) || isRead || baseOf(before) != base;
  const mesh = !isNew ? before : changetype<Mesh>(room != 0 ? room : allocate(posedBytes(base)));
  const pose = poseOf(mesh), to = draftPose();
  if (!isNew) {
    to.tree = pose.tree;
    to.dipoles = pose.dipoles;
    to.hits = pose.hits;
  } else if (isPosed(before)) retire(before);
  memory.copy(changetype<usize>(pose), draft, poseBytes(base));
  memory.copy(changetype<usize>(mesh), changetype<usize>(base), MESH_BYTES);
  mesh.derivedState = POSED;
  // The same data at an offset relative to this mesh, modulo 2³².
  const away = <u32>(changetype<usize>(base) - changetype<usize>(mesh));
  mesh.indices = base.indices + away;
  mesh.derived = base.derived + away;
  mesh.deformBytes = 0;
  const x = pose.highX - pose.lowX, y = pose.highY - pose.lowY, z = pose.highZ - pose.lowZ;
  mesh.radius = 0.5 * sqrt(x * x + y * y + z * z);
  return mesh;
}

function posedBytes(base: Mesh): usize {
  return MESH_BYTES + poseBytes(base);
}

// --- the poses of a mesh that becomes another ---

/** Preallocated memory for posed meshes, each with the address of the next in its first word. */
let rooms: usize = 0;

/** Returns whether an object's mesh is a pose that also fits `base`: the numbers of bones and targets are equal. */
export function fitsPose(posed: Mesh, base: Mesh): bool {
  if (!isPosed(posed) || isPointLine(changetype<usize>(base)) || !isDeformable(base)) return false;
  const from = deformOf(baseOf(posed)), to = deformOf(base);
  return from.boneCount == to.boneCount && from.targetCount == to.targetCount;
}

/** Reserves memory for one more `repose` to `base`, which then cannot throw. Throws OUT_OF_MEMORY. */
export function reserveRepose(base: Mesh): void {
  draft = reserve(draft, 0, poseBytes(base));
  const room = allocate(posedBytes(base));
  store<usize>(room, rooms);
  rooms = room;
}

/** Frees the unused reservations. */
export function freeRooms(): void {
  while (rooms != 0) {
    const next = load<usize>(rooms);
    release(rooms);
    rooms = next;
  }
}

/**
 * Returns the new mesh of an object whose posed mesh was `posed`, and whose mesh at rest becomes `base`, which is another
 * mesh or has moved vertices: the same pose of `base`, or `base` itself if the pose gets too large. `reserveRepose` must be
 * called before.
 */
export function repose(posed: Mesh, base: Mesh, isRead: bool): Mesh {
  const pose = poseOf(posed);
  const given = givenAt(pose);
  const bones: usize = pose.hasBones ? given + 2 * MAP_BYTES : 0;
  const bind = changetype<Affine>(given), bindInverse = changetype<Affine>(given + MAP_BYTES);
  if (!draftOf(base, bones, bind, bindInverse, pose.hasMorphs ? morphWeightsAt(pose) : 0)) {
    retire(posed);
    return base;
  }
  const isNew = isRead || baseOf(posed) != base;
  const room = isNew ? rooms : 0;
  if (isNew) rooms = load<usize>(room);
  return placeDraft(posed, isRead, room);
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
    release(pose.hits);
    release(<usize>retired);
    retired = next;
  }
}
