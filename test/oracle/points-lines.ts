// Points and lines, and those that are near a ray, a point or a place on the screen: every element one by one, in float64.
import type { MeshData } from 'collision-worker';
import { Line3, type Matrix4, Ray, Vector3, Vector4 } from 'three';
import type { Random } from './random.js';

export type Elements = MeshData & { topology: 'points' | 'lines' };

export const TOPOLOGIES = ['points', 'lines'] as const;

const sizeOf = ({ topology }: Elements): number => (topology === 'points' ? 1 : 2);

export function countOf(elements: Elements): number {
  return (elements.indices?.length ?? elements.positions.length / 3) / sizeOf(elements);
}

/** The vertex numbers of an element. */
export function verticesOf(elements: Elements, element: number): number[] {
  const size = sizeOf(elements);
  return Array.from({ length: size }, (_, k) => elements.indices?.[element * size + k] ?? element * size + k);
}

/** The ends of an element, twice the same for a point; null if one is not finite. */
export function endsOf(elements: Elements, element: number): [Vector3, Vector3] | null {
  const size = sizeOf(elements);
  const [first, last] = [element * size, element * size + size - 1].map((k) => {
    return new Vector3().fromArray(elements.positions, 3 * (elements.indices?.[k] ?? k));
  });
  return areFinite(first) && areFinite(last) ? [first, last] : null;
}

function areFinite({ x, y, z }: Vector3): boolean {
  return Number.isFinite(x) && Number.isFinite(y) && Number.isFinite(z);
}

/** Random elements in a cube of half size 1; with all kinds of degenerate ones on request. */
export function elementsIn(
  random: Random,
  topology: Elements['topology'],
  count: number,
  { indexed = false, degenerate = false, reach = 0.3 } = {},
): Elements {
  const size = topology === 'points' ? 1 : 2;
  const vertices = indexed ? Math.max(2, Math.ceil(count * 0.7)) : count * size;
  const positions = new Float32Array(3 * vertices);
  for (let v = 0; v < vertices; v++) {
    const isEnd = size === 2 && !indexed && v % 2 === 1;
    const point = isEnd ? new Vector3().fromArray(positions, 3 * v - 3).add(random.point(reach)) : random.point(1);
    if (degenerate && isEnd && random.chance(0.1)) point.fromArray(positions, 3 * v - 3);
    if (degenerate && random.chance(0.05)) point.setComponent(random.integer(3), random.pick([Number.NaN, Infinity]));
    if (degenerate && random.chance(0.1)) point.fromArray(positions, 3 * random.integer(v + 1));
    point.toArray(positions, 3 * v);
  }
  if (!indexed) return { topology, positions };
  const indices = Uint32Array.from({ length: count * size }, () => random.integer(vertices));
  return { topology, positions, indices };
}

export interface NearElement {
  element: number;
  /** Distance along the ray. */
  distance: number;
  distanceToRay: number;
  point: Vector3;
}

/**
 * All elements within a threshold of a ray, in world space: computed by three's own functions for a ray about the origin, to
 * which everything is translated first. Points must be nearer than the threshold, lines no farther.
 */
export function nearRay(elements: Elements, matrix: Matrix4, ray: Ray, threshold: number): NearElement[] {
  const relativeMatrix = matrix.clone();
  relativeMatrix.setPosition(new Vector3().setFromMatrixPosition(matrix).sub(ray.origin));
  const localRay = new Ray(new Vector3(), ray.direction);
  const nearElements: NearElement[] = [];
  for (let element = 0; element < countOf(elements); element++) {
    const ends = endsOf(elements, element);
    if (!ends) continue;
    const [a, b] = ends.map((end) => end.applyMatrix4(relativeMatrix));
    const [onRay, onLine] = [new Vector3(), new Vector3()];
    if (elements.topology === 'points') localRay.closestPointToPoint(a, onRay);
    // Does not use the square that three returns for a line, a sum of large numbers: it makes 1e-6 of 1e-13.
    if (elements.topology === 'points') onLine.copy(a);
    else localRay.distanceSqToSegment(a, b, onRay, onLine);
    const distanceToRay = onRay.distanceTo(onLine);
    if (!(elements.topology === 'points' ? distanceToRay < threshold : distanceToRay <= threshold)) continue;
    const point = (elements.topology === 'points' ? onRay.clone() : onLine).add(ray.origin);
    nearElements.push({ element, distance: onRay.length(), distanceToRay, point });
  }
  return nearElements;
}

/** The closest place of any element to a point, in world space. */
export function nearestTo(elements: Elements, matrix: Matrix4, point: Vector3): { element: number; distance: number } {
  const relativeMatrix = matrix.clone();
  relativeMatrix.setPosition(new Vector3().setFromMatrixPosition(matrix).sub(point));
  const origin = new Vector3();
  const nearest = new Vector3();
  const line = new Line3();
  let best = { element: -1, distance: Infinity };
  for (let element = 0; element < countOf(elements); element++) {
    const ends = endsOf(elements, element);
    if (!ends) continue;
    const [a, b] = ends;
    a.applyMatrix4(relativeMatrix);
    b.applyMatrix4(relativeMatrix);
    const closest = a.equals(b) ? a : line.set(a, b).closestPointToPoint(origin, true, nearest);
    const distance = closest.length();
    if (distance < best.distance) best = { element, distance };
  }
  return best;
}

export interface DrawnElement {
  element: number;
  /** Distance from the cursor on the screen, in pixels. */
  pixels: number;
  /** Distance along the ray, of the place that is drawn closest to the cursor. */
  distance: number;
}

/**
 * For all elements: how near to the cursor the part between the near and the far plane is drawn. Lines are sampled in many
 * pieces, so that it does not rely on how lines are drawn.
 */
export function drawnNear(
  elements: Elements,
  matrix: Matrix4,
  view: { projection: Matrix4; view: Matrix4; width: number; height: number },
  [x, y]: readonly [number, number],
  ray: Ray,
  [minDistance, maxDistance]: readonly [number, number],
): DrawnElement[] {
  const clip = view.projection.clone().multiply(view.view).multiply(matrix);
  const relativeMatrix = matrix.clone();
  relativeMatrix.setPosition(new Vector3().setFromMatrixPosition(matrix).sub(ray.origin));
  const drawnElements: DrawnElement[] = [];
  for (let element = 0; element < countOf(elements); element++) {
    const ends = endsOf(elements, element);
    if (!ends) continue;
    // The clip coordinates of a place, before the perspective division, and its distance are linear between both ends.
    const [first, last] = ends.map(({ x, y, z }) => new Vector4(x, y, z, 1).applyMatrix4(clip));
    const [start, end] = ends.map((each) => each.clone().applyMatrix4(relativeMatrix).dot(ray.direction));
    const distanceAt = (s: number) => start + (end - start) * s;
    const pixelsAt = (s: number) => {
      const w = first.w + (last.w - first.w) * s;
      const distance = distanceAt(s);
      if (w <= 0 || distance < minDistance || distance > maxDistance) return Infinity;
      const dx = (((first.x + (last.x - first.x) * s) / w + 1) / 2) * view.width - x;
      const dy = ((1 - (first.y + (last.y - first.y) * s) / w) / 2) * view.height - y;
      return Math.sqrt(dx * dx + dy * dy);
    };
    const isPoint = ends[0].equals(ends[1]);
    // Samples a grid of places, then refines it around the best one.
    let [min, max] = [0, isPoint ? 0 : 1];
    let best = { pixels: pixelsAt(0), s: 0 };
    for (let round = 0; round < (isPoint ? 1 : 12); round++) {
      const steps = round === 0 ? 400 : 20;
      for (let i = 0; i <= steps; i++) {
        const s = min + ((max - min) * i) / steps;
        const pixels = pixelsAt(s);
        if (pixels < best.pixels) best = { pixels, s };
      }
      const width = (max - min) / steps;
      [min, max] = [Math.max(0, best.s - width), Math.min(1, best.s + width)];
    }
    if (best.pixels < Infinity) drawnElements.push({ element, pixels: best.pixels, distance: distanceAt(best.s) });
  }
  return drawnElements;
}
