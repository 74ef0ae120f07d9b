// Computes the data for deforming a mesh, in steps: vertices, weights and shifts in the mesh's tree space, and for each
// bone two oriented boxes: one around all vertices that it moves at all, which bounds poses, and the hit box around
// those that no other bone moves more. Both have the same axes, so that one is within the other: the principal axes of
// the vertices of the hit box, if there are any, otherwise of all (Gottschalk, Lin and Manocha, "OBBTree", 1996).

import { allocate, release } from '../../memory';
import { diagonalise, eigenvector } from '../../math/jacobi';
import {
  BONE_BOX_BYTES, Deform, RANGE_BYTES, SHIFT_BYTES, boneBoxAt, bonesAt, vertexOfCorner, deformOf, targetPositionsAt, rangeAt,
  restVertexAt, shiftsAt, weightsAt,
} from '../tree/deform-layout';
import { Block, LEAF, Mesh, blockAt, treeScale } from '../tree/layout';

/** The input for baking, as given by the caller, and the progress. */
@unmanaged
export class DeformBuild {
  boneCount: u32;
  targetCount: u32;
  vertexCount: u32;
  /** 1 if targets are shifts, 0 if they are positions. */
  areRelative: u32;
  bones: usize; // u16, four per vertex
  weights: usize; // f32, four per vertex
  targets: usize; // f32 xyz per vertex, for each target in turn
  positions: usize; // f32 xyz per vertex
  sums: usize; // two BoneSums per bone
  inTree: usize; // u8 per vertex
  phase: u32;
  cursor: u32;
  /** DEFORM_*, followed by the culprit. */
  error: u32;
  culprit: u32;
  /**
   * 0 for the first bake; otherwise the factor by which the scale of tree space has grown since the targets were stored.
   */
  growth: f64;
}

export const DEFORM_BAD_BONE: u32 = 3;
export const DEFORM_BAD_WEIGHT: u32 = 4;
export const DEFORM_BAD_TARGET: u32 = 5;

/** Sums over vertices that a bone moves: their number, and their first and second moments. */
@unmanaged
class BoneSums {
  count: f64;
  x: f64; y: f64; z: f64;
  xx: f64; xy: f64; xz: f64; yy: f64; yz: f64; zz: f64;
  // Later: bounds along the axes of the box.
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
}

const BONE_SUMS_BYTES: usize = offsetof<BoneSums>();
/** Each bone has the sums over all vertices that it moves, and over those of its hit box. */
const BOTH_SUMS_BYTES: usize = 2 * offsetof<BoneSums>();

const PHASE_MARK = 0;
const PHASE_VERTICES = 1;
const PHASE_AXES = 2;
const PHASE_EXTENTS = 3;
const PHASE_BOXES = 4;
const PHASE_TARGETS = 5;
const PHASE_DONE = 6;

const VERTICES_PER_STEP: u32 = 4096;
const AXIS_TOLERANCE: f64 = 1e-12;

/** Allocates the arrays that the caller must fill. Throws OUT_OF_MEMORY. */
export function reserveDeform(d: DeformBuild, vertexCount: u32, boneCount: u32, targetCount: u32, areRelative: bool): void {
  memory.fill(changetype<usize>(d), 0, offsetof<DeformBuild>());
  d.vertexCount = vertexCount;
  d.boneCount = boneCount;
  d.targetCount = targetCount;
  d.areRelative = areRelative ? 1 : 0;
  if (boneCount > 0) {
    d.bones = allocate(<u64>vertexCount * 8);
    d.weights = allocate(<u64>vertexCount * 16);
    d.sums = allocate(<u64>boneCount * BOTH_SUMS_BYTES);
    memory.fill(d.sums, 0, <usize>boneCount * BOTH_SUMS_BYTES);
  }
  if (targetCount > 0) d.targets = allocate(<u64>vertexCount * 12 * targetCount);
  d.inTree = allocate(vertexCount);
  memory.fill(d.inTree, 0, vertexCount);
}

export function freeDeform(d: DeformBuild): void {
  release(d.bones);
  release(d.weights);
  release(d.targets);
  release(d.sums);
  release(d.inTree);
}

/** Returns whether targets are positions, which are stored as given: moving the vertices does not change them. */
export function areAbsolute(d: DeformBuild): u32 {
  return d.targetCount > 0 && d.areRelative == 0 ? 1 : 0;
}

/** Works for one step. Returns whether all is done, which is false if there is an `error`. */
export function stepDeform(d: DeformBuild, mesh: Mesh): bool {
  if (d.phase == PHASE_MARK) markVertices(d, mesh);
  else if (d.phase == PHASE_VERTICES) storeVertices(d, mesh);
  else if (d.phase == PHASE_AXES) chooseAxes(d, mesh);
  else if (d.phase == PHASE_EXTENTS) measureExtents(d, mesh);
  else if (d.phase == PHASE_BOXES) storeBoxes(d, mesh);
  else if (d.phase == PHASE_TARGETS) storeTargets(d, mesh);
  return d.phase == PHASE_DONE;
}

function clear(start: usize, end: usize): void {
  memory.fill(start, 0, end - start);
}

function beginPhase(d: DeformBuild, phase: u32): void {
  d.phase = phase;
  d.cursor = 0;
}

/** Marks the vertices of the triangles in the tree: all others are ignored, and need not be finite. */
function markVertices(d: DeformBuild, mesh: Mesh): void {
  const end = min<u32>(d.cursor + VERTICES_PER_STEP, mesh.blockCount);
  for (let index = d.cursor; index < end; index++) {
    const at = changetype<usize>(blockAt(mesh, index | LEAF));
    for (let lane: usize = 0; lane < 4; lane++) {
      const word = load<u32>(at + (lane << 2), offsetof<Block>('triangle0'));
      if (word == 0xffffffff) continue;
      for (let k: u32 = 0; k < 3; k++) store<u8>(d.inTree + vertexOfCorner(mesh, word & 0x7fffffff, k), 1);
    }
  }
  d.cursor = end;
  if (end < mesh.blockCount) return;
  const deform = deformOf(mesh);
  deform.vertexCount = d.vertexCount;
  deform.boneCount = d.boneCount;
  deform.targetCount = d.targetCount;
  deform.maxWeightSum = 0;
  deform.minWeightDeficit = d.boneCount == 0 ? 0 : Infinity;
  deform.maxWeightDeficit = d.boneCount == 0 ? 0 : -Infinity;
  deform.areAbsolute = areAbsolute(d);
  deform.pad = 0;
  // Clears the padding between sections and after the last one.
  const stop = changetype<usize>(deform) + mesh.deformBytes;
  if (d.boneCount > 0) clear(bonesAt(deform, d.vertexCount), changetype<usize>(boneBoxAt(deform, 0)));
  if (d.targetCount > 0) clear(shiftsAt(deform, d.targetCount), deform.areAbsolute ? targetPositionsAt(deform, 0) : stop);
  if (deform.areAbsolute) clear(targetPositionsAt(deform, d.targetCount), stop);
  beginPhase(d, PHASE_VERTICES);
}

// @ts-ignore: decorator
@inline
function isInTree(d: DeformBuild, vertex: u32): bool {
  return load<u8>(d.inTree + vertex) != 0;
}

// @ts-ignore: decorator
@inline
function isFinite32(value: f32): bool {
  return value - value == 0;
}

function storeVertices(d: DeformBuild, mesh: Mesh): void {
  const deform = deformOf(mesh);
  const scale = treeScale(mesh);
  const end = min<u32>(d.cursor + VERTICES_PER_STEP, d.vertexCount);
  for (let i = d.cursor; i < end; i++) {
    const from = d.positions + <usize>i * 12, to = restVertexAt(deform, i);
    const isUsed = isInTree(d, i);
    store<f32>(to, isUsed ? <f32>((<f64>load<f32>(from) - mesh.offsetX) * scale) : 0);
    store<f32>(to, isUsed ? <f32>((<f64>load<f32>(from, 4) - mesh.offsetY) * scale) : 0, 4);
    store<f32>(to, isUsed ? <f32>((<f64>load<f32>(from, 8) - mesh.offsetZ) * scale) : 0, 8);
    store<f32>(to, 0, 12);
    if (d.boneCount > 0 && !storeWeights(d, deform, i, to, isUsed)) return;
  }
  d.cursor = end;
  if (end < d.vertexCount) return;
  if (!(deform.minWeightDeficit <= deform.maxWeightDeficit)) deform.minWeightDeficit = deform.maxWeightDeficit = 0;
  beginPhase(d, d.boneCount > 0 ? PHASE_AXES : PHASE_TARGETS);
}

/** Stores a vertex's skin data, and adds the vertex to its bones' sums. Returns false if the skin is invalid. */
function storeWeights(d: DeformBuild, deform: Deform, i: u32, rest: usize, isUsed: bool): bool {
  const weights = d.weights + <usize>i * 16, bones = d.bones + <usize>i * 8;
  let sum: f64 = 0, magnitudeSum: f64 = 0;
  let lastBone: u32 = 0;
  for (let k: usize = 4; k-- > 0; ) {
    const weight = load<f32>(weights + (k << 2)), bone = <u32>load<u16>(bones + (k << 1));
    if (!isFinite32(weight)) {
      d.error = DEFORM_BAD_WEIGHT;
      d.culprit = (i << 2) + <u32>k;
      return false;
    }
    if (weight == 0) continue;
    if (bone >= d.boneCount) {
      d.error = DEFORM_BAD_BONE;
      d.culprit = (i << 2) + <u32>k;
      return false;
    }
    sum += <f64>weight;
    magnitudeSum += abs(<f64>weight);
    lastBone = bone;
  }
  const x = <f64>load<f32>(rest), y = <f64>load<f32>(rest, 4), z = <f64>load<f32>(rest, 8);
  for (let k: usize = 0; k < 4; k++) {
    const weight = load<f32>(weights + (k << 2)), bone = <u32>load<u16>(bones + (k << 1));
    store<f32>(weightsAt(deform, i) + (k << 2), weight);
    store<u16>(bonesAt(deform, i) + (k << 1), <u16>(weight == 0 ? lastBone : bone));
    if (weight != 0 && isUsed) addTo(sumsOf(d, bone), x, y, z);
  }
  const deficit = <f32>(1.0 - sum);
  store<f32>(rest, deficit, 12);
  if (!isUsed) return true;
  const strongest = strongestBone(weights, bones);
  if (strongest >= 0) addTo(hitSumsOf(d, <u32>strongest), x, y, z);
  deform.minWeightDeficit = min(deform.minWeightDeficit, deficit);
  deform.maxWeightDeficit = max(deform.maxWeightDeficit, deficit);
  deform.maxWeightSum = max(deform.maxWeightSum, <f32>magnitudeSum); // rounding errors are within ROUNDING of skin/pose.ts
  return true;
}

/**
 * Returns the bone that moves a vertex most, by its four weights; the first of several, -1 if none moves it. A bone that
 * occurs twice has the sum of both weights, as in skin/bone-at.ts.
 */
function strongestBone(weights: usize, bones: usize): i32 {
  let best: i32 = -1;
  let bestWeight: f64 = -Infinity;
  for (let k: usize = 0; k < 4; k++) {
    if (load<f32>(weights + (k << 2)) == 0) continue;
    const bone = <i32>load<u16>(bones + (k << 1));
    let weight: f64 = 0;
    for (let i: usize = 0; i < 4; i++) {
      if (<i32>load<u16>(bones + (i << 1)) == bone) weight += <f64>load<f32>(weights + (i << 2));
    }
    if (weight < bestWeight || (weight == bestWeight && bone >= best)) continue;
    bestWeight = weight;
    best = bone;
  }
  return best;
}

function sumsOf(d: DeformBuild, bone: u32): BoneSums {
  return changetype<BoneSums>(d.sums + <usize>bone * BOTH_SUMS_BYTES);
}

function hitSumsOf(d: DeformBuild, bone: u32): BoneSums {
  return changetype<BoneSums>(d.sums + <usize>bone * BOTH_SUMS_BYTES + BONE_SUMS_BYTES);
}

function addTo(s: BoneSums, x: f64, y: f64, z: f64): void {
  s.count += 1;
  s.x += x; s.y += y; s.z += z;
  s.xx += x * x; s.xy += x * y; s.xz += x * z;
  s.yy += y * y; s.yz += y * z; s.zz += z * z;
}

const BONES_PER_STEP: u32 = 256;

function chooseAxes(d: DeformBuild, mesh: Mesh): void {
  const deform = deformOf(mesh);
  const end = min<u32>(d.cursor + BONES_PER_STEP, d.boneCount);
  for (let bone = d.cursor; bone < end; bone++) {
    const box = boneBoxAt(deform, bone), hit = hitSumsOf(d, bone);
    memory.fill(changetype<usize>(box), 0, BONE_BOX_BYTES);
    clearExtents(sumsOf(d, bone));
    clearExtents(hit);
    const s = hit.count == 0 ? sumsOf(d, bone) : hit;
    if (s.count == 0) continue;
    const inverseCount = 1.0 / s.count;
    const x = s.x * inverseCount, y = s.y * inverseCount, z = s.z * inverseCount;
    diagonalise(
      s.xx * inverseCount - x * x, s.xy * inverseCount - x * y, s.xz * inverseCount - x * z,
      s.yy * inverseCount - y * y, s.yz * inverseCount - y * z, s.zz * inverseCount - z * z,
      AXIS_TOLERANCE,
    );
    box.isUsed = 1;
    box.xx = eigenvector(0, 0); box.xy = eigenvector(1, 0); box.xz = eigenvector(2, 0);
    box.yx = eigenvector(0, 1); box.yy = eigenvector(1, 1); box.yz = eigenvector(2, 1);
    // Perpendicular to both, to the last bit or nearly: extents are measured along the stored axes.
    box.zx = box.xy * box.yz - box.xz * box.yy;
    box.zy = box.xz * box.yx - box.xx * box.yz;
    box.zz = box.xx * box.yy - box.xy * box.yx;
  }
  d.cursor = end;
  if (end == d.boneCount) beginPhase(d, PHASE_EXTENTS);
}

function clearExtents(s: BoneSums): void {
  s.minX = s.minY = s.minZ = Infinity;
  s.maxX = s.maxY = s.maxZ = -Infinity;
}

function measureExtents(d: DeformBuild, mesh: Mesh): void {
  const deform = deformOf(mesh);
  const end = min<u32>(d.cursor + VERTICES_PER_STEP, d.vertexCount);
  for (let i = d.cursor; i < end; i++) {
    if (!isInTree(d, i)) continue;
    const rest = restVertexAt(deform, i), weights = weightsAt(deform, i), bones = bonesAt(deform, i);
    const x = <f64>load<f32>(rest), y = <f64>load<f32>(rest, 4), z = <f64>load<f32>(rest, 8);
    const strongest = strongestBone(weights, bones);
    for (let k: usize = 0; k < 4; k++) {
      if (load<f32>(weights + (k << 2)) == 0) continue;
      const bone = <u32>load<u16>(bones + (k << 1));
      const box = boneBoxAt(deform, bone);
      const u = box.xx * x + box.xy * y + box.xz * z;
      const v = box.yx * x + box.yy * y + box.yz * z;
      const w = box.zx * x + box.zy * y + box.zz * z;
      extend(sumsOf(d, bone), u, v, w);
      if (<i32>bone == strongest) extend(hitSumsOf(d, bone), u, v, w);
    }
  }
  d.cursor = end;
  if (end == d.vertexCount) beginPhase(d, PHASE_BOXES);
}

// @ts-ignore: decorator
@inline
function extend(s: BoneSums, u: f64, v: f64, w: f64): void {
  s.minX = min(s.minX, u); s.maxX = max(s.maxX, u);
  s.minY = min(s.minY, v); s.maxY = max(s.maxY, v);
  s.minZ = min(s.minZ, w); s.maxZ = max(s.maxZ, w);
}

/** How much a box is enlarged, in tree space: axes are perpendicular up to some 2⁻⁵⁰. */
const BOX_MARGIN: f64 = 9.5367431640625e-7; // 2^-20

function storeBoxes(d: DeformBuild, mesh: Mesh): void {
  const deform = deformOf(mesh);
  const end = min<u32>(d.cursor + BONES_PER_STEP, d.boneCount);
  for (let bone = d.cursor; bone < end; bone++) {
    const box = boneBoxAt(deform, bone), s = sumsOf(d, bone);
    if (!box.isUsed) continue;
    const x = 0.5 * (s.minX + s.maxX), y = 0.5 * (s.minY + s.maxY), z = 0.5 * (s.minZ + s.maxZ);
    const hx = 0.5 * (s.maxX - s.minX) + BOX_MARGIN, hy = 0.5 * (s.maxY - s.minY) + BOX_MARGIN,
      hz = 0.5 * (s.maxZ - s.minZ) + BOX_MARGIN;
    box.tx = box.xx * x + box.yx * y + box.zx * z;
    box.ty = box.xy * x + box.yy * y + box.zy * z;
    box.tz = box.xz * x + box.yz * y + box.zz * z;
    box.xx *= hx; box.xy *= hx; box.xz *= hx;
    box.yx *= hy; box.yy *= hy; box.yz *= hy;
    box.zx *= hz; box.zy *= hz; box.zz *= hz;
    const hit = hitSumsOf(d, bone);
    if (hit.count == 0) continue;
    box.hasHitBox = 1;
    // Within the cube, since this box is enlarged by the same amount.
    box.hitMinX = (hit.minX - x - BOX_MARGIN) / hx; box.hitMaxX = (hit.maxX - x + BOX_MARGIN) / hx;
    box.hitMinY = (hit.minY - y - BOX_MARGIN) / hy; box.hitMaxY = (hit.maxY - y + BOX_MARGIN) / hy;
    box.hitMinZ = (hit.minZ - z - BOX_MARGIN) / hz; box.hitMaxZ = (hit.maxZ - z + BOX_MARGIN) / hz;
  }
  d.cursor = end;
  if (end == d.boneCount) beginPhase(d, PHASE_TARGETS);
}

/** Returns a shift in tree space. */
// @ts-ignore: decorator
@inline
function shiftOf(displacement: f64, scale: f64, isUsed: bool, isRefit: bool): f32 {
  const shift = <f32>(displacement * scale);
  if (!isUsed && !isFinite32(shift)) return 0; // it moves nothing
  return isRefit ? max(min(shift, f32.MAX_VALUE), -f32.MAX_VALUE) : shift; // poses that use the largest shifts are refused
}

/** Stores the shifts of some vertices of all targets. */
function storeTargets(d: DeformBuild, mesh: Mesh): void {
  const deform = deformOf(mesh);
  const isRefit = d.growth != 0;
  // Shifts that were stored before are in the previous tree space.
  const scale = isRefit && d.areRelative ? d.growth : treeScale(mesh);
  if (d.cursor == 0) memory.fill(rangeAt(deform, 0), 0, <usize>d.targetCount * RANGE_BYTES);
  const end = min<u32>(d.cursor + max<u32>(1, VERTICES_PER_STEP / max<u32>(1, d.targetCount)), d.vertexCount);
  for (let target: u32 = 0; target < d.targetCount; target++) {
    const range = rangeAt(deform, target);
    for (let i = d.cursor; i < end; i++) {
      const input = d.targets + (<usize>target * d.vertexCount + i) * 12;
      const to = shiftsAt(deform, target) + <usize>i * 12;
      for (let axis: usize = 0; axis < 12; axis += 4) {
        const value = load<f32>(input + axis);
        const from = d.areRelative ? 0 : <f64>load<f32>(d.positions + <usize>i * 12 + axis);
        const isUsed = isInTree(d, i), shift = shiftOf(<f64>value - from, scale, isUsed, isRefit);
        if (!isFinite32(value) || !isFinite32(shift)) {
          d.error = DEFORM_BAD_TARGET;
          d.culprit = (target * d.vertexCount + i) * 3 + <u32>(axis >> 2);
          return;
        }
        store<f32>(to + axis, shift);
        if (deform.areAbsolute && !isRefit) store<f32>(targetPositionsAt(deform, target) + <usize>i * SHIFT_BYTES + axis, value);
        if (!isUsed) continue;
        store<f32>(range + axis, min(load<f32>(range + axis), shift));
        store<f32>(range + axis, max(load<f32>(range + axis, 12), shift), 12);
      }
    }
  }
  d.cursor = end;
  if (end == d.vertexCount) beginPhase(d, PHASE_DONE);
}

// --- when vertices move ---

const BUILD_BYTES: usize = (offsetof<DeformBuild>() + 15) & ~15;

/** Returns how many bytes of scratch memory `refitDeform` needs. */
export function refitDeformBytes(mesh: Mesh): usize {
  const deform = deformOf(mesh);
  return BUILD_BYTES + <usize>deform.boneCount * BOTH_SUMS_BYTES + deform.vertexCount;
}

/**
 * Updates the data for deformation, after a mesh's tree was refitted to `positions`, to what a build would compute: skin
 * and targets are the stored ones. `scaleBefore` is the scale of the previous tree space. Allocates nothing.
 */
export function refitDeform(mesh: Mesh, positions: usize, scaleBefore: f64, scratch: usize): void {
  beginRefitDeform(mesh, positions, scaleBefore, scratch);
  while (!stepDeform(changetype<DeformBuild>(scratch), mesh));
}

/** Begins the same, as a DeformBuild at `scratch`, which `stepDeform` continues. */
export function beginRefitDeform(mesh: Mesh, positions: usize, scaleBefore: f64, scratch: usize): void {
  const deform = deformOf(mesh);
  const d = changetype<DeformBuild>(scratch);
  memory.fill(scratch, 0, refitDeformBytes(mesh));
  d.vertexCount = deform.vertexCount;
  d.boneCount = deform.boneCount;
  d.targetCount = deform.targetCount;
  d.areRelative = deform.areAbsolute ? 0 : 1;
  d.growth = treeScale(mesh) / scaleBefore;
  d.positions = positions;
  d.weights = weightsAt(deform, 0);
  d.bones = bonesAt(deform, 0);
  d.targets = deform.areAbsolute ? targetPositionsAt(deform, 0) : shiftsAt(deform, 0);
  d.sums = scratch + BUILD_BYTES;
  d.inTree = d.sums + <usize>deform.boneCount * BOTH_SUMS_BYTES;
}

/** Writes one of a mesh's targets as it was given, f32 xyz per vertex. */
export function copyTarget(mesh: Mesh, target: u32, to: usize): void {
  const deform = deformOf(mesh);
  const bytes = <usize>deform.vertexCount * SHIFT_BYTES;
  if (deform.areAbsolute) {
    memory.copy(to, targetPositionsAt(deform, target), bytes);
    return;
  }
  const inverseScale = 1.0 / treeScale(mesh), from = shiftsAt(deform, target);
  for (let at: usize = 0; at < bytes; at += 4) store<f32>(to + at, <f32>(<f64>load<f32>(from + at) * inverseScale));
}
