// The lines of three's addons have a width, in pixels or in world units. The worker finds the segments that may be near
// enough, by a threshold in each object's own space; here each of these is compared as three's LineSegments2 does.

import { type Intersection, type LineSegments, Matrix4, Ray as SceneRay, Vector3, Vector4 } from 'three';
import type { Hit, Ray, ViewOptions } from '../../../shared/types.js';
import type { BuiltMesh } from '../geometry/mesh-pool.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { FatLine } from '../track/stand-in.js';

/** The pixel that was asked about, in a view. */
export interface Cursor {
  readonly x: number;
  readonly y: number;
  readonly view: ViewOptions;
}

/** How wide lines are taken to be. */
export interface Width {
  /** three's `params.Line2.threshold`, which is added to the width, in its unit; null where `pixels` decide. */
  readonly threshold: number | null;
  /** Lines are hit this near to the cursor, where they are not wider. */
  readonly pixels: number;
}

/** It says of a ray how near lines with a width are hit. */
export interface FatQuery {
  readonly ray: Ray;
  readonly width: Width;
  /** Null for rays in space: lines of a width in pixels are not hit by these. */
  readonly cursor: Cursor | null;
}

const PLACE = new Vector4();

/** Answers a threshold in the object's own space within which all segments are that a query may hit. */
export function reachOf(object: FatLine, { width: { threshold, pixels }, cursor }: FatQuery): number {
  const { material, geometry, matrixWorld } = object;
  const { linewidth } = material;
  let reach = 0;
  if (material.worldUnits) reach = (linewidth + (threshold ?? 0)) / 2;
  const wide =
    threshold === null ? Math.max(material.worldUnits ? 0 : linewidth / 2, pixels) : (linewidth + threshold) / 2;
  if (cursor !== null && (threshold === null || !material.worldUnits)) {
    const { projection: p, view, viewport } = cursor.view;
    if (geometry.boundingSphere === null) geometry.computeBoundingSphere();
    const { center, radius } = geometry.boundingSphere!;
    const toView = new Matrix4().fromArray(Array.from(view)).multiply(matrixWorld);
    const { x, y, z } = PLACE.set(center.x, center.y, center.z, 1).applyMatrix4(toView);
    const e = toView.elements;
    const size = radius * Math.hypot(...e.slice(0, 3), ...e.slice(4, 7), ...e.slice(8, 11));
    const farthest = p[3] * x + p[7] * y + p[11] * z + p[15] + Math.hypot(p[3], p[7], p[11]) * size;
    const [w, h] = sizeOf(object, threshold, viewport);
    const aPixel = Math.max(2 / (w * Math.abs(p[0])), 2 / (h * Math.abs(p[5])));
    if (w > 0 && h > 0) reach = Math.max(reach, wide * Math.max(0, farthest) * aPixel);
  }
  const inverse = matrixWorld.clone().invert().elements;
  const stretch = Math.hypot(...inverse.slice(0, 3), ...inverse.slice(4, 7), ...inverse.slice(8, 11));
  // Rounding is not to keep a segment out.
  const local = 1.0001 * reach * stretch;
  return local < Number.MAX_VALUE ? local : Number.MAX_VALUE;
}

/** Answers what three's LineSegments2 does of a segment that may be hit; null where it is not. */
export function fatIntersection(
  { element }: Hit,
  { object }: SceneObject,
  { geometry }: BuiltMesh,
  { ray, width: { threshold, pixels }, cursor }: FatQuery,
): Intersection | null {
  const fat = object as unknown as FatLine;
  const { position } = geometry.attributes;
  const [start, end] = [2 * element, 2 * element + 1].map((i) => {
    return new Vector3().fromBufferAttribute(position, i).applyMatrix4(fat.matrixWorld);
  });
  const { tMin = 0, tMax = Number.POSITIVE_INFINITY } = ray;
  const line = new SceneRay(new Vector3(...ray.origin), new Vector3(...ray.direction).normalize());
  const [point, pointOnLine] = [new Vector3(), new Vector3()];
  line.distanceSqToSegment(start, end, point, pointOnLine);
  const distance = line.origin.distanceTo(point);
  if (distance < tMin || distance > tMax) return null;
  const { linewidth, worldUnits } = fat.material;
  let isHit = false;
  if (worldUnits) isHit = point.distanceTo(pointOnLine) < (linewidth + (threshold ?? 0)) / 2;
  if (!isHit && cursor !== null && (threshold === null || !worldUnits)) {
    const [width, height] = sizeOf(fat, threshold, cursor.view.viewport);
    const wide = threshold === null ? Math.max(worldUnits ? 0 : linewidth / 2, pixels) : (linewidth + threshold) / 2;
    // Without pixels it was never drawn, and is not hit by three either.
    isHit = width > 0 && height > 0 && isDrawnWithin(start, end, cursor, width, height, wide);
  }
  if (!isHit) return null;
  return {
    ...{ point, pointOnLine, distance, object, face: null, faceIndex: element },
    ...({ uv: null, uv1: null } as unknown as Partial<Intersection<LineSegments>>), // as three has them
  };
}

/** Answers the pixels that widths are in: with `params` those that three last drew it with, as its Raycaster has them. */
function sizeOf({ material }: FatLine, threshold: number | null, viewport: ViewOptions['viewport']): [number, number] {
  if (threshold === null) return [viewport.width, viewport.height];
  return [material.resolution.x, material.resolution.y];
}

/** Tells whether a segment is drawn within so many pixels of the cursor, of a canvas of `width` by `height` pixels. */
function isDrawnWithin(
  start: Vector3,
  end: Vector3,
  { x, y, view: { projection, view, viewport, depth, reversed } }: Cursor,
  width: number,
  height: number,
  pixels: number,
): boolean {
  const { x: left = 0, y: top = 0 } = viewport;
  const toClip = new Matrix4().fromArray(Array.from(projection)).multiply(new Matrix4().fromArray(Array.from(view)));
  const a = new Vector4(start.x, start.y, start.z, 1).applyMatrix4(toClip);
  const b = new Vector4(end.x, end.y, end.z, 1).applyMatrix4(toClip);
  const low = depth === 'webgpu' ? 0 : -1;
  // Beyond the near plane.
  const beyond = ({ z, w }: Vector4): number => (reversed === true ? w - z : z - low * w);
  const [before, behind] = [beyond(a), beyond(b)];
  if (before < 0 && behind < 0) return false;
  if (before < 0) a.lerp(b, before / (before - behind));
  else if (behind < 0) b.lerp(a, behind / (behind - before));
  const [ax, ay, az] = [(a.x / a.w) * (width / 2), (a.y / a.w) * (height / 2), a.z / a.w];
  const [bx, by, bz] = [(b.x / b.w) * (width / 2), (b.y / b.w) * (height / 2), b.z / b.w];
  const px = (((x - left) / viewport.width) * 2 - 1) * (width / 2);
  const py = (1 - ((y - top) / viewport.height) * 2) * (height / 2);
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy;
  const t = square === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / square));
  const z = az + t * (bz - az);
  return z >= low && z <= 1 && Math.hypot(ax + t * dx - px, ay + t * dy - py) < pixels;
}
