// The lines of three's addons have a width, in pixels or in world units. The worker finds segments that may be near enough, by a
// threshold in each object's own space; here each of them is tested as three's LineSegments2 does.

import { type Intersection, type LineSegments, Matrix4, Ray as SceneRay, Vector3, Vector4 } from 'three';
import type { Hit, Ray, ViewOptions } from '../../../shared/types.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { FatLine } from '../track/stand-in.js';

/** The pixel that was asked about, in a view. */
export interface Cursor {
  readonly x: number;
  readonly y: number;
  readonly view: ViewOptions;
}

/** How wide lines are considered to be. */
export interface Width {
  /** three's `params.Line2.threshold`, which is added to the width, in its unit; null if `pixels` decides. */
  readonly threshold: number | null;
  /** Lines that are not wider are hit this near to the cursor. */
  readonly pixels: number;
}

/** A ray, and how near to it lines with a width are hit. */
export interface FatQuery {
  readonly ray: Ray;
  readonly width: Width;
  /** Null for rays in space, which do not hit lines whose width is in pixels. */
  readonly cursor: Cursor | null;
}

const SCRATCH_CENTER = new Vector4();

/** How near a line is hit; 0 in a unit that does not apply. */
interface HitRange {
  readonly world: number;
  readonly pixels: number;
  /** Size of the canvas that the pixels belong to. */
  readonly width: number;
  readonly height: number;
}

function hitRangeIn({ linewidth, worldUnits, resolution }: FatLine['material'], query: FatQuery): HitRange {
  const { threshold, pixels } = query.width;
  const world = worldUnits ? (linewidth + (threshold ?? 0)) / 2 : 0;
  const worldOnly = { world, pixels: 0, width: 0, height: 0 };
  if (query.cursor === null || (threshold !== null && worldUnits)) return worldOnly;
  if (threshold === null) {
    const { width, height } = query.cursor.view.viewport;
    return { world, pixels: Math.max(worldUnits ? 0 : linewidth / 2, pixels), width, height };
  }
  // With `params`, pixels are those of the canvas in which three last drew the line, as in its Raycaster. three may never have
  // drawn it.
  const { x: width, y: height } = resolution;
  return width > 0 && height > 0 ? { world, pixels: (linewidth + threshold) / 2, width, height } : worldOnly;
}

/** Returns a threshold in the object's own space that covers all segments that a query may hit. */
export function fatThresholdOf(object: FatLine, query: FatQuery): number {
  const { material, geometry, matrixWorld } = object;
  const { world, pixels, width, height } = hitRangeIn(material, query);
  let range = world;
  if (pixels > 0) {
    const { projection: p, view } = query.cursor!.view;
    if (geometry.boundingSphere === null) geometry.computeBoundingSphere();
    const { center, radius } = geometry.boundingSphere!;
    const toView = new Matrix4().fromArray(Array.from(view)).multiply(matrixWorld);
    const { x, y, z } = SCRATCH_CENTER.set(center.x, center.y, center.z, 1).applyMatrix4(toView);
    const viewRadius = radius * frobeniusNormOf(toView);
    const maxClipW = p[3] * x + p[7] * y + p[11] * z + p[15] + Math.hypot(p[3], p[7], p[11]) * viewRadius;
    const pixelSize = Math.max(2 / (width * Math.abs(p[0])), 2 / (height * Math.abs(p[5])));
    range = Math.max(range, pixels * Math.max(0, maxClipW) * pixelSize);
  }
  // Rounding must not exclude a segment.
  const localRange = 1.0001 * range * frobeniusNormOf(matrixWorld.clone().invert());
  return localRange < Number.MAX_VALUE ? localRange : Number.MAX_VALUE;
}

/** Returns an upper bound of how much a matrix lengthens vectors (the Frobenius norm). */
function frobeniusNormOf({ elements }: Matrix4): number {
  return Math.hypot(...elements.slice(0, 3), ...elements.slice(4, 7), ...elements.slice(8, 11));
}

/** Returns the intersection of three's LineSegments2 for a segment that may be hit; null if it is not hit. */
export function fatIntersection(
  { element }: Hit,
  { object }: SceneObject,
  { geometry }: BuiltMesh,
  query: FatQuery,
): Intersection | null {
  const fatLine = object as unknown as FatLine;
  const { position } = geometry.attributes;
  const [start, end] = [2 * element, 2 * element + 1].map((i) => {
    return new Vector3().fromBufferAttribute(position, i).applyMatrix4(fatLine.matrixWorld);
  });
  const { ray } = query;
  const { tMin = 0, tMax = Number.POSITIVE_INFINITY } = ray;
  const line = new SceneRay(new Vector3(...ray.origin), new Vector3(...ray.direction).normalize());
  const [point, pointOnLine] = [new Vector3(), new Vector3()];
  line.distanceSqToSegment(start, end, point, pointOnLine);
  const distance = line.origin.distanceTo(point);
  if (distance < tMin || distance > tMax) return null;
  const { world, pixels, width, height } = hitRangeIn(fatLine.material, query);
  const isHit =
    point.distanceTo(pointOnLine) < world ||
    (pixels > 0 && isDrawnWithin(start, end, query.cursor!, width, height, pixels));
  if (!isHit) return null;
  return {
    ...{ point, pointOnLine, distance, object, face: null, faceIndex: element },
    ...({ uv: null, uv1: null } as unknown as Partial<Intersection<LineSegments>>), // as in three
  };
}

/** Returns whether a segment is drawn within `pixels` of the cursor, on a canvas of `width` by `height` pixels. */
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
  const minDepth = depth === 'webgpu' ? 0 : -1;
  // Distance beyond the near plane, in clip space.
  const nearDistance = ({ z, w }: Vector4): number => (reversed === true ? w - z : z - minDepth * w);
  const [distanceA, distanceB] = [nearDistance(a), nearDistance(b)];
  if (distanceA < 0 && distanceB < 0) return false;
  if (distanceA < 0) a.lerp(b, distanceA / (distanceA - distanceB));
  else if (distanceB < 0) b.lerp(a, distanceB / (distanceB - distanceA));
  const [ax, ay, az] = [(a.x / a.w) * (width / 2), (a.y / a.w) * (height / 2), a.z / a.w];
  const [bx, by, bz] = [(b.x / b.w) * (width / 2), (b.y / b.w) * (height / 2), b.z / b.w];
  const px = (((x - left) / viewport.width) * 2 - 1) * (width / 2);
  const py = (1 - ((y - top) / viewport.height) * 2) * (height / 2);
  const [dx, dy] = [bx - ax, by - ay];
  const lengthSquared = dx * dx + dy * dy;
  const t = lengthSquared === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / lengthSquared));
  const z = az + t * (bz - az);
  return z >= minDepth && z <= 1 && Math.hypot(ax + t * dx - px, ay + t * dy - py) < pixels;
}
