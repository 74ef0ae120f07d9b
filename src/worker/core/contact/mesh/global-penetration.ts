// The way of one object out of another where the regions of their surfaces cannot tell it: one contains the other, or
// they have too much in common. A few candidate directions are ranked by how far the hulls must move along them to
// separate, found by support mappings; the best ones are measured by the directional depth of all triangles, unless
// there are too many. Depths are upper bounds of the least one over all directions, exact in float64 for the returned
// direction.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Affine, copy, determinant } from '../../math/affine';
import { reserve } from '../../memory';
import { closestOnMesh, closestX, closestY, closestZ } from '../../mesh/query/closest-point';
import { farthestVertex, farthestX, farthestY, farthestZ } from '../../mesh/query/support';
import { Mesh, blockAt, filledLanes, placeTree } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { depthAlong } from './directional-depth';
import { useCorners, useMesh } from './triangle-projection';

/** The unit direction, and how far b must move along it. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let wayDepth: f64 = 0;
/**
 * The point that leaves last: of mesh a the farthest along the direction, of mesh b the farthest against it; of another
 * shape its centre.
 */
export let lastX: f64 = 0, lastY: f64 = 0, lastZ: f64 = 0;

/** If there are more triangles, the hulls are separated instead. */
const MOST_TRIANGLES: u32 = 1 << 18;
/** How many directions are measured with all triangles. */
const TRIED = 3;

// All relative to a's position: the maps from mesh space, or from that of the unit shape for other shapes; and for
// meshes the maps from tree space.
const map0 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map1 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const tree0 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const tree1 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const placed = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// All triangles: for meshes their slots, for other shapes the addresses of their corners, u32 each; and those corners.
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;
let corners0: usize = 0, corners1: usize = 0;

/** A direction and how far the hulls must move along it to separate. */
@unmanaged
class Way {
  x: f64; y: f64; z: f64;
  depth: f64;
}

const WAY_BYTES: usize = offsetof<Way>();
/** If the mesh that contains the other object has at most this many faces, all of their normals are tried. */
const FEW_FACES: u32 = 64;
/**
 * The most directions: from centre to centre, to the nearest points of seven points, six normals in both directions, and
 * faces.
 */
const MOST_WAYS = 20 + <i32>FEW_FACES;
/** The directions, sorted by depth, the least first. */
const ways: usize = memory.data(MOST_WAYS * <i32>offsetof<Way>(), 16);
let wayCount = 0;

/**
 * Finds a way of b out of a. Tries the face normals of boxes about both, and the direction from centre to centre. Of a
 * mesh that contains the other object, it also tries the normals of its faces, if these are few, otherwise the
 * directions to the points nearest to the other's centre and to its outermost points. Ranks them by how far b's hull
 * must move to leave a's hull; for the best ones measures the depth of all triangles, and takes the least. If there are
 * too many triangles, takes the distance of the hulls, which is no less. Positions are relative to a's. Throws
 * OUT_OF_MEMORY.
 */
export function findWayOut(a: PlacedShape, b: PlacedShape, contained: i32): void {
  setMaps(a, b);
  setMiddle(a, map0);
  const ax = middleX, ay = middleY, az = middleZ;
  setMiddle(b, map1);
  const bx = middleX, by = middleY, bz = middleZ;
  wayCount = 0;
  consider(a, b, bx - ax, by - ay, bz - az);
  if (contained == 1 && b.shape == SHAPE_MESH) considerHolder(a, b, b, map1, tree1, a, map0, tree0, -1);
  if (contained == 2 && a.shape == SHAPE_MESH) considerHolder(a, b, a, map0, tree0, b, map1, tree1, 1);
  considerFaces(a, b, map0);
  considerFaces(a, b, map1);
  const hasAll = listSolids(a, b);
  wayDepth = Infinity;
  for (let i = 0; i < min(TRIED, wayCount); i++) {
    const way = wayAt(i);
    const depth = hasAll ? max(depthAlong(list0, count0, list1, count1, way.x, way.y, way.z), 0.0) : way.depth;
    if (!(depth < wayDepth)) continue;
    wayDepth = depth;
    wayX = way.x;
    wayY = way.y;
    wayZ = way.z;
  }
  if (contained == 1) findLast(a, map0, tree0, 1);
  else if (contained == 2) findLast(b, map1, tree1, -1);
}

/** Returns the depth of all triangles along a unit direction; `known` if there are too many. Throws OUT_OF_MEMORY. */
export function wholeDepth(a: PlacedShape, b: PlacedShape, x: f64, y: f64, z: f64, known: f64): f64 {
  setMaps(a, b);
  return listSolids(a, b) ? max(depthAlong(list0, count0, list1, count1, x, y, z), known) : known;
}

function setMaps(a: PlacedShape, b: PlacedShape): void {
  copy(map0, mapOf(a));
  copy(map1, mapOf(b));
  map1.tx -= map0.tx;
  map1.ty -= map0.ty;
  map1.tz -= map0.tz;
  map0.tx = map0.ty = map0.tz = 0;
  if (a.shape == SHAPE_MESH) placeTree(tree0, changetype<Mesh>(a.mesh), map0);
  if (b.shape == SHAPE_MESH) placeTree(tree1, changetype<Mesh>(b.mesh), map1);
}

let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

function setMiddle(solid: PlacedShape, m: Affine): void {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(solid.mesh);
    x = 0.5 * (mesh.lowX + mesh.highX);
    y = 0.5 * (mesh.lowY + mesh.highY);
    z = 0.5 * (mesh.lowZ + mesh.highZ);
  }
  middleX = m.xx * x + m.yx * y + m.zx * z + m.tx;
  middleY = m.xy * x + m.yy * y + m.zy * z + m.ty;
  middleZ = m.xz * x + m.yz * y + m.zz * z + m.tz;
}

// --- directions ---

// @ts-ignore: decorator
@inline
function wayAt(i: i32): Way {
  return changetype<Way>(ways + i * <i32>WAY_BYTES);
}

/** Considers the normals of the faces of a box about the solid: perpendicular to two of its axes, in both directions. */
function considerFaces(a: PlacedShape, b: PlacedShape, m: Affine): void {
  const x = 1.0 / sqrt(m.xx * m.xx + m.xy * m.xy + m.xz * m.xz);
  const y = 1.0 / sqrt(m.yx * m.yx + m.yy * m.yy + m.yz * m.yz);
  const z = 1.0 / sqrt(m.zx * m.zx + m.zy * m.zy + m.zz * m.zz);
  considerFace(a, b, m.xx * x, m.xy * x, m.xz * x, m.yx * y, m.yy * y, m.yz * y);
  considerFace(a, b, m.yx * y, m.yy * y, m.yz * y, m.zx * z, m.zy * z, m.zz * z);
  considerFace(a, b, m.zx * z, m.zy * z, m.zz * z, m.xx * x, m.xy * x, m.xz * x);
}

function considerFace(a: PlacedShape, b: PlacedShape, ux: f64, uy: f64, uz: f64, vx: f64, vy: f64, vz: f64): void {
  const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
  consider(a, b, x, y, z);
  consider(a, b, -x, -y, -z);
}

/**
 * Considers ways out of a mesh that contains the other shape. The face nearest to that shape's centre need not be the
 * one through which it leaves soonest. `sense` is -1 if b is the container, since b then moves the opposite way.
 */
function considerHolder(
  a: PlacedShape, b: PlacedShape, outer: PlacedShape, m: Affine, tree: Affine, inner: PlacedShape, innerMap: Affine,
  innerTree: Affine, sense: f64,
): void {
  setMiddle(inner, innerMap);
  considerNearest(a, b, outer, m, middleX, middleY, middleZ, sense);
  const mesh = changetype<Mesh>(outer.mesh);
  if (mesh.keptCount <= FEW_FACES) {
    considerNormals(a, b, mesh, tree, sense);
    return;
  }
  for (let axis = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      setOutermost(inner, innerMap, innerTree, axis, side);
      considerNearest(a, b, outer, m, outermostX, outermostY, outermostZ, sense);
    }
  }
}

/** Considers the outward normals of all faces of a closed mesh. */
function considerNormals(a: PlacedShape, b: PlacedShape, mesh: Mesh, tree: Affine, sense: f64): void {
  const outward = determinant(tree) < 0 == mesh.facing < 0 ? sense : -sense;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = changetype<usize>(blockAt(mesh, index));
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const at = block + (<usize>ctz(lanes) << 2);
      const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
      const ex = <f64>load<f32>(at, 48) - x, ey = <f64>load<f32>(at, 64) - y, ez = <f64>load<f32>(at, 80) - z;
      const fx = <f64>load<f32>(at, 96) - x, fy = <f64>load<f32>(at, 112) - y, fz = <f64>load<f32>(at, 128) - z;
      const px = tree.xx * ex + tree.yx * ey + tree.zx * ez, qx = tree.xx * fx + tree.yx * fy + tree.zx * fz;
      const py = tree.xy * ex + tree.yy * ey + tree.zy * ez, qy = tree.xy * fx + tree.yy * fy + tree.zy * fz;
      const pz = tree.xz * ex + tree.yz * ey + tree.zz * ez, qz = tree.xz * fx + tree.yz * fy + tree.zz * fz;
      consider(
        a, b, outward * (py * qz - pz * qy), outward * (pz * qx - px * qz), outward * (px * qy - py * qx),
      );
    }
  }
}

let outermostX: f64 = 0, outermostY: f64 = 0, outermostZ: f64 = 0;

/** Sets the outermost point of a shape along one of its own axes, approximately if the shape is round. */
function setOutermost(solid: PlacedShape, m: Affine, tree: Affine, axis: i32, side: f64): void {
  const column = changetype<usize>(m) + <usize>axis * 24;
  const x = side * load<f64>(column), y = side * load<f64>(column, 8), z = side * load<f64>(column, 16);
  if (solid.shape != SHAPE_MESH) {
    const reach: f64 = axis == 2 ? 1 + solid.half : 1;
    outermostX = m.tx + reach * x;
    outermostY = m.ty + reach * y;
    outermostZ = m.tz + reach * z;
    return;
  }
  farthestVertex(
    changetype<Mesh>(solid.mesh), tree.xx * x + tree.xy * y + tree.xz * z, tree.yx * x + tree.yy * y + tree.yz * z,
    tree.zx * x + tree.zy * y + tree.zz * z,
  );
  outermostX = tree.xx * farthestX + tree.yx * farthestY + tree.zx * farthestZ + tree.tx;
  outermostY = tree.xy * farthestX + tree.yy * farthestY + tree.zy * farthestZ + tree.ty;
  outermostZ = tree.xz * farthestX + tree.yz * farthestY + tree.zz * farthestZ + tree.tz;
}

/**
 * Considers the direction from a point inside a mesh to the nearest point of the mesh's surface; `sense` turns it into
 * the direction in which b moves.
 */
function considerNearest(
  a: PlacedShape, b: PlacedShape, outer: PlacedShape, m: Affine, x: f64, y: f64, z: f64, sense: f64,
): void {
  copy(placed, m);
  placed.tx -= x;
  placed.ty -= y;
  placed.tz -= z;
  if (!closestOnMesh(changetype<Mesh>(outer.mesh), placed, Infinity, false)) return;
  consider(a, b, sense * closestX, sense * closestY, sense * closestZ);
}

/** Inserts a direction into the list, which is kept sorted by depth. */
function consider(a: PlacedShape, b: PlacedShape, x: f64, y: f64, z: f64): void {
  const norm = 1.0 / sqrt(x * x + y * y + z * z);
  if (!(norm < Infinity)) return;
  const nx = x * norm, ny = y * norm, nz = z * norm;
  const depth = reachOf(a, map0, tree0, nx, ny, nz) + reachOf(b, map1, tree1, -nx, -ny, -nz);
  let i = wayCount++;
  for (; i > 0 && wayAt(i - 1).depth > depth; i--) {
    memory.copy(changetype<usize>(wayAt(i)), changetype<usize>(wayAt(i - 1)), WAY_BYTES);
  }
  const way = wayAt(i);
  way.x = nx; way.y = ny; way.z = nz;
  way.depth = depth;
}

/** Returns how far a solid reaches along a unit direction: its support function. */
function reachOf(solid: PlacedShape, m: Affine, tree: Affine, nx: f64, ny: f64, nz: f64): f64 {
  if (solid.shape == SHAPE_MESH) {
    const x = tree.xx * nx + tree.xy * ny + tree.xz * nz, y = tree.yx * nx + tree.yy * ny + tree.yz * nz;
    const z = tree.zx * nx + tree.zy * ny + tree.zz * nz;
    return farthestVertex(changetype<Mesh>(solid.mesh), x, y, z) + tree.tx * nx + tree.ty * ny + tree.tz * nz;
  }
  const x = m.xx * nx + m.xy * ny + m.xz * nz, y = m.yx * nx + m.yy * ny + m.yz * nz;
  const z = m.zx * nx + m.zy * ny + m.zz * nz;
  const middle = m.tx * nx + m.ty * ny + m.tz * nz;
  if (solid.shape == SHAPE_BOX) return middle + abs(x) + abs(y) + abs(z);
  return middle + solid.half * abs(z) + sqrt(x * x + y * y + z * z);
}

// --- triangles ---

/**
 * The number of corners of the polygon that approximates a circle of a round shape, and the number of rings from pole to
 * pole.
 */
const AROUND = 32;
const ACROSS = 16;
/** The factor by which the polyhedron is enlarged to enclose the ball: 1 / (cos(π / 32) · cos(π / 32)). */
const ENCLOSE: f64 = 1.00974;

/** Lists the triangles of both solids. Returns false if there are too many. */
function listSolids(a: PlacedShape, b: PlacedShape): bool {
  const wanted0 = triangleCount(a), wanted1 = triangleCount(b);
  if (wanted0 + wanted1 > MOST_TRIANGLES) return false;
  list0 = reserve(list0, 0, <u64>wanted0 << 2);
  list1 = reserve(list1, 0, <u64>wanted1 << 2);
  if (a.shape == SHAPE_MESH) {
    useMesh(0, changetype<Mesh>(a.mesh), tree0);
    count0 = listSlots(changetype<Mesh>(a.mesh), list0);
  } else {
    useCorners(0);
    corners0 = reserve(corners0, 0, <u64>wanted0 * CORNERS_BYTES);
    count0 = listCorners(a, map0, corners0, list0);
  }
  if (b.shape == SHAPE_MESH) {
    useMesh(1, changetype<Mesh>(b.mesh), tree1);
    count1 = listSlots(changetype<Mesh>(b.mesh), list1);
  } else {
    useCorners(1);
    corners1 = reserve(corners1, 0, <u64>wanted1 * CORNERS_BYTES);
    count1 = listCorners(b, map1, corners1, list1);
  }
  return true;
}

/** The bytes of a triangle: three corners of three f64. */
const CORNERS_BYTES: usize = 72;

function triangleCount(solid: PlacedShape): u32 {
  if (solid.shape == SHAPE_MESH) return changetype<Mesh>(solid.mesh).keptCount;
  return solid.shape == SHAPE_BOX ? 12 : AROUND * (ACROSS + 1) * 2;
}

/** Lists the slots of all triangles; returns their number. */
function listSlots(mesh: Mesh, list: usize): u32 {
  let to = list;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1, to += 4) {
      store<u32>(to, (index << 2) + ctz(lanes));
    }
  }
  return <u32>(to - list) >> 2;
}

/** Lists the triangles of a polyhedron that equals the shape, or encloses it; returns their number. */
function listCorners(solid: PlacedShape, m: Affine, corners: usize, list: usize): u32 {
  const end = solid.shape == SHAPE_BOX ? listBox(m, corners) : listRound(m, solid.half, corners);
  let count: u32 = 0;
  for (let at = corners; at < end; at += CORNERS_BYTES) store<u32>(list + (<usize>(count++) << 2), <u32>at);
  return count;
}

// @ts-ignore: decorator
@inline
function put(to: usize, m: Affine, x: f64, y: f64, z: f64): void {
  store<f64>(to, m.xx * x + m.yx * y + m.zx * z + m.tx);
  store<f64>(to, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
  store<f64>(to, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}

function listBox(m: Affine, to: usize): usize {
  for (let axis = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      for (let half: f64 = -1; half < 2; half += 2) {
        putTurned(to, m, axis, side, half, half);
        putTurned(to + 24, m, axis, side, -1, 1);
        putTurned(to + 48, m, axis, side, 1, -1);
        to += 72;
      }
    }
  }
  return to;
}

function putTurned(to: usize, m: Affine, axis: i32, s: f64, t: f64, u: f64): void {
  if (axis == 0) put(to, m, s, t, u);
  else if (axis == 1) put(to, m, u, s, t);
  else put(to, m, t, u, s);
}

/**
 * Writes the triangles of a polyhedron about a capsule of radius 1, or about a ball: rings from pole to pole, with the
 * middle one twice. Returns the address of their end.
 */
function listRound(m: Affine, half: f64, to: usize): usize {
  for (let ring = 0; ring <= ACROSS; ring++) {
    for (let i = 0; i < AROUND; i++) {
      putRound(to, m, half, ring, i);
      putRound(to + 24, m, half, ring, i + 1);
      putRound(to + 48, m, half, ring + 1, i);
      putRound(to + 72, m, half, ring, i + 1);
      putRound(to + 96, m, half, ring + 1, i + 1);
      putRound(to + 120, m, half, ring + 1, i);
      to += 144;
    }
  }
  return to;
}

function putRound(to: usize, m: Affine, half: f64, ring: i32, i: i32): void {
  const isUpper = ring * 2 > ACROSS;
  const height = (Math.PI / ACROSS) * <f64>(isUpper ? ring - 1 : ring) - 0.5 * Math.PI;
  const angle = (2 * Math.PI / AROUND) * <f64>i;
  const wide = ENCLOSE * Math.cos(height);
  put(to, m, wide * Math.cos(angle), wide * Math.sin(angle), ENCLOSE * Math.sin(height) + (isUpper ? half : -half));
}

// --- the point that leaves last ---

function findLast(solid: PlacedShape, m: Affine, tree: Affine, sense: f64): void {
  if (solid.shape != SHAPE_MESH) {
    setMiddle(solid, m);
    lastX = middleX;
    lastY = middleY;
    lastZ = middleZ;
    return;
  }
  const nx = sense * wayX, ny = sense * wayY, nz = sense * wayZ;
  farthestVertex(
    changetype<Mesh>(solid.mesh), tree.xx * nx + tree.xy * ny + tree.xz * nz,
    tree.yx * nx + tree.yy * ny + tree.yz * nz,
    tree.zx * nx + tree.zy * ny + tree.zz * nz,
  );
  lastX = tree.xx * farthestX + tree.yx * farthestY + tree.zx * farthestZ + tree.tx;
  lastY = tree.xy * farthestX + tree.yy * farthestY + tree.zy * farthestZ + tree.ty;
  lastZ = tree.xz * farthestX + tree.yz * farthestY + tree.zz * farthestZ + tree.tz;
}
