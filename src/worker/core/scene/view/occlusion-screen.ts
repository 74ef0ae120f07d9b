// The projection of points to the screen of a view: the functions of its picture, in float64 relative to the scene's
// origin, and in float32 relative to an origin near the eye.

import { Plane, valueAt } from '../../math/plane';
import { pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { screenNear, screenW, screenX, screenY, screenZ } from '../../occlusion/draw-occluder';
import { HOLE, Tree, slotAt } from '../index/octree';
import { sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { Picture } from './picture';
import { View } from './views';

export let picture: Picture = changetype<Picture>(0);
export let view: View = changetype<View>(0);
/** The margin in pixels: by how much outlines are thickened to either side, and tested boxes enlarged. */
export let reach: f64 = 0;

/** Sets the view whose picture is drawn into the tiles, which must exist. */
export function setView(current: View): void {
  view = current;
  picture = changetype<Picture>(view.picture);
  // The rasterization grid of a graphics card has 256 positions per pixel.
  const scale = max(<f64>pixelsWide / picture.width, <f64>pixelsHigh / picture.height);
  reach = 0.03125 + scale / 64;
  setScreen();
}

// @ts-ignore: decorator
@inline
function planeIn(at: usize): Plane {
  return changetype<Plane>(changetype<usize>(picture) + at);
}

/**
 * A function of a point relative to an origin near the eye, in float32; that origin, relative to the scene's, is originX,
 * Y, Z.
 */
@unmanaged
export class Narrow {
  x: f32; y: f32; z: f32; w: f32;
  /** The largest absolute value of the first three. */
  largest: f32;
}

export const narrowX = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
export const narrowY = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
export const narrowZ = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
export const narrowW = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
export let originX: f32 = 0, originY: f32 = 0, originZ: f32 = 0;

function setScreen(): void {
  const w = planeIn(offsetof<Picture>('wx'));
  setAxis(screenX, planeIn(offsetof<Picture>('xx')), w, 0.5 * <f64>pixelsWide);
  setAxis(screenY, planeIn(offsetof<Picture>('yx')), w, 0.5 * <f64>pixelsHigh);
  memory.copy(changetype<usize>(screenZ), changetype<usize>(planeIn(offsetof<Picture>('zx'))), 32);
  memory.copy(changetype<usize>(screenW), changetype<usize>(w), 32);
  memory.copy(changetype<usize>(screenNear), changetype<usize>(planeIn(offsetof<Picture>('nearX'))), 32);
  originX = picture.isPerspective ? <f32>(picture.eyeX - sceneOriginX) : 0;
  originY = picture.isPerspective ? <f32>(picture.eyeY - sceneOriginY) : 0;
  originZ = picture.isPerspective ? <f32>(picture.eyeZ - sceneOriginZ) : 0;
  // For a parallel projection they are divided by w, which is the same everywhere.
  const over = picture.isPerspective ? 1 : 1 / w.w;
  narrow(narrowX, screenX, over);
  narrow(narrowY, screenY, over);
  narrow(narrowZ, screenZ, over);
  narrow(narrowW, screenW, over);
}

function setAxis(out: Plane, axis: Plane, w: Plane, half: f64): void {
  out.x = half * (axis.x + w.x);
  out.y = half * (axis.y + w.y);
  out.z = half * (axis.z + w.z);
  out.w = half * (axis.w + w.w);
}

function narrow(out: Narrow, plane: Plane, over: f64): void {
  out.x = <f32>(plane.x * over);
  out.y = <f32>(plane.y * over);
  out.z = <f32>(plane.z * over);
  out.w = <f32>(over * valueAt(plane, sceneOriginX + <f64>originX, sceneOriginY + <f64>originY, sceneOriginZ + <f64>originZ));
  out.largest = max(max(abs(out.x), abs(out.y)), abs(out.z));
}

// @ts-ignore: decorator
@inline
export function isSeen(slot: u32): bool {
  const word = <usize>(slot >> 5) << 2;
  return ((load<u32>(view.inside + word) | load<u32>(view.crossing + word)) & (1 << (slot & 31))) != 0;
}

/** Returns a bit mask of the lanes of a block whose objects the view sees. */
export function seenLanes(tree: Tree, position: u32): u32 {
  let bits: u32 = 0;
  for (let lane: u32 = 0; lane < 4; lane++) {
    const slot = slotAt(tree, position + lane);
    if (slot != HOLE && isSeen(slot)) bits |= 1 << lane;
  }
  return bits;
}
