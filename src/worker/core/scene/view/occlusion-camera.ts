// The data of a view that occlusion needs: its functions of a world point, where its near plane ends, and the resolution of a
// depth buffer.

import {
  OCCLUSION_LASTING, VIEW_DEPTH, VIEW_OCCLUSION, VIEW_OCCLUSION_MARGIN, VIEW_VIEWPORT,
} from '../../../../shared/layout';
import { Plane, combine, valueAt } from '../../math/plane';
import { farPlane, nearPlane, clipW, clipX, clipY, clipZ, eyeW, eyeX, eyeY, eyeZ, viewZ } from './projection';

@unmanaged
export class OcclusionCamera {
  /**
   * Functions of a world point: x, y and w of clip space, and a function that, divided by w, is a depth that grows towards the
   * eye.
   */
  xx: f64; xy: f64; xz: f64; xw: f64;
  yx: f64; yy: f64; yz: f64; yw: f64;
  zx: f64; zy: f64; zz: f64; zw: f64;
  wx: f64; wy: f64; wz: f64; ww: f64;
  /** Negative where nothing is drawn: in front of the near plane, and a hair beyond it. */
  nearX: f64; nearY: f64; nearZ: f64; nearW: f64;
  eyeX: f64; eyeY: f64; eyeZ: f64;
  /** No point farther from the eye than this is in front of the near plane. */
  nearRadius: f64;
  isPerspective: u32;
  /** Whether occluded objects must stay so when the camera turns. */
  isLasting: u32;
  margin: f64;
  width: f64;
  height: f64;
  /** How much nearer a depth must be for a depth buffer to distinguish it with certainty. */
  bias: f64;
}

export const OCCLUSION_CAMERA_BYTES: usize = offsetof<OcclusionCamera>();

/** Depth buffers have 24 bits, or the precision of a float32; the compared values are rounded several times before. */
const DEPTH_STEPS: f64 = 8 * 5.9604644775390625e-8; // 8 · 2⁻²⁴
/** How far behind the near plane, relative to its distance, a graphics card may still clip. */
const NEAR_SLACK: f64 = 1e-5;

/** Reads a view's record; `setProjection` must have been called for it. */
export function setOcclusionCamera(camera: OcclusionCamera, record: usize): void {
  const at = changetype<usize>(camera);
  memory.copy(at, changetype<usize>(clipX), 32);
  memory.copy(at + offsetof<OcclusionCamera>('yx'), changetype<usize>(clipY), 32);
  memory.copy(at + offsetof<OcclusionCamera>('wx'), changetype<usize>(clipW), 32);
  const depth = changetype<Plane>(at + offsetof<OcclusionCamera>('zx'));
  const near = changetype<Plane>(at + offsetof<OcclusionCamera>('nearX'));
  camera.isPerspective = u32(eyeW != 0);
  camera.isLasting = u32(load<u32>(record, VIEW_OCCLUSION) == OCCLUSION_LASTING);
  camera.margin = camera.isLasting ? load<f64>(record, VIEW_OCCLUSION_MARGIN) : 0;
  camera.width = load<f64>(record, VIEW_VIEWPORT + 16);
  camera.height = load<f64>(record, VIEW_VIEWPORT + 24);
  const range: f64 = load<u32>(record, VIEW_DEPTH) == 0 ? 2 : 1;
  // Clip z over w is linear in the depth along each line of sight: in 1 / w, or in the height above the eye's plane.
  let slope: f64;
  if (camera.isPerspective) {
    camera.eyeX = eyeX; camera.eyeY = eyeY; camera.eyeZ = eyeZ;
    depth.x = depth.y = depth.z = 0;
    depth.w = 1;
    slope = abs(valueAt(clipZ, eyeX, eyeY, eyeZ));
    const forward = 1.0 / sqrt(clipW.x * clipW.x + clipW.y * clipW.y + clipW.z * clipW.z);
    combine(near, forward, clipW, 0, clipW);
    near.w -= maxNearDepth(near, camera.isLasting != 0) * (1 + NEAR_SLACK) + camera.margin;
    camera.nearRadius = maxNearDepth(near, true) * (1 + NEAR_SLACK);
  } else {
    camera.eyeX = camera.eyeY = camera.eyeZ = 0;
    combine(depth, 1, viewZ, 0, viewZ);
    slope = abs(
      (clipZ.x * eyeX + clipZ.y * eyeY + clipZ.z * eyeZ) / (viewZ.x * eyeX + viewZ.y * eyeY + viewZ.z * eyeZ),
    );
    combine(near, 1, nearPlane, 0, nearPlane);
    near.w -= (nearPlane.w + farPlane.w) * DEPTH_STEPS + camera.margin;
  }
  camera.bias = DEPTH_STEPS * range / slope;
}

const verticalSide = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const horizontalSide = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

/**
 * Returns the greatest depth of the near plane, along the camera's axis. For a camera that turns, it is the distance of its
 * corners from the eye. Infinity if it has none.
 */
function maxNearDepth(depth: Plane, isTurning: bool): f64 {
  let maxDepth: f64 = 0;
  for (let corner = 0; corner < 4; corner++) {
    combine(verticalSide, 1, clipX, corner & 1 ? 1 : -1, clipW);
    combine(horizontalSide, 1, clipY, corner & 2 ? 1 : -1, clipW);
    // Both planes go through the eye; they meet in a line.
    let x = verticalSide.y * horizontalSide.z - verticalSide.z * horizontalSide.y,
      y = verticalSide.z * horizontalSide.x - verticalSide.x * horizontalSide.z,
      z = verticalSide.x * horizontalSide.y - verticalSide.y * horizontalSide.x;
    if (depth.x * x + depth.y * y + depth.z * z < 0) {
      x = -x;
      y = -y;
      z = -z;
    }
    const t = -valueAt(nearPlane, eyeX, eyeY, eyeZ) / (nearPlane.x * x + nearPlane.y * y + nearPlane.z * z);
    const cornerDepth = isTurning ? sqrt(x * x + y * y + z * z) * t : (depth.x * x + depth.y * y + depth.z * z) * t;
    if (!(cornerDepth > 0)) return Infinity;
    maxDepth = max(maxDepth, cornerDepth);
  }
  return maxDepth;
}
