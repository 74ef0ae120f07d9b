// The projection of points to the screen of a view: the functions of its occlusion camera, in float64 relative to the scene's
// origin, and in float32 relative to an origin near the eye.

import { Plane, valueAt } from '../../math/plane';
import { pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { screenNear, screenW, screenX, screenY, screenZ } from '../../occlusion/draw-occluder';
import { HOLE, Tree, slotAt } from '../index/octree';
import { sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { OcclusionCamera } from './occlusion-camera';
import { View } from './views';

export let camera: OcclusionCamera = changetype<OcclusionCamera>(0);
export let view: View = changetype<View>(0);
/** The margin in pixels: by how much outlines are thickened to either side, and tested boxes enlarged. */
export let pixelMargin: f64 = 0;

/** Sets the view whose image is drawn into the tiles, which must exist. */
export function setOcclusionView(current: View): void {
  view = current;
  camera = changetype<OcclusionCamera>(view.camera);
  // The rasterization grid of a graphics card has 256 positions per pixel.
  const scale = max(<f64>pixelsWide / camera.width, <f64>pixelsHigh / camera.height);
  pixelMargin = 0.03125 + scale / 64;
  setScreen();
}

// @ts-ignore: decorator
@inline
function planeAt(at: usize): Plane {
  return changetype<Plane>(changetype<usize>(camera) + at);
}

/**
 * A function of a point relative to an origin near the eye, in float32; that origin, relative to the scene's, is originX,
 * Y, Z.
 */
@unmanaged
export class LinearF32 {
  x: f32; y: f32; z: f32; w: f32;
  /** The largest absolute value of the first three. */
  largest: f32;
}

export const screenX32 = changetype<LinearF32>(memory.data(<i32>offsetof<LinearF32>(), 16));
export const screenY32 = changetype<LinearF32>(memory.data(<i32>offsetof<LinearF32>(), 16));
export const screenZ32 = changetype<LinearF32>(memory.data(<i32>offsetof<LinearF32>(), 16));
export const screenW32 = changetype<LinearF32>(memory.data(<i32>offsetof<LinearF32>(), 16));
export let originX: f32 = 0, originY: f32 = 0, originZ: f32 = 0;

function setScreen(): void {
  const w = planeAt(offsetof<OcclusionCamera>('wx'));
  setAxis(screenX, planeAt(offsetof<OcclusionCamera>('xx')), w, 0.5 * <f64>pixelsWide);
  setAxis(screenY, planeAt(offsetof<OcclusionCamera>('yx')), w, 0.5 * <f64>pixelsHigh);
  memory.copy(changetype<usize>(screenZ), changetype<usize>(planeAt(offsetof<OcclusionCamera>('zx'))), 32);
  memory.copy(changetype<usize>(screenW), changetype<usize>(w), 32);
  memory.copy(changetype<usize>(screenNear), changetype<usize>(planeAt(offsetof<OcclusionCamera>('nearX'))), 32);
  originX = camera.isPerspective ? <f32>(camera.eyeX - sceneOriginX) : 0;
  originY = camera.isPerspective ? <f32>(camera.eyeY - sceneOriginY) : 0;
  originZ = camera.isPerspective ? <f32>(camera.eyeZ - sceneOriginZ) : 0;
  // For a parallel projection they are divided by w, which is the same everywhere.
  const scale = camera.isPerspective ? 1 : 1 / w.w;
  toFloat32(screenX32, screenX, scale);
  toFloat32(screenY32, screenY, scale);
  toFloat32(screenZ32, screenZ, scale);
  toFloat32(screenW32, screenW, scale);
}

function setAxis(out: Plane, axis: Plane, w: Plane, half: f64): void {
  out.x = half * (axis.x + w.x);
  out.y = half * (axis.y + w.y);
  out.z = half * (axis.z + w.z);
  out.w = half * (axis.w + w.w);
}

function toFloat32(out: LinearF32, plane: Plane, scale: f64): void {
  out.x = <f32>(plane.x * scale);
  out.y = <f32>(plane.y * scale);
  out.z = <f32>(plane.z * scale);
  out.w = <f32>(scale * valueAt(plane, sceneOriginX + <f64>originX, sceneOriginY + <f64>originY, sceneOriginZ + <f64>originZ));
  out.largest = max(max(abs(out.x), abs(out.y)), abs(out.z));
}

// @ts-ignore: decorator
@inline
export function isVisible(slot: u32): bool {
  const word = <usize>(slot >> 5) << 2;
  return ((load<u32>(view.inside + word) | load<u32>(view.crossing + word)) & (1 << (slot & 31))) != 0;
}

/** Returns a bit mask of the lanes of a block whose objects the view sees. */
export function visibleLanes(tree: Tree, position: u32): u32 {
  let bits: u32 = 0;
  for (let lane: u32 = 0; lane < 4; lane++) {
    const slot = slotAt(tree, position + lane);
    if (slot != HOLE && isVisible(slot)) bits |= 1 << lane;
  }
  return bits;
}
