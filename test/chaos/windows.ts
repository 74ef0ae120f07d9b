import type { ViewOptions } from 'collision-worker';
import { OrthographicCamera } from 'three';
import type { Point, Solid } from './solids.js';
import { boundsOf } from './solids.js';

/** An orthographic view along -z: its frustum is an axis-aligned box. */
export interface Window {
  center: Point;
  /** The distance from the eye's plane, which is the near plane, to the far plane is twice the last component. */
  half: Point;
  left: number;
  top: number;
  width: number;
  height: number;
  layers: number;
  margin: number;
  minPixels: number;
  /** Whether nearer objects occlude others. */
  occlusion: boolean;
  depth: 'webgl' | 'webgpu';
  reversed: boolean;
}

export function viewOf(window: Window): ViewOptions {
  const { center, half, left, top, width, height, layers, margin, minPixels, occlusion, depth, reversed } = window;
  const camera = new OrthographicCamera(-half[0], half[0], half[1], -half[1], 0, 2 * half[2]);
  camera.position.set(center[0], center[1], center[2] + half[2]);
  camera.updateMatrixWorld();
  const projection = camera.projectionMatrix.elements.slice();
  const view = camera.matrixWorldInverse.elements.slice();
  // Converts the depth range from -1 … 1 to 0 … 1, and reverses it.
  if (depth === 'webgpu') [projection[10], projection[14]] = [projection[10] / 2, projection[14] / 2 + 0.5];
  if (reversed) {
    const shift = depth === 'webgpu' ? 1 : 0;
    [projection[10], projection[14]] = [-projection[10], shift - projection[14]];
  }
  const viewport = { x: left, y: top, width, height };
  return { projection, view, viewport, layers, margin, minPixels, occlusion, depth, reversed };
}

export function frustumOf({ center, half, margin }: Window): Solid {
  return {
    ...{ center, radius: 0, isHollow: false },
    half: [half[0] + margin, half[1] + margin, half[2] + margin],
  };
}

/** By how many pixels the diameter of the bounding sphere exceeds the view's minimum; negative if the object is left out. */
export function excessPixels({ half, height, minPixels }: Window, solid: Solid): number {
  const diameter = 2 * Math.hypot(...boundsOf(solid).half);
  return (diameter / (2 * half[1])) * height - minPixels;
}

export function isShownTo({ layers }: Window, object: { cullable: boolean; layers: number }): boolean {
  return object.cullable && (object.layers & layers) !== 0;
}

/** Origin of the ray through a point of the viewport. */
export function eyeOf({ center, half, left, top, width, height }: Window, x: number, y: number): Point {
  return [
    center[0] + ((2 * (x - left)) / width - 1) * half[0],
    center[1] + (1 - (2 * (y - top)) / height) * half[1],
    center[2] + half[2],
  ];
}

/** The pixel of a point. */
export function pixelOf({ center, half, left, top, width, height }: Window, point: Point): [x: number, y: number] {
  return [
    left + ((point[0] - center[0]) / half[0] + 1) * (width / 2),
    top + (1 - (point[1] - center[1]) / half[1]) * (height / 2),
  ];
}
