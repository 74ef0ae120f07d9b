// The translation of one object out of another where the regions of their surfaces cannot tell it: one contains the other, or
// they have too much in common. A few candidate directions are ranked by how far the hulls must move along them to
// separate, found by support mappings; the best ones are measured by the directional depth of all triangles, unless
// there are too many. Depths are upper bounds of the least one over all directions, exact in float64 for the returned
// direction.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Affine, copy, determinant } from '../../math/affine';
import { reserve } from '../../memory';
import { closestOnMesh, closestX, closestY, closestZ } from '../../mesh/query/closest-point';
import { farthestVertex, farthestX, farthestY, farthestZ } from '../../mesh/query/support';
import { Mesh, blockAt, filledLanes, composeTreeMap } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { depthAlong } from './directional-depth';
import { setCornerSource, setMeshSource } from './triangle-projection';

/** The unit direction, and how far b must move along it. */
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let penetrationDepth: f64 = 0;
/**
 * The point that leaves last: of mesh a the farthest along the direction, of mesh b the farthest against it; of another
 * shape its centre.
 */
export let lastPointX: f64 = 0, lastPointY: f64 = 0, lastPointZ: f64 = 0;

/** If there are more triangles, the hulls are separated instead. */
const MAX_TRIANGLES: u32 = 1 << 18;
/** How many directions are measured with all triangles. */
const MEASURED_DIRECTIONS = 3;

// All relative to a's position: the maps from mesh space, or from that of the unit shape for other shapes; and for
// meshes the maps from tree space.
const map0 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map1 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treeMap0 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treeMap1 = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const pointTransform = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// All triangles: for meshes their slots, for other shapes the addresses of their corners, u32 each; and those corners.
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;
let corners0: usize = 0, corners1: usize = 0;

/** A direction and how far the hulls must move along it to separate. */
@unmanaged
class RankedDirection {
  x: f64; y: f64; z: f64;
  depth: f64;
}

const DIRECTION_BYTES: usize = offsetof<RankedDirection>();
/** If the mesh that contains the other object has at most this many faces, all of their normals are tried. */
const MAX_FACES: u32 = 64;
/**
 * The most directions: from centre to centre, to the nearest points of seven points, six normals in both directions, and
 * faces.
 */
const MAX_DIRECTIONS = 20 + <i32>MAX_FACES;
/** The directions, sorted by depth, the least first. */
const directions: usize = memory.data(MAX_DIRECTIONS * <i32>offsetof<RankedDirection>(), 16);
let directionCount = 0;

/**
 * Finds a way of b out of a. Tries the face normals of boxes about both, and the direction from centre to centre. Of a
 * mesh that contains the other object, it also tries the normals of its faces, if these are few, otherwise the
 * directions to the points nearest to the other's centre and to its outermost points. Ranks them by how far b's hull
 * must move to leave a's hull; for the best ones measures the depth of all triangles, and takes the least. If there are
 * too many triangles, takes the distance of the hulls, which is no less. Positions are relative to a's. Throws
 * OUT_OF_MEMORY.
 */
export function findGlobalPenetration(a: PlacedShape, b: PlacedShape, contained: i32): void {
  setMaps(a, b);
  setCenter(a, map0);
  const ax = centerX, ay = centerY, az = centerZ;
  setCenter(b, map1);
  const bx = centerX, by = centerY, bz = centerZ;
  directionCount = 0;
  addDirection(a, b, bx - ax, by - ay, bz - az);
  if (contained == 1 && b.shape == SHAPE_MESH) addContainerDirections(a, b, b, map1, treeMap1, a, map0, treeMap0, -1);
  if (contained == 2 && a.shape == SHAPE_MESH) addContainerDirections(a, b, a, map0, treeMap0, b, map1, treeMap1, 1);
  addBoxNormals(a, b, map0);
  addBoxNormals(a, b, map1);
  const areListed = listAllTriangles(a, b);
  penetrationDepth = Infinity;
  for (let i = 0; i < min(MEASURED_DIRECTIONS, directionCount); i++) {
    const direction = directionAt(i);
    const depth = areListed ? max(depthAlong(list0, count0, list1, count1, direction.x, direction.y, direction.z), 0.0)
      : direction.depth;
    if (!(depth < penetrationDepth)) continue;
    penetrationDepth = depth;
    directionX = direction.x;
    directionY = direction.y;
    directionZ = direction.z;
  }
  if (contained == 1) findLastPoint(a, map0, treeMap0, 1);
  else if (contained == 2) findLastPoint(b, map1, treeMap1, -1);
}

/** Returns the depth of all triangles along a unit direction; `fallback` if there are too many. Throws OUT_OF_MEMORY. */
export function globalDepthAlong(a: PlacedShape, b: PlacedShape, x: f64, y: f64, z: f64, fallback: f64): f64 {
  setMaps(a, b);
  return listAllTriangles(a, b) ? max(depthAlong(list0, count0, list1, count1, x, y, z), fallback) : fallback;
}

function setMaps(a: PlacedShape, b: PlacedShape): void {
  copy(map0, mapOf(a));
  copy(map1, mapOf(b));
  map1.tx -= map0.tx;
  map1.ty -= map0.ty;
  map1.tz -= map0.tz;
  map0.tx = map0.ty = map0.tz = 0;
  if (a.shape == SHAPE_MESH) composeTreeMap(treeMap0, changetype<Mesh>(a.mesh), map0);
  if (b.shape == SHAPE_MESH) composeTreeMap(treeMap1, changetype<Mesh>(b.mesh), map1);
}

let centerX: f64 = 0, centerY: f64 = 0, centerZ: f64 = 0;

function setCenter(solid: PlacedShape, m: Affine): void {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(solid.mesh);
    x = 0.5 * (mesh.minX + mesh.maxX);
    y = 0.5 * (mesh.minY + mesh.maxY);
    z = 0.5 * (mesh.minZ + mesh.maxZ);
  }
  centerX = m.xx * x + m.yx * y + m.zx * z + m.tx;
  centerY = m.xy * x + m.yy * y + m.zy * z + m.ty;
  centerZ = m.xz * x + m.yz * y + m.zz * z + m.tz;
}

// --- directions ---

// @ts-ignore: decorator
@inline
function directionAt(i: i32): RankedDirection {
  return changetype<RankedDirection>(directions + i * <i32>DIRECTION_BYTES);
}

/** Considers the normals of the faces of a box about the solid: perpendicular to two of its axes, in both directions. */
function addBoxNormals(a: PlacedShape, b: PlacedShape, m: Affine): void {
  const x = 1.0 / sqrt(m.xx * m.xx + m.xy * m.xy + m.xz * m.xz);
  const y = 1.0 / sqrt(m.yx * m.yx + m.yy * m.yy + m.yz * m.yz);
  const z = 1.0 / sqrt(m.zx * m.zx + m.zy * m.zy + m.zz * m.zz);
  addFaceNormal(a, b, m.xx * x, m.xy * x, m.xz * x, m.yx * y, m.yy * y, m.yz * y);
  addFaceNormal(a, b, m.yx * y, m.yy * y, m.yz * y, m.zx * z, m.zy * z, m.zz * z);
  addFaceNormal(a, b, m.zx * z, m.zy * z, m.zz * z, m.xx * x, m.xy * x, m.xz * x);
}

function addFaceNormal(a: PlacedShape, b: PlacedShape, ux: f64, uy: f64, uz: f64, vx: f64, vy: f64, vz: f64): void {
  const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
  addDirection(a, b, x, y, z);
  addDirection(a, b, -x, -y, -z);
}

/**
 * Considers ways out of a mesh that contains the other shape. The face nearest to that shape's centre need not be the
 * one through which it leaves soonest. `directionSign` is -1 if b is the container, since b then moves the opposite way.
 */
function addContainerDirections(
  a: PlacedShape, b: PlacedShape, container: PlacedShape, m: Affine, treeMap: Affine, inner: PlacedShape, innerMap: Affine,
  innerTreeMap: Affine, directionSign: f64,
): void {
  setCenter(inner, innerMap);
  addNearestDirection(a, b, container, m, centerX, centerY, centerZ, directionSign);
  const mesh = changetype<Mesh>(container.mesh);
  if (mesh.keptCount <= MAX_FACES) {
    addMeshNormals(a, b, mesh, treeMap, directionSign);
    return;
  }
  for (let axis = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      setOutermost(inner, innerMap, innerTreeMap, axis, side);
      addNearestDirection(a, b, container, m, outermostX, outermostY, outermostZ, directionSign);
    }
  }
}

/** Considers the outward normals of all faces of a closed mesh. */
function addMeshNormals(a: PlacedShape, b: PlacedShape, mesh: Mesh, treeMap: Affine, directionSign: f64): void {
  const outwardSign = determinant(treeMap) < 0 == mesh.facing < 0 ? directionSign : -directionSign;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = changetype<usize>(blockAt(mesh, index));
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const at = block + (<usize>ctz(lanes) << 2);
      const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
      const ex = <f64>load<f32>(at, 48) - x, ey = <f64>load<f32>(at, 64) - y, ez = <f64>load<f32>(at, 80) - z;
      const fx = <f64>load<f32>(at, 96) - x, fy = <f64>load<f32>(at, 112) - y, fz = <f64>load<f32>(at, 128) - z;
      const px = treeMap.xx * ex + treeMap.yx * ey + treeMap.zx * ez, qx = treeMap.xx * fx + treeMap.yx * fy + treeMap.zx * fz;
      const py = treeMap.xy * ex + treeMap.yy * ey + treeMap.zy * ez, qy = treeMap.xy * fx + treeMap.yy * fy + treeMap.zy * fz;
      const pz = treeMap.xz * ex + treeMap.yz * ey + treeMap.zz * ez, qz = treeMap.xz * fx + treeMap.yz * fy + treeMap.zz * fz;
      addDirection(
        a, b, outwardSign * (py * qz - pz * qy), outwardSign * (pz * qx - px * qz), outwardSign * (px * qy - py * qx),
      );
    }
  }
}

let outermostX: f64 = 0, outermostY: f64 = 0, outermostZ: f64 = 0;

/** Sets the outermost point of a shape along one of its own axes, approximately if the shape is round. */
function setOutermost(solid: PlacedShape, m: Affine, treeMap: Affine, axis: i32, side: f64): void {
  const column = changetype<usize>(m) + <usize>axis * 24;
  const x = side * load<f64>(column), y = side * load<f64>(column, 8), z = side * load<f64>(column, 16);
  if (solid.shape != SHAPE_MESH) {
    const extent: f64 = axis == 2 ? 1 + solid.half : 1;
    outermostX = m.tx + extent * x;
    outermostY = m.ty + extent * y;
    outermostZ = m.tz + extent * z;
    return;
  }
  farthestVertex(changetype<Mesh>(solid.mesh),
    treeMap.xx * x + treeMap.xy * y + treeMap.xz * z, treeMap.yx * x + treeMap.yy * y + treeMap.yz * z,
    treeMap.zx * x + treeMap.zy * y + treeMap.zz * z,
  );
  outermostX = treeMap.xx * farthestX + treeMap.yx * farthestY + treeMap.zx * farthestZ + treeMap.tx;
  outermostY = treeMap.xy * farthestX + treeMap.yy * farthestY + treeMap.zy * farthestZ + treeMap.ty;
  outermostZ = treeMap.xz * farthestX + treeMap.yz * farthestY + treeMap.zz * farthestZ + treeMap.tz;
}

/**
 * Considers the direction from a point inside a mesh to the nearest point of the mesh's surface; `directionSign` turns it into
 * the direction in which b moves.
 */
function addNearestDirection(
  a: PlacedShape, b: PlacedShape, container: PlacedShape, m: Affine, x: f64, y: f64, z: f64, directionSign: f64,
): void {
  copy(pointTransform, m);
  pointTransform.tx -= x;
  pointTransform.ty -= y;
  pointTransform.tz -= z;
  if (!closestOnMesh(changetype<Mesh>(container.mesh), pointTransform, Infinity, false)) return;
  addDirection(a, b, directionSign * closestX, directionSign * closestY, directionSign * closestZ);
}

/** Inserts a direction into the list, which is kept sorted by depth. */
function addDirection(a: PlacedShape, b: PlacedShape, x: f64, y: f64, z: f64): void {
  const scale = 1.0 / sqrt(x * x + y * y + z * z);
  if (!(scale < Infinity)) return;
  const nx = x * scale, ny = y * scale, nz = z * scale;
  const depth = supportHeight(a, map0, treeMap0, nx, ny, nz) + supportHeight(b, map1, treeMap1, -nx, -ny, -nz);
  let i = directionCount++;
  for (; i > 0 && directionAt(i - 1).depth > depth; i--) {
    memory.copy(changetype<usize>(directionAt(i)), changetype<usize>(directionAt(i - 1)), DIRECTION_BYTES);
  }
  const direction = directionAt(i);
  direction.x = nx; direction.y = ny; direction.z = nz;
  direction.depth = depth;
}

/** Returns how far a solid reaches along a unit direction: its support function. */
function supportHeight(solid: PlacedShape, m: Affine, treeMap: Affine, nx: f64, ny: f64, nz: f64): f64 {
  if (solid.shape == SHAPE_MESH) {
    const x = treeMap.xx * nx + treeMap.xy * ny + treeMap.xz * nz, y = treeMap.yx * nx + treeMap.yy * ny + treeMap.yz * nz;
    const z = treeMap.zx * nx + treeMap.zy * ny + treeMap.zz * nz;
    return farthestVertex(changetype<Mesh>(solid.mesh), x, y, z) + treeMap.tx * nx + treeMap.ty * ny + treeMap.tz * nz;
  }
  const x = m.xx * nx + m.xy * ny + m.xz * nz, y = m.yx * nx + m.yy * ny + m.yz * nz;
  const z = m.zx * nx + m.zy * ny + m.zz * nz;
  const center = m.tx * nx + m.ty * ny + m.tz * nz;
  if (solid.shape == SHAPE_BOX) return center + abs(x) + abs(y) + abs(z);
  return center + solid.half * abs(z) + sqrt(x * x + y * y + z * z);
}

// --- triangles ---

/**
 * The number of corners of the polygon that approximates a circle of a round shape, and the number of rings from pole to
 * pole.
 */
const RING_CORNERS = 32;
const RING_COUNT = 16;
/** The factor by which the polyhedron is enlarged to enclose the ball: 1 / (cos(π / 32) · cos(π / 32)). */
const ENCLOSING_SCALE: f64 = 1.00974;

/** Lists the triangles of both solids. Returns false if there are too many. */
function listAllTriangles(a: PlacedShape, b: PlacedShape): bool {
  const triangleCount0 = triangleCount(a), triangleCount1 = triangleCount(b);
  if (triangleCount0 + triangleCount1 > MAX_TRIANGLES) return false;
  list0 = reserve(list0, 0, <u64>triangleCount0 << 2);
  list1 = reserve(list1, 0, <u64>triangleCount1 << 2);
  if (a.shape == SHAPE_MESH) {
    setMeshSource(0, changetype<Mesh>(a.mesh), treeMap0);
    count0 = listSlots(changetype<Mesh>(a.mesh), list0);
  } else {
    setCornerSource(0);
    corners0 = reserve(corners0, 0, <u64>triangleCount0 * CORNERS_BYTES);
    count0 = listCorners(a, map0, corners0, list0);
  }
  if (b.shape == SHAPE_MESH) {
    setMeshSource(1, changetype<Mesh>(b.mesh), treeMap1);
    count1 = listSlots(changetype<Mesh>(b.mesh), list1);
  } else {
    setCornerSource(1);
    corners1 = reserve(corners1, 0, <u64>triangleCount1 * CORNERS_BYTES);
    count1 = listCorners(b, map1, corners1, list1);
  }
  return true;
}

/** The bytes of a triangle: three corners of three f64. */
const CORNERS_BYTES: usize = 72;

function triangleCount(solid: PlacedShape): u32 {
  if (solid.shape == SHAPE_MESH) return changetype<Mesh>(solid.mesh).keptCount;
  return solid.shape == SHAPE_BOX ? 12 : RING_CORNERS * (RING_COUNT + 1) * 2;
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
  const end = solid.shape == SHAPE_BOX ? writeBoxTriangles(m, corners) : writeRoundTriangles(m, solid.half, corners);
  let count: u32 = 0;
  for (let at = corners; at < end; at += CORNERS_BYTES) store<u32>(list + (<usize>(count++) << 2), <u32>at);
  return count;
}

// @ts-ignore: decorator
@inline
function writePoint(to: usize, m: Affine, x: f64, y: f64, z: f64): void {
  store<f64>(to, m.xx * x + m.yx * y + m.zx * z + m.tx);
  store<f64>(to, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
  store<f64>(to, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}

function writeBoxTriangles(m: Affine, to: usize): usize {
  for (let axis = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      for (let cornerSign: f64 = -1; cornerSign < 2; cornerSign += 2) {
        writePermutedPoint(to, m, axis, side, cornerSign, cornerSign);
        writePermutedPoint(to + 24, m, axis, side, -1, 1);
        writePermutedPoint(to + 48, m, axis, side, 1, -1);
        to += 72;
      }
    }
  }
  return to;
}

function writePermutedPoint(to: usize, m: Affine, axis: i32, s: f64, t: f64, u: f64): void {
  if (axis == 0) writePoint(to, m, s, t, u);
  else if (axis == 1) writePoint(to, m, u, s, t);
  else writePoint(to, m, t, u, s);
}

/**
 * Writes the triangles of a polyhedron about a capsule of radius 1, or about a ball: rings from pole to pole, with the
 * middle one twice. Returns the address of their end.
 */
function writeRoundTriangles(m: Affine, half: f64, to: usize): usize {
  for (let ring = 0; ring <= RING_COUNT; ring++) {
    for (let i = 0; i < RING_CORNERS; i++) {
      writeRoundPoint(to, m, half, ring, i);
      writeRoundPoint(to + 24, m, half, ring, i + 1);
      writeRoundPoint(to + 48, m, half, ring + 1, i);
      writeRoundPoint(to + 72, m, half, ring, i + 1);
      writeRoundPoint(to + 96, m, half, ring + 1, i + 1);
      writeRoundPoint(to + 120, m, half, ring + 1, i);
      to += 144;
    }
  }
  return to;
}

function writeRoundPoint(to: usize, m: Affine, half: f64, ring: i32, i: i32): void {
  const isUpper = ring * 2 > RING_COUNT;
  const latitude = (Math.PI / RING_COUNT) * <f64>(isUpper ? ring - 1 : ring) - 0.5 * Math.PI;
  const angle = (2 * Math.PI / RING_CORNERS) * <f64>i;
  const ringRadius = ENCLOSING_SCALE * Math.cos(latitude);
  writePoint(to, m, ringRadius * Math.cos(angle), ringRadius * Math.sin(angle), ENCLOSING_SCALE * Math.sin(latitude) +
    (isUpper ? half : -half));
}

// --- the point that leaves last ---

function findLastPoint(solid: PlacedShape, m: Affine, treeMap: Affine, directionSign: f64): void {
  if (solid.shape != SHAPE_MESH) {
    setCenter(solid, m);
    lastPointX = centerX;
    lastPointY = centerY;
    lastPointZ = centerZ;
    return;
  }
  const nx = directionSign * directionX, ny = directionSign * directionY, nz = directionSign * directionZ;
  farthestVertex(
    changetype<Mesh>(solid.mesh), treeMap.xx * nx + treeMap.xy * ny + treeMap.xz * nz,
    treeMap.yx * nx + treeMap.yy * ny + treeMap.yz * nz,
    treeMap.zx * nx + treeMap.zy * ny + treeMap.zz * nz,
  );
  lastPointX = treeMap.xx * farthestX + treeMap.yx * farthestY + treeMap.zx * farthestZ + treeMap.tx;
  lastPointY = treeMap.xy * farthestX + treeMap.yy * farthestY + treeMap.zy * farthestZ + treeMap.ty;
  lastPointZ = treeMap.xz * farthestX + treeMap.yz * farthestY + treeMap.zz * farthestZ + treeMap.tz;
}
