// Everything that a pick may snap to, by testing every feature of every object, and every triangle for occlusion: slow, in
// float64.
import { type Camera, Matrix4, Vector3, Vector4 } from 'three';
import type { Triangles } from './meshes.js';

export interface SnapObject {
  id: number;
  mesh: Triangles;
  matrix: Matrix4;
  side: 'front' | 'back' | 'double';
  /** The primitive of the indices: lines and points are always visible, and occlude nothing. Default triangles. */
  topology?: 'lines' | 'points';
  /** For a ball or a capsule, which has no features: half the length of its segment, in the space in which its radius is 1. */
  half?: number;
  /** The sides of triangles, if they differ from the object's. */
  sides?: readonly SnapObject['side'][];
  /** The part that its own clipping planes keep. Default all of it. */
  isKept?: (p: Vector3) => boolean;
}

/** An edge of a mesh with its adjacent triangles. */
interface Edge {
  ends: [number, number];
  triangles: number[];
}

/** Collinear edges, and their midpoint: an edge and the position along it, so that it follows a pose. */
interface Run {
  ends: [number, number];
  edges: Edge[];
  middle: { edge: Edge; share: number } | undefined;
}

export interface Feature {
  kind: 'vertex' | 'midpoint' | 'edge';
  object: number;
  point: Vector3;
  pixels: number;
  /** Whether a triangle in front of it, by at least a distance along the ray from the eye, hides it; 'doubtful' if that is uncertain. */
  visibility: 'visible' | 'hidden' | 'doubtful';
}

/** Features of a mesh: vertices welded by position, edges that bend by more than an angle, straight runs. */
export function featuresOfMesh({ positions, indices }: Triangles, degrees: number) {
  const vertices: Vector3[] = [];
  const largest = positions.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const noise = largest / 2 ** 22;
  const vertexOf = Array.from({ length: positions.length / 3 }, (_, i) => {
    const p = new Vector3().fromArray(positions, 3 * i);
    const existing = vertices.findIndex(
      (q) => Math.abs(p.x - q.x) <= noise && Math.abs(p.y - q.y) <= noise && Math.abs(p.z - q.z) <= noise,
    );
    return existing >= 0 ? existing : vertices.push(p) - 1;
  });
  const cornersOf = (t: number) => [0, 1, 2].map((k) => new Vector3().fromArray(positions, 3 * indices[3 * t + k]));
  const edges = new Map<string, Edge>();
  for (let t = 0; t < indices.length / 3; t++) {
    const [a, b, c] = cornersOf(t);
    const corners = [0, 1, 2].map((k) => vertexOf[indices[3 * t + k]]);
    const isFlat = b.clone().sub(a).cross(c.clone().sub(a)).length() === 0;
    if (isFlat || new Set(corners).size < 3) continue;
    for (let k = 0; k < 3; k++) {
      const ends = [corners[k], corners[(k + 1) % 3]].sort((x, y) => x - y) as [number, number];
      const key = ends.join();
      if (!edges.has(key)) edges.set(key, { ends, triangles: [] });
      edges.get(key)!.triangles.push(t);
    }
  }
  let isDoubtful = false;
  const isFeature = ({ ends, triangles }: Edge): boolean => {
    const [p, q] = ends.map((i) => vertices[i]);
    const edgeDirection = q.clone().sub(p).normalize();
    const wingDirections = triangles.map((t) => {
      const third = [0, 1, 2].map((k) => vertexOf[indices[3 * t + k]]).find((v) => !ends.includes(v))!;
      const offset = vertices[third].clone().sub(p);
      return offset.addScaledVector(edgeDirection, -offset.dot(edgeDirection)).normalize();
    });
    const bendAngles = wingDirections
      .slice(1)
      .map((wingDirection) => 180 - (wingDirection.angleTo(wingDirections[0]) * 180) / Math.PI);
    if (bendAngles.some((bend) => Math.abs(bend - degrees) < 0.01 || Math.abs(bend - 180 + 0.056) < 0.05))
      isDoubtful = true;
    if (bendAngles.length === 0) return true;
    return !(
      bendAngles.every((bend) => bend <= degrees || bend > 179.944) && bendAngles.some((bend) => bend <= degrees)
    );
  };
  const features = [...edges.values()].filter(isFeature);
  const edgesByVertex = new Map<number, Edge[]>();
  for (const edge of features) {
    for (const end of edge.ends) edgesByVertex.set(end, [...(edgesByVertex.get(end) ?? []), edge]);
  }
  const isStraightAt = (vertex: number): boolean => {
    const vertexEdges = edgesByVertex.get(vertex)!;
    if (vertexEdges.length !== 2) return false;
    const [s, t] = vertexEdges.map(({ ends }) => vertices[ends[0] === vertex ? ends[1] : ends[0]]);
    const u = vertices[vertex].clone().sub(s);
    const v = t.clone().sub(vertices[vertex]);
    if (u.dot(v) <= 0) return false;
    const sine = u.clone().cross(v).length() / u.length() / v.length();
    const height = u.clone().cross(v).length() / t.distanceTo(s);
    if (Math.abs(sine * 2 ** 10 - 1) < 0.02 || Math.abs(height / noise - 1) < 0.02) isDoubtful = true;
    return sine <= 2 ** -10 || height <= noise;
  };
  const straightVertices = new Map([...edgesByVertex.keys()].map((vertex) => [vertex, isStraightAt(vertex)]));
  // Runs: edges that continue straight at shared vertices.
  const runs: Run[] = [];
  const visited = new Set<Edge>();
  for (const first of features) {
    if (visited.has(first)) continue;
    const chain = [first];
    const [start, end] = first.ends.map((from) => {
      let vertex = from;
      let edge = first;
      while (straightVertices.get(vertex)) {
        edge = edgesByVertex.get(vertex)!.find((other) => other !== edge)!;
        if (chain.includes(edge)) break;
        chain.push(edge);
        const farVertex = edge.ends[0] === vertex ? edge.ends[1] : edge.ends[0];
        vertex = farVertex;
      }
      return vertex;
    });
    for (const edge of chain) visited.add(edge);
    runs.push({ ends: [start, end], edges: chain, middle: midpointOf(vertices, [start, end], chain) });
  }
  return { vertices, features, runs, isDoubtful };
}

function midpointOf(vertices: readonly Vector3[], ends: Run['ends'], edges: readonly Edge[]): Run['middle'] {
  const [start, length] = [vertices[ends[0]], vertices[ends[0]].distanceTo(vertices[ends[1]])];
  for (const edge of edges) {
    const [u, v] = edge.ends.map((end) => vertices[end].distanceTo(start) / length);
    if (Math.min(u, v) <= 0.5 && Math.max(u, v) >= 0.5) return { edge, share: (0.5 - u) / (v - u) };
  }
  return undefined;
}

/** Features of lines, two indices each, none of which share an end; or of points. */
export function featuresOfElements(
  { positions, indices }: Triangles,
  topology: 'lines' | 'points',
): ReturnType<typeof featuresOfMesh> & { loose: number[] } {
  const vertices = Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
  if (topology === 'points') return { vertices, features: [], runs: [], isDoubtful: false, loose: [...indices] };
  const features = Array.from({ length: indices.length / 2 }, (_, i): Edge => {
    return { ends: [indices[2 * i], indices[2 * i + 1]], triangles: [] };
  });
  const runs = features.map((edge) => ({ ends: edge.ends, edges: [edge], middle: { edge, share: 0.5 } }));
  return { vertices, features, runs, isDoubtful: false, loose: [] };
}

/** A camera's projection, in pixels. */
export interface SnapCamera {
  camera: Camera;
  viewport: { x: number; y: number; width: number; height: number };
}

/** Lists all features of some kinds within a radius of the cursor, with the visibility of each. */
export function snapsAt(
  { camera, viewport }: SnapCamera,
  objects: readonly SnapObject[],
  meshFeatures: ReadonlyMap<Triangles, ReturnType<typeof featuresOfMesh>>,
  x: number,
  y: number,
  radius: number,
  kinds: readonly string[],
  isKept: (p: Vector3) => boolean = () => true,
): Feature[] {
  const clip = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const clipOf = (p: Vector3) => new Vector4(p.x, p.y, p.z, 1).applyMatrix4(clip);
  const pixelOf = (p: Vector3) => {
    const { x: cx, y: cy, w } = clipOf(p);
    return [viewport.x + ((cx / w + 1) / 2) * viewport.width, viewport.y + ((1 - cy / w) / 2) * viewport.height];
  };
  const pixelsOf = (p: Vector3) => Math.hypot(pixelOf(p)[0] - x, pixelOf(p)[1] - y);
  const isInView = (p: Vector3) => {
    const { x: cx, y: cy, z, w } = clipOf(p);
    return w > 0 && Math.abs(cx) <= w && Math.abs(cy) <= w && Math.abs(z) <= w && isKept(p);
  };
  const directionToEye = (p: Vector3): Vector3 => {
    const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    if (camera.projectionMatrix.elements[15] === 0) return eye.sub(p);
    return new Vector3(0, 0, 1).transformDirection(camera.matrixWorld);
  };
  const inverse = clip.clone().invert();
  const nearOf = (p: Vector3): Vector3 => {
    const { x: cx, y: cy, w } = clipOf(p);
    return new Vector3(cx / w, cy / w, -1).applyMatrix4(inverse);
  };
  const world = objects.map(({ mesh, matrix, topology }) => {
    if (topology) return [];
    const { positions, indices } = mesh;
    return Array.from(indices, (i) => new Vector3().fromArray(positions, 3 * i).applyMatrix4(matrix));
  });
  /** Returns whether a triangle shows one of the object's drawn sides to a place. */
  const isFacing = (object: number, triangle: number, toViewer: Vector3): boolean => {
    const { sides, matrix } = objects[object];
    const side = sides?.[triangle] ?? objects[object].side;
    if (side === 'double') return true;
    const [a, b, c] = world[object].slice(3 * triangle, 3 * triangle + 3);
    const normal = b.clone().sub(a).cross(c.clone().sub(a));
    const front = normal.dot(toViewer) * matrix.determinant();
    return side === 'front' ? front > 0 : front < 0;
  };
  const visibilityOf = (p: Vector3): Feature['visibility'] => {
    const near = nearOf(p);
    const direction = p.clone().sub(near);
    const length = direction.length();
    const pixel = 1 / Math.max(pixelsPerUnit(p, direction, pixelOf), 1e-300);
    let maxDepth = 0;
    direction.normalize();
    for (const [i, corners] of world.entries()) {
      for (let t = 0; t < corners.length / 3; t++) {
        const [a, b, c] = corners.slice(3 * t, 3 * t + 3);
        const hit = intersectTriangle(near, direction, a, b, c);
        if (hit === null || hit < 0 || !isFacing(i, t, direction.clone().negate())) continue;
        const at = near.clone().addScaledVector(direction, hit);
        if (isKept(at) && (objects[i].isKept?.(at) ?? true)) maxDepth = Math.max(maxDepth, (length - hit) / pixel);
      }
    }
    for (const { half, matrix, side } of objects) {
      if (half === undefined) continue;
      // The ray enters by the front, and leaves by the back.
      const hits = roundHits(near, direction, matrix, half);
      if (!hits) continue;
      for (const [k, hit] of hits.entries()) {
        if (hit < 0 || side === (k === 0 ? 'back' : 'front')) continue;
        if (isKept(near.clone().addScaledVector(direction, hit))) maxDepth = Math.max(maxDepth, (length - hit) / pixel);
      }
    }
    return maxDepth > 0.26 ? 'hidden' : maxDepth < 0.24 ? 'visible' : 'doubtful';
  };
  const features: Feature[] = [];
  for (const [i, { id, mesh, matrix, half, isKept: isUnclipped = () => true }] of objects.entries()) {
    if (half !== undefined) continue;
    const isDrawn = (p: Vector3) => isInView(p) && isUnclipped(p);
    const { vertices, runs, loose = [] } = meshFeatures.get(mesh)! as ReturnType<typeof featuresOfElements>;
    const at = (vertex: number) => vertices[vertex].clone().applyMatrix4(matrix);
    const isShown = ({ triangles }: Edge, p: Vector3) =>
      triangles.length === 0 || triangles.some((t) => isFacing(i, t, directionToEye(p)));
    const add = (kind: Feature['kind'], point: Vector3): void => {
      if (kinds.includes(kind) && isDrawn(point) && pixelsOf(point) <= radius) {
        features.push({ kind, object: id, point, pixels: pixelsOf(point), visibility: visibilityOf(point) });
      }
    };
    for (const vertex of loose) add('vertex', at(vertex));
    for (const { ends, edges, middle } of runs) {
      for (const end of ends) {
        if (edges.some((edge) => edge.ends.includes(end) && isShown(edge, at(end)))) add('vertex', at(end));
      }
      if (middle) {
        const midpoint = at(middle.edge.ends[0]).lerp(at(middle.edge.ends[1]), middle.share);
        if (isShown(middle.edge, midpoint)) add('midpoint', midpoint);
      }
      for (const edge of kinds.includes('edge') ? edges : []) {
        const [s, t] = edge.ends.map(at);
        const nearest = nearestDrawn(s, t, isDrawn, pixelsOf);
        if (nearest && isShown(edge, nearest)) add('edge', nearest);
      }
    }
  }
  return features;
}

/** Where a ray enters and leaves a capsule of radius 1 about z under a matrix; null if it misses. */
function roundHits(origin: Vector3, direction: Vector3, matrix: Matrix4, half: number): [number, number] | null {
  const inverse = matrix.clone().invert();
  const o = origin.clone().applyMatrix4(inverse);
  const d = origin.clone().add(direction).applyMatrix4(inverse).sub(o);
  const outside = (t: number) => {
    const { x, y, z } = o.clone().addScaledVector(d, t);
    return Math.hypot(x, y, z - Math.min(Math.max(z, -half), half)) - 1;
  };
  // The distance is convex along the ray: sectioning finds the minimum, then bisection both ends.
  const tCenter = -o.dot(d) / d.lengthSq();
  const tRange = (2 + 2 * half + o.length()) / d.length();
  let [min, max] = [tCenter - tRange, tCenter + tRange];
  for (let i = 0; i < 200; i++) {
    const s = min + (max - min) / 3;
    const t = max - (max - min) / 3;
    if (outside(s) < outside(t)) max = t;
    else min = s;
  }
  const tLowest = (min + max) / 2;
  if (outside(tLowest) >= 0) return null;
  const end = (tOutside: number): number => {
    let [inner, outer] = [tLowest, tOutside];
    for (let i = 0; i < 100; i++) {
      const midpoint = (inner + outer) / 2;
      if (outside(midpoint) < 0) inner = midpoint;
      else outer = midpoint;
    }
    return inner;
  };
  return [end(tCenter - tRange), end(tCenter + tRange)];
}

/** Finds the visible place of a segment that is closest in pixels: by sampling, then bisection around the best sample. */
function nearestDrawn(
  s: Vector3,
  t: Vector3,
  isDrawn: (p: Vector3) => boolean,
  pixelsOf: (p: Vector3) => number,
): Vector3 | null {
  const pointAt = (fraction: number) => s.clone().lerp(t, fraction);
  const drawnPixels = (fraction: number) =>
    fraction >= 0 && fraction <= 1 && isDrawn(pointAt(fraction)) ? pixelsOf(pointAt(fraction)) : Infinity;
  const count = 200;
  let best = -1;
  let minPixels = Infinity;
  for (let i = 0; i <= count; i++) {
    const pixels = drawnPixels(i / count);
    if (pixels < minPixels) [best, minPixels] = [i / count, pixels];
  }
  if (best < 0) return null;
  for (let step = 1 / count; step > 1e-14; step /= 2) {
    for (const next of [best - step, best + step]) {
      const pixels = drawnPixels(next);
      if (pixels < minPixels) [best, minPixels] = [next, pixels];
    }
  }
  return pointAt(best);
}

/** Pixels per unit perpendicular to the view direction. */
function pixelsPerUnit(p: Vector3, direction: Vector3, pixelOf: (p: Vector3) => number[]): number {
  const w = direction.clone().normalize();
  const u = new Vector3(0.3, -0.8, 0.52).cross(w).normalize();
  const v = w.clone().cross(u);
  const step = direction.length() * 1e-6;
  const [x, y] = pixelOf(p);
  return Math.max(
    ...[u, v].map((axis) => {
      const [s, t] = pixelOf(p.clone().addScaledVector(axis, step));
      return Math.hypot(s - x, t - y) / step;
    }),
  );
}

/** Distance at which a ray with a unit direction passes through a triangle; null if it does not (Möller and Trumbore, 1997). */
function intersectTriangle(origin: Vector3, direction: Vector3, a: Vector3, b: Vector3, c: Vector3): number | null {
  const e = b.clone().sub(a);
  const f = c.clone().sub(a);
  const p = direction.clone().cross(f);
  const determinant = e.dot(p);
  if (determinant === 0) return null;
  const s = origin.clone().sub(a);
  const u = s.dot(p) / determinant;
  const q = s.clone().cross(e);
  const v = direction.dot(q) / determinant;
  return u >= 0 && v >= 0 && u + v <= 1 ? f.dot(q) / determinant : null;
}
