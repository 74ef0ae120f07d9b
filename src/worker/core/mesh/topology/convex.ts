// Whether a mesh is the surface of a convex solid.

import { Block, Mesh, blockAt, triangleOf } from '../tree/layout';
import { middleX, middleY, middleZ, setMiddle } from '../middle';
import { farthestVertex } from '../query/support';

const UNKNOWN: u32 = 0;
const NO: u32 = 1;
const YES: u32 = 2;

/** What rounding the corners to float32 may do to a height, in tree space, which reaches to 2 either way. */
const ROUNDING: f64 = 2.384185791015625e-7; // 2^-22
/** Across the whole of tree space. */
const WIDEST: f64 = 7;

/** Closed, and no vertex is in front of a face; all faces may be turned inside out. Found when first asked for. */
export function isConvex(mesh: Mesh): bool {
  if (mesh.convex == UNKNOWN) mesh.convex = mesh.closed && facesBoundAll(mesh) ? YES : NO;
  return mesh.convex == YES;
}

function facesBoundAll(mesh: Mesh): bool {
  setMiddle(mesh);
  // 1 for faces turned outwards, -1 inwards, 0 where that is not known yet.
  let side: f64 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      const turned = boundsAll(mesh, block, lane);
      if (turned == NOT_OUTERMOST || turned * side < 0) return false;
      if (turned != 0) side = turned;
    }
  }
  return side != 0;
}

const NOT_OUTERMOST: f64 = 2;

/** NOT_OUTERMOST, or how the face is turned: 1 outwards, -1 inwards, 0 where rounding could have made it either. */
function boundsAll(mesh: Mesh, block: Block, lane: i32): f64 {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - ax, ey = <f64>load<f32>(at, 64) - ay, ez = <f64>load<f32>(at, 80) - az;
  const fx = <f64>load<f32>(at, 96) - ax, fy = <f64>load<f32>(at, 112) - ay, fz = <f64>load<f32>(at, 128) - az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const gx = fx - ex, gy = fy - ey, gz = fz - ez;
  const longest = sqrt(max(max(ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz), gx * gx + gy * gy + gz * gz));
  // A corner moved by rounding tips the plane by that over the triangle's least altitude.
  const room = ROUNDING * (1 + WIDEST * longest / length) * length;
  const depth = nx * (ax - middleX) + ny * (ay - middleY) + nz * (az - middleZ);
  const sign: f64 = depth < 0 ? -1 : 1;
  const height = farthestVertex(mesh, sign * nx, sign * ny, sign * nz) - sign * (nx * ax + ny * ay + nz * az);
  if (height > room) return NOT_OUTERMOST;
  return abs(depth) <= room ? 0 : sign;
}
