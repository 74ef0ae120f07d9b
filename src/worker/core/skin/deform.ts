// Moves the vertices of a posed mesh and refits its tree: morph targets first, then bones, as three's shaders and
// `applyBoneTransform` do. Four numbers at a time in float32, in the tree space of the pose, which is centred at its bounds:
// so a pose far from the object's origin loses no precision. Maps are computed in float64.

import { hasArea } from '../math/collinear-triangles';
import { Affine } from '../math/affine';
import { allocate, release } from '../memory';
import { Deform, SHIFT_BYTES, bonesAt, cornerOf, deformOf, restAt, shiftsAt, weightsAt } from '../mesh/tree/deform-layout';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, takeSums } from '../mesh/tree/dipoles';
import {
  BLOCK_BYTES, BOX_PADDING, Block, DIPOLE_BYTES, Mesh, NODE_BYTES, TREE_EXTENT, blockAt, treeScale,
} from '../mesh/tree/layout';
import { exponentFor, scaleFor } from '../mesh/tree/tree-space';
import { FITTED_BYTES, fitTree, highBound, lowBound } from './fit-tree';
import { Pose, SET, SETTLED, SUMMED, boneMapAt, isPosed, morphWeightsAt, poseOf } from './pose';

/** A map in float32: three columns and a translation, four numbers each. */
const MAP32_BYTES: usize = 64;
/** A moved vertex: x, y, z and an unused number. */
const MOVED_BYTES: usize = 16;
/** Marks a lane without a triangle; and the flag on the number of a triangle without an area (mesh/tree/refit.ts). */
const NONE: u32 = 0xffffffff;
const FLAT: u32 = 0x80000000;
/** The minimum extent of a pose, so that one that collapses to a point has a tree space, too. */
const LEAST_EXTENT: f64 = 1e-36;

/** Updates the tree of a posed mesh to its vertices, if it is outdated. Throws OUT_OF_MEMORY. */
export function settle(mesh: Mesh): void {
  if (isPosed(mesh) && poseOf(mesh).state == SET) deform(mesh);
}

/** Like `settle`, and also updates the other data of the whole surface. Throws OUT_OF_MEMORY. */
export function settleWhole(mesh: Mesh): void {
  if (!isPosed(mesh)) return;
  settle(mesh);
  if (poseOf(mesh).state == SETTLED) sum(mesh);
}

const sums = changetype<SurfaceSums>(memory.data(<i32>offsetof<SurfaceSums>(), 16));

function sum(mesh: Mesh): void {
  const pose = poseOf(mesh);
  if (pose.dipoles == 0) pose.dipoles = <u32>allocate(<u64>mesh.nodeCount * DIPOLE_BYTES);
  mesh.dipoles = pose.dipoles - <u32>changetype<usize>(mesh);
  memory.fill(changetype<usize>(sums), 0, SURFACE_SUMS_BYTES);
  const radius = mesh.radius;
  sumNodes(mesh, sums, 0, mesh.nodeCount);
  takeSums(mesh, sums);
  mesh.radius = radius; // of the bounds, as before
  pose.state = SUMMED;
}

function deform(mesh: Mesh): void {
  const pose = poseOf(mesh);
  const base = changetype<Mesh>(pose.base);
  const count = deformOf(base).vertexCount;
  const treeBytes = base.nodeCount * <u32>NODE_BYTES;
  if (pose.tree == 0) {
    const tree = allocate(<u64>treeBytes + <u64>base.blockCount * BLOCK_BYTES);
    memory.copy(tree, changetype<usize>(base) + base.nodes, treeBytes);
    pose.tree = <u32>tree;
  }
  const mapBytes = pose.hasBones ? <u64>deformOf(base).boneCount * MAP32_BYTES : 0;
  const vertexBytes = <u64>count * MOVED_BYTES * (pose.hasMorphs ? 2 : 1);
  const scratch = allocate(mapBytes + vertexBytes + <u64>base.nodeCount * FITTED_BYTES);
  mesh.nodes = pose.tree - <u32>changetype<usize>(mesh);
  mesh.blocks = mesh.nodes + treeBytes;
  chooseSpace(mesh, pose);
  const moved = scratch + <usize>mapBytes;
  moveVertices(mesh, pose, base, scratch, moved);
  mesh.keptCount = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    mesh.keptCount += writeBlock(base, blockAt(base, index), blockAt(mesh, index), moved);
  }
  fitNodes(mesh, moved + <usize>vertexBytes);
  release(scratch);
  pose.state = SETTLED;
}

/** Chooses a tree space that contains the bounds. */
function chooseSpace(mesh: Mesh, pose: Pose): void {
  mesh.offsetX = 0.5 * (pose.lowX + pose.highX);
  mesh.offsetY = 0.5 * (pose.lowY + pose.highY);
  mesh.offsetZ = 0.5 * (pose.lowZ + pose.highZ);
  const x = pose.highX - mesh.offsetX, y = pose.highY - mesh.offsetY, z = pose.highZ - mesh.offsetZ;
  mesh.exponent = exponentFor(max(max(max(x, y), z), LEAST_EXTENT));
}

// --- vertices ---

function moveVertices(mesh: Mesh, pose: Pose, base: Mesh, maps: usize, moved: usize): void {
  const deform = deformOf(base);
  let rest = restAt(deform, 0);
  if (pose.hasMorphs) {
    const morphed = moved + <usize>deform.vertexCount * MOVED_BYTES;
    addTargets(pose, deform, morphed);
    rest = morphed;
  }
  if (pose.hasBones) {
    for (let bone: u32 = 0; bone < deform.boneCount; bone++) writeMap(maps + <usize>bone * MAP32_BYTES, mesh, boneMapAt(pose, bone));
    moveByBones(mesh, pose, deform, rest, maps, moved);
  } else moveAlone(mesh, base, deform.vertexCount, rest, moved);
}

/** Applies the morph targets to the vertices. */
function addTargets(pose: Pose, deform: Deform, morphed: usize): void {
  const bytes = <usize>deform.vertexCount * MOVED_BYTES;
  memory.copy(morphed, restAt(deform, 0), bytes);
  const weights = morphWeightsAt(pose);
  // The fourth number is what the weights lack to 1, and is kept.
  const three = i32x4(-1, -1, -1, 0);
  for (let target: u32 = 0; target < deform.targetCount; target++) {
    const weight = load<f32>(weights + (<usize>target << 2));
    if (weight == 0) continue;
    const share = f32x4.splat(weight);
    let shift = shiftsAt(deform, target);
    for (let at = morphed; at < morphed + bytes; at += MOVED_BYTES) {
      v128.store(at, f32x4.add(v128.load(at), v128.and(three, f32x4.mul(share, v128.load(shift)))));
      shift += SHIFT_BYTES;
    }
  }
}

/** Writes a bone's map, changed to lead to the tree space of the pose. */
function writeMap(to: usize, mesh: Mesh, map: Affine): void {
  const scale = treeScale(mesh);
  v128.store(to, f32x4(<f32>(map.xx * scale), <f32>(map.xy * scale), <f32>(map.xz * scale), 0));
  v128.store(to, f32x4(<f32>(map.yx * scale), <f32>(map.yy * scale), <f32>(map.yz * scale), 0), 16);
  v128.store(to, f32x4(<f32>(map.zx * scale), <f32>(map.zy * scale), <f32>(map.zz * scale), 0), 32);
  const x = map.tx - mesh.offsetX, y = map.ty - mesh.offsetY, z = map.tz - mesh.offsetZ;
  v128.store(to, f32x4(<f32>(x * scale), <f32>(y * scale), <f32>(z * scale), 0), 48);
}

/** Moves each vertex by up to four bones. */
function moveByBones(mesh: Mesh, pose: Pose, deform: Deform, rest: usize, maps: usize, moved: usize): void {
  const scale = treeScale(mesh);
  const nowhere = f32x4(
    <f32>((pose.nowhereX - mesh.offsetX) * scale), <f32>((pose.nowhereY - mesh.offsetY) * scale),
    <f32>((pose.nowhereZ - mesh.offsetZ) * scale), 0,
  );
  let weights = weightsAt(deform, 0), bones = bonesAt(deform, 0), from = rest;
  for (let to = moved, end = moved + <usize>deform.vertexCount * MOVED_BYTES; to < end; to += MOVED_BYTES) {
    const vertex = v128.load(from), weight = v128.load(weights);
    const x = v128.shuffle<f32>(vertex, vertex, 0, 0, 0, 0), y = v128.shuffle<f32>(vertex, vertex, 1, 1, 1, 1);
    const z = v128.shuffle<f32>(vertex, vertex, 2, 2, 2, 2), lack = v128.shuffle<f32>(vertex, vertex, 3, 3, 3, 3);
    const one = maps + <usize>load<u16>(bones) * MAP32_BYTES, two = maps + <usize>load<u16>(bones, 2) * MAP32_BYTES;
    const three = maps + <usize>load<u16>(bones, 4) * MAP32_BYTES, four = maps + <usize>load<u16>(bones, 6) * MAP32_BYTES;
    let sum = f32x4.mul(nowhere, lack);
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 0, 0, 0, 0), image(one, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 1, 1, 1, 1), image(two, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 2, 2, 2, 2), image(three, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 3, 3, 3, 3), image(four, x, y, z)));
    v128.store(to, held(sum));
    from += MOVED_BYTES;
    weights += 16;
    bones += 8;
  }
}

// @ts-ignore: decorator
@inline
function image(map: usize, x: v128, y: v128, z: v128): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(v128.load(map), x), f32x4.mul(v128.load(map, 16), y)),
    f32x4.add(f32x4.mul(v128.load(map, 32), z), v128.load(map, 48)),
  );
}

/**
 * Clamps a point to tree space: the bounds contain all regular data, and irregular data (NaN, wrong bounds) cannot leave it.
 */
// @ts-ignore: decorator
@inline
function held(place: v128): v128 {
  // The order of the operands turns NaN into a number.
  return f32x4.pmax(f32x4.splat(-TREE_EXTENT), f32x4.pmin(f32x4.splat(TREE_EXTENT), place));
}

/** Moves vertices from the tree space of the mesh at rest to that of the pose, without deforming them. */
function moveAlone(mesh: Mesh, base: Mesh, count: u32, rest: usize, moved: usize): void {
  const scale = treeScale(mesh), ratio = scale / treeScale(base);
  const stretch = f32x4.splat(<f32>ratio);
  const place = f32x4(
    <f32>((base.offsetX - mesh.offsetX) * scale), <f32>((base.offsetY - mesh.offsetY) * scale),
    <f32>((base.offsetZ - mesh.offsetZ) * scale), 0,
  );
  for (let at: usize = 0, end = <usize>count * MOVED_BYTES; at < end; at += MOVED_BYTES) {
    v128.store(moved + at, held(f32x4.add(f32x4.mul(stretch, v128.load(rest + at)), place)));
  }
}

// --- the tree ---

/** A triangle certainly has an area if its normal is this much longer than its rounding error: the square of 2⁻²⁰. */
const SURE_AREA: f32 = 9.094947017729282e-13;

/** Writes a block's triangles with their moved corners. Returns how many of them have an area. */
function writeBlock(base: Mesh, from: Block, to: Block, moved: usize): u32 {
  const at = changetype<usize>(to);
  for (let k: u32 = 0; k < 3; k++) {
    const p = placeOf(base, from, 0, k, moved), q = placeOf(base, from, 1, k, moved);
    const r = placeOf(base, from, 2, k, moved), s = placeOf(base, from, 3, k, moved);
    // Transposes four points to lanes of x, y and z.
    const pq = v128.shuffle<f32>(p, q, 0, 4, 1, 5), rs = v128.shuffle<f32>(r, s, 0, 4, 1, 5);
    const zs = v128.shuffle<f32>(v128.shuffle<f32>(p, q, 2, 6, 2, 6), v128.shuffle<f32>(r, s, 2, 6, 2, 6), 0, 1, 4, 5);
    const corner = at + <usize>k * 48;
    v128.store(corner, v128.shuffle<f32>(pq, rs, 0, 1, 4, 5));
    v128.store(corner, v128.shuffle<f32>(pq, rs, 2, 3, 6, 7), 16);
    v128.store(corner, zs, 32);
  }
  const triangles = v128.load(changetype<usize>(from), offsetof<Block>('triangle0'));
  const none = i32x4.eq(triangles, i32x4.splat(-1));
  const numbers = v128.and(triangles, i32x4.splat(i32.MAX_VALUE));
  const ex = f32x4.sub(to.bx, to.ax), ey = f32x4.sub(to.by, to.ay), ez = f32x4.sub(to.bz, to.az);
  const fx = f32x4.sub(to.cx, to.ax), fy = f32x4.sub(to.cy, to.ay), fz = f32x4.sub(to.cz, to.az);
  const nx = f32x4.sub(f32x4.mul(ey, fz), f32x4.mul(ez, fy));
  const ny = f32x4.sub(f32x4.mul(ez, fx), f32x4.mul(ex, fz));
  const nz = f32x4.sub(f32x4.mul(ex, fy), f32x4.mul(ey, fx));
  const limit = f32x4.mul(f32x4.splat(SURE_AREA), f32x4.mul(squares(ex, ey, ez), squares(fx, fy, fz)));
  const sure = v128.andnot(f32x4.gt(squares(nx, ny, nz), limit), none);
  v128.store(at, v128.or(numbers, none), offsetof<Block>('triangle0'));
  const bits = i32x4.bitmask(sure);
  if (bits == 15) return 4;
  let count: u32 = popcnt(bits);
  for (let lane: usize = 0; lane < 4; lane++) {
    if (bits & (1 << <i32>lane)) continue;
    const corner = at + (lane << 2);
    const word = load<u32>(corner, offsetof<Block>('triangle0'));
    if (word != NONE) {
      if (isSolid(corner)) {
        count++;
        continue;
      }
      store<u32>(corner, word | FLAT, offsetof<Block>('triangle0'));
    }
    makePoint(corner);
  }
  return count;
}

// @ts-ignore: decorator
@inline
function squares(x: v128, y: v128, z: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
}

/** Returns a corner of a lane's triangle; a lane without a triangle has the corners of the first. */
// @ts-ignore: decorator
@inline
function placeOf(base: Mesh, from: Block, lane: usize, k: u32, moved: usize): v128 {
  const word = load<u32>(changetype<usize>(from) + (lane << 2), offsetof<Block>('triangle0'));
  const triangle = word == NONE ? from.triangle0 : word;
  return v128.load(moved + <usize>cornerOf(base, triangle & ~FLAT, k) * MOVED_BYTES);
}

function isSolid(corner: usize): bool {
  return hasArea(
    load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), load<f32>(corner, 48), load<f32>(corner, 64),
    load<f32>(corner, 80), load<f32>(corner, 96), load<f32>(corner, 112), load<f32>(corner, 128),
  );
}

/** Collapses a triangle to its first corner. */
function makePoint(corner: usize): void {
  for (let at = corner; at < corner + 48; at += 16) {
    store<f32>(at, load<f32>(at), 48);
    store<f32>(at, load<f32>(at), 96);
  }
}

/** Fits the boxes around the triangles, children before their parents, and the bounds of the mesh. */
function fitNodes(mesh: Mesh, scratch: usize): void {
  fitTree(mesh, scratch, TREE_EXTENT * BOX_PADDING);
  const low = lowBound(), high = highBound();
  const shrink = 1.0 / treeScale(mesh);
  mesh.lowX = <f64>f32x4.extract_lane(low, 0) * shrink + mesh.offsetX;
  mesh.lowY = <f64>f32x4.extract_lane(low, 1) * shrink + mesh.offsetY;
  mesh.lowZ = <f64>f32x4.extract_lane(low, 2) * shrink + mesh.offsetZ;
  mesh.highX = <f64>f32x4.extract_lane(high, 0) * shrink + mesh.offsetX;
  mesh.highY = <f64>f32x4.extract_lane(high, 1) * shrink + mesh.offsetY;
  mesh.highZ = <f64>f32x4.extract_lane(high, 2) * shrink + mesh.offsetZ;
}
