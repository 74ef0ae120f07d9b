// Moves the vertices of a posed mesh and refits its tree: morph targets first, then bones, as three's shaders and
// `applyBoneTransform` do. Four numbers at a time in float32, in the tree space of the pose, which is centred at its bounds:
// so a pose far from the object's origin loses no precision. Maps are computed in float64.

import { hasArea } from '../math/collinear-triangles';
import { Affine } from '../math/affine';
import { allocate, release } from '../memory';
import {
  Deform, SHIFT_BYTES, bonesAt, vertexOfCorner, deformOf, restVertexAt, shiftsAt, weightsAt,
} from '../mesh/tree/deform-layout';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, applySums } from '../mesh/tree/dipoles';
import {
  BLOCK_BYTES, BOX_PADDING, Block, DIPOLE_BYTES, Mesh, NODE_BYTES, TREE_EXTENT, blockAt, treeScale,
} from '../mesh/tree/layout';
import { exponentFor, scaleFor } from '../mesh/tree/tree-space';
import { FITTED_NODE_BYTES, fitTree, fittedMax, fittedMin } from './fit-tree';
import { Pose, BOUNDS_CURRENT, TREE_CURRENT, SUMS_CURRENT, boneMapAt, isPosed, morphWeightsAt, poseOf } from './pose';

/** A map in float32: three columns and a translation, four numbers each. */
const MAP32_BYTES: usize = 64;
/** A moved vertex: x, y, z and an unused number. */
const VERTEX_BYTES: usize = 16;
/** Marks a lane without a triangle; and the flag on the index of a triangle without an area (mesh/tree/refit.ts). */
const NONE: u32 = 0xffffffff;
const FLAT: u32 = 0x80000000;
/** The minimum extent of a pose, so that one that collapses to a point has a tree space, too. */
const MIN_EXTENT: f64 = 1e-36;

/** Updates the tree of a posed mesh to its vertices, if it is outdated. Throws OUT_OF_MEMORY. */
export function refitPose(mesh: Mesh): void {
  if (isPosed(mesh) && poseOf(mesh).state == BOUNDS_CURRENT) deform(mesh);
}

/** Like `refitPose`, and also updates the other data of the whole surface. Throws OUT_OF_MEMORY. */
export function refitPoseAndSums(mesh: Mesh): void {
  if (!isPosed(mesh)) return;
  refitPose(mesh);
  if (poseOf(mesh).state == TREE_CURRENT) updateSums(mesh);
}

const sums = changetype<SurfaceSums>(memory.data(<i32>offsetof<SurfaceSums>(), 16));

function updateSums(mesh: Mesh): void {
  const pose = poseOf(mesh);
  if (pose.dipoles == 0) pose.dipoles = <u32>allocate(<u64>mesh.nodeCount * DIPOLE_BYTES);
  mesh.dipoles = pose.dipoles - <u32>changetype<usize>(mesh);
  memory.fill(changetype<usize>(sums), 0, SURFACE_SUMS_BYTES);
  const radius = mesh.radius;
  sumNodes(mesh, sums, 0, mesh.nodeCount);
  applySums(mesh, sums);
  mesh.radius = radius; // of the bounds, as before
  pose.state = SUMS_CURRENT;
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
  const vertexBytes = <u64>count * VERTEX_BYTES * (pose.hasMorphs ? 2 : 1);
  const scratch = allocate(mapBytes + vertexBytes + <u64>base.nodeCount * FITTED_NODE_BYTES);
  mesh.nodes = pose.tree - <u32>changetype<usize>(mesh);
  mesh.blocks = mesh.nodes + treeBytes;
  chooseSpace(mesh, pose);
  const movedVertices = scratch + <usize>mapBytes;
  moveVertices(mesh, pose, base, scratch, movedVertices);
  mesh.keptCount = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    mesh.keptCount += writeBlock(base, blockAt(base, index), blockAt(mesh, index), movedVertices);
  }
  fitNodes(mesh, movedVertices + <usize>vertexBytes);
  release(scratch);
  pose.state = TREE_CURRENT;
}

/** Chooses a tree space that contains the bounds. */
function chooseSpace(mesh: Mesh, pose: Pose): void {
  mesh.offsetX = 0.5 * (pose.minX + pose.maxX);
  mesh.offsetY = 0.5 * (pose.minY + pose.maxY);
  mesh.offsetZ = 0.5 * (pose.minZ + pose.maxZ);
  const x = pose.maxX - mesh.offsetX, y = pose.maxY - mesh.offsetY, z = pose.maxZ - mesh.offsetZ;
  mesh.exponent = exponentFor(max(max(max(x, y), z), MIN_EXTENT));
}

// --- vertices ---

function moveVertices(mesh: Mesh, pose: Pose, base: Mesh, maps: usize, movedVertices: usize): void {
  const deform = deformOf(base);
  let rest = restVertexAt(deform, 0);
  if (pose.hasMorphs) {
    const morphed = movedVertices + <usize>deform.vertexCount * VERTEX_BYTES;
    applyTargets(pose, deform, morphed);
    rest = morphed;
  }
  if (pose.hasBones) {
    for (let bone: u32 = 0; bone < deform.boneCount; bone++) writeMap(maps + <usize>bone * MAP32_BYTES, mesh, boneMapAt(pose, bone));
    moveByBones(mesh, pose, deform, rest, maps, movedVertices);
  } else moveWithoutBones(mesh, base, deform.vertexCount, rest, movedVertices);
}

/** Applies the morph targets to the vertices. */
function applyTargets(pose: Pose, deform: Deform, morphed: usize): void {
  const bytes = <usize>deform.vertexCount * VERTEX_BYTES;
  memory.copy(morphed, restVertexAt(deform, 0), bytes);
  const weights = morphWeightsAt(pose);
  // The fourth number is what the weights lack to 1, and is kept.
  const xyzMask = i32x4(-1, -1, -1, 0);
  for (let target: u32 = 0; target < deform.targetCount; target++) {
    const weight = load<f32>(weights + (<usize>target << 2));
    if (weight == 0) continue;
    const share = f32x4.splat(weight);
    let shift = shiftsAt(deform, target);
    for (let at = morphed; at < morphed + bytes; at += VERTEX_BYTES) {
      v128.store(at, f32x4.add(v128.load(at), v128.and(xyzMask, f32x4.mul(share, v128.load(shift)))));
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
function moveByBones(mesh: Mesh, pose: Pose, deform: Deform, rest: usize, maps: usize, movedVertices: usize): void {
  const scale = treeScale(mesh);
  const unweighted = f32x4(
    <f32>((pose.unweightedX - mesh.offsetX) * scale), <f32>((pose.unweightedY - mesh.offsetY) * scale),
    <f32>((pose.unweightedZ - mesh.offsetZ) * scale), 0,
  );
  let weights = weightsAt(deform, 0), bones = bonesAt(deform, 0), from = rest;
  for (let to = movedVertices, end = movedVertices + <usize>deform.vertexCount * VERTEX_BYTES; to < end; to += VERTEX_BYTES) {
    const vertex = v128.load(from), weight = v128.load(weights);
    const x = v128.shuffle<f32>(vertex, vertex, 0, 0, 0, 0), y = v128.shuffle<f32>(vertex, vertex, 1, 1, 1, 1);
    const z = v128.shuffle<f32>(vertex, vertex, 2, 2, 2, 2), weightDeficit = v128.shuffle<f32>(vertex, vertex, 3, 3, 3, 3);
    const map0 = maps + <usize>load<u16>(bones) * MAP32_BYTES, map1 = maps + <usize>load<u16>(bones, 2) * MAP32_BYTES;
    const map2 = maps + <usize>load<u16>(bones, 4) * MAP32_BYTES, map3 = maps + <usize>load<u16>(bones, 6) * MAP32_BYTES;
    let sum = f32x4.mul(unweighted, weightDeficit);
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 0, 0, 0, 0), image(map0, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 1, 1, 1, 1), image(map1, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 2, 2, 2, 2), image(map2, x, y, z)));
    sum = f32x4.add(sum, f32x4.mul(v128.shuffle<f32>(weight, weight, 3, 3, 3, 3), image(map3, x, y, z)));
    v128.store(to, clampedToTree(sum));
    from += VERTEX_BYTES;
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
function clampedToTree(position: v128): v128 {
  // The order of the operands turns NaN into a number.
  return f32x4.pmax(f32x4.splat(-TREE_EXTENT), f32x4.pmin(f32x4.splat(TREE_EXTENT), position));
}

/** Moves vertices from the tree space of the mesh at rest to that of the pose, without deforming them. */
function moveWithoutBones(mesh: Mesh, base: Mesh, count: u32, rest: usize, movedVertices: usize): void {
  const scale = treeScale(mesh), ratio = scale / treeScale(base);
  const scale4 = f32x4.splat(<f32>ratio);
  const translation = f32x4(
    <f32>((base.offsetX - mesh.offsetX) * scale), <f32>((base.offsetY - mesh.offsetY) * scale),
    <f32>((base.offsetZ - mesh.offsetZ) * scale), 0,
  );
  for (let at: usize = 0, end = <usize>count * VERTEX_BYTES; at < end; at += VERTEX_BYTES) {
    v128.store(movedVertices + at, clampedToTree(f32x4.add(f32x4.mul(scale4, v128.load(rest + at)), translation)));
  }
}

// --- the tree ---

/** A triangle certainly has an area if its normal is this much longer than its rounding error: the square of 2⁻²⁰. */
const MIN_CERTAIN_AREA: f32 = 9.094947017729282e-13;

/** Writes a block's triangles with their moved corners. Returns how many of them have an area. */
function writeBlock(base: Mesh, from: Block, to: Block, movedVertices: usize): u32 {
  const at = changetype<usize>(to);
  for (let k: u32 = 0; k < 3; k++) {
    const p = cornerPosition(base, from, 0, k, movedVertices), q = cornerPosition(base, from, 1, k, movedVertices);
    const r = cornerPosition(base, from, 2, k, movedVertices), s = cornerPosition(base, from, 3, k, movedVertices);
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
  const triangleIndices = v128.and(triangles, i32x4.splat(i32.MAX_VALUE));
  const ex = f32x4.sub(to.bx, to.ax), ey = f32x4.sub(to.by, to.ay), ez = f32x4.sub(to.bz, to.az);
  const fx = f32x4.sub(to.cx, to.ax), fy = f32x4.sub(to.cy, to.ay), fz = f32x4.sub(to.cz, to.az);
  const nx = f32x4.sub(f32x4.mul(ey, fz), f32x4.mul(ez, fy));
  const ny = f32x4.sub(f32x4.mul(ez, fx), f32x4.mul(ex, fz));
  const nz = f32x4.sub(f32x4.mul(ex, fy), f32x4.mul(ey, fx));
  const limit = f32x4.mul(f32x4.splat(MIN_CERTAIN_AREA), f32x4.mul(lengthSquared(ex, ey, ez), lengthSquared(fx, fy, fz)));
  const certainLanes = v128.andnot(f32x4.gt(lengthSquared(nx, ny, nz), limit), none);
  v128.store(at, v128.or(triangleIndices, none), offsetof<Block>('triangle0'));
  const bits = i32x4.bitmask(certainLanes);
  if (bits == 15) return 4;
  let count: u32 = popcnt(bits);
  for (let lane: usize = 0; lane < 4; lane++) {
    if (bits & (1 << <i32>lane)) continue;
    const corner = at + (lane << 2);
    const word = load<u32>(corner, offsetof<Block>('triangle0'));
    if (word != NONE) {
      if (hasAreaAt(corner)) {
        count++;
        continue;
      }
      store<u32>(corner, word | FLAT, offsetof<Block>('triangle0'));
    }
    collapseTriangle(corner);
  }
  return count;
}

// @ts-ignore: decorator
@inline
function lengthSquared(x: v128, y: v128, z: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
}

/** Returns a corner of a lane's triangle; a lane without a triangle has the corners of the first. */
// @ts-ignore: decorator
@inline
function cornerPosition(base: Mesh, from: Block, lane: usize, k: u32, movedVertices: usize): v128 {
  const word = load<u32>(changetype<usize>(from) + (lane << 2), offsetof<Block>('triangle0'));
  const triangle = word == NONE ? from.triangle0 : word;
  return v128.load(movedVertices + <usize>vertexOfCorner(base, triangle & ~FLAT, k) * VERTEX_BYTES);
}

function hasAreaAt(corner: usize): bool {
  return hasArea(
    load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), load<f32>(corner, 48), load<f32>(corner, 64),
    load<f32>(corner, 80), load<f32>(corner, 96), load<f32>(corner, 112), load<f32>(corner, 128),
  );
}

/** Collapses a triangle to its first corner. */
function collapseTriangle(corner: usize): void {
  for (let at = corner; at < corner + 48; at += 16) {
    store<f32>(at, load<f32>(at), 48);
    store<f32>(at, load<f32>(at), 96);
  }
}

/** Fits the boxes around the triangles, children before their parents, and the bounds of the mesh. */
function fitNodes(mesh: Mesh, scratch: usize): void {
  fitTree(mesh, scratch, TREE_EXTENT * BOX_PADDING);
  const boundsMin = fittedMin(), boundsMax = fittedMax();
  const inverseScale = 1.0 / treeScale(mesh);
  mesh.minX = <f64>f32x4.extract_lane(boundsMin, 0) * inverseScale + mesh.offsetX;
  mesh.minY = <f64>f32x4.extract_lane(boundsMin, 1) * inverseScale + mesh.offsetY;
  mesh.minZ = <f64>f32x4.extract_lane(boundsMin, 2) * inverseScale + mesh.offsetZ;
  mesh.maxX = <f64>f32x4.extract_lane(boundsMax, 0) * inverseScale + mesh.offsetX;
  mesh.maxY = <f64>f32x4.extract_lane(boundsMax, 1) * inverseScale + mesh.offsetY;
  mesh.maxZ = <f64>f32x4.extract_lane(boundsMax, 2) * inverseScale + mesh.offsetZ;
}
