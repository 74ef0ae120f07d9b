import type { ViewOptions } from 'collision-worker';
import { OrthographicCamera } from 'three';
import type { Point, Solid } from './solids.js';
import { boundsOf } from './solids.js';

/** A view along -z without perspective: its frustum is a box along the axes. */
export interface Window {
  center: Point;
  /** From the eye's plane, which is the near one, to the far one it is twice the last. */
  half: Point;
  left: number;
  top: number;
  width: number;
  height: number;
  layers: number;
  margin: number;
  minPixels: number;
  /** Whether nearer things hide others. */
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
  // From -1 … 1 to 0 … 1, and the other way round.
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

/** How many pixels across the sphere about its bounds is, less than the view asks for: below 0 where it is left out. */
export function pixelsToSpare({ half, height, minPixels }: Window, solid: Solid): number {
  const across = 2 * Math.hypot(...boundsOf(solid).half);
  return (across / (2 * half[1])) * height - minPixels;
}

export function isShownTo({ layers }: Window, thing: { cullable: boolean; layers: number }): boolean {
  return thing.cullable && (thing.layers & layers) !== 0;
}

/** Where the ray through a point of the viewport begins. */
export function eyeOf({ center, half, left, top, width, height }: Window, x: number, y: number): Point {
  return [
    center[0] + ((2 * (x - left)) / width - 1) * half[0],
    center[1] + (1 - (2 * (y - top)) / height) * half[1],
    center[2] + half[2],
  ];
}

/** Where a point is drawn. */
export function pixelOf({ center, half, left, top, width, height }: Window, point: Point): [x: number, y: number] {
  return [
    left + ((point[0] - center[0]) / half[0] + 1) * (width / 2),
    top + (1 - (point[1] - center[1]) / half[1]) * (height / 2),
  ];
}
