// Whether two placed meshes are the same geometry in the same place.

/** A placed mesh: its vertices, each once, sorted by x, and sums over its triangles. */
export interface PlacedGeometry {
  /** xyz each. */
  vertices: Float64Array;
  area: number;
  /** It is taken over all edges of all triangles. */
  length: number;
}

/** Places the corners of triangles, nine numbers each. */
export function placeGeometry(corners: Float64Array, matrix: ArrayLike<number>): PlacedGeometry {
  const placed = new Float64Array(corners.length);
  for (let i = 0; i < corners.length; i += 3) {
    const [x, y, z] = [corners[i], corners[i + 1], corners[i + 2]];
    placed[i] = matrix[0] * x + matrix[4] * y + matrix[8] * z + matrix[12];
    placed[i + 1] = matrix[1] * x + matrix[5] * y + matrix[9] * z + matrix[13];
    placed[i + 2] = matrix[2] * x + matrix[6] * y + matrix[10] * z + matrix[14];
  }
  let [area, length] = [0, 0];
  for (let i = 0; i < placed.length; i += 9) {
    const edge = (from: number, to: number) => [0, 1, 2].map((k) => placed[i + 3 * to + k] - placed[i + 3 * from + k]);
    const [u, v, w] = [edge(0, 1), edge(0, 2), edge(1, 2)];
    area += 0.5 * Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    length += Math.hypot(...u) + Math.hypot(...v) + Math.hypot(...w);
  }
  return { vertices: distinctByX(placed), area, length };
}

function distinctByX(points: Float64Array): Float64Array {
  const count = points.length / 3;
  const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => {
    return (
      points[3 * a] - points[3 * b] || points[3 * a + 1] - points[3 * b + 1] || points[3 * a + 2] - points[3 * b + 2]
    );
  });
  const kept = new Float64Array(points.length);
  let end = 0;
  for (const i of order) {
    const isSame = [0, 1, 2].every((k) => end > 0 && kept[end - 3 + k] === points[3 * i + k]);
    if (isSame) continue;
    kept.set(points.subarray(3 * i, 3 * i + 3), end);
    end += 3;
  }
  return kept.slice(0, end);
}

/** float64's own error, relative. */
const ROUNDING = 1e-12;

/** Tells whether each vertex of one is within the tolerance of one of the other, and both areas are the same. */
export function isDuplicate(a: PlacedGeometry, b: PlacedGeometry, tolerance: number): boolean {
  const slack = tolerance * Math.max(a.length, b.length) + 1e-9 * Math.max(a.area, b.area);
  if (Math.abs(a.area - b.area) > slack) return false;
  return isNearAll(a.vertices, b.vertices, tolerance) && isNearAll(b.vertices, a.vertices, tolerance);
}

function isNearAll(points: Float64Array, others: Float64Array, tolerance: number): boolean {
  let most = 0;
  for (let i = 0; i < points.length; i++) most = Math.max(most, Math.abs(points[i]));
  // No point reaches farther: with a tolerance of 0, one that is far out along y or z reaches farther than the one before it.
  const farthest = 2 * (tolerance + 3 * ROUNDING * most);
  let first = 0;
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
    const reach = tolerance + ROUNDING * (Math.abs(x) + Math.abs(y) + Math.abs(z));
    while (first < others.length && others[first] < x - farthest) first += 3;
    let isNear = false;
    for (let j = first; j < others.length && others[j] <= x + reach && !isNear; j += 3) {
      isNear = Math.hypot(others[j] - x, others[j + 1] - y, others[j + 2] - z) <= reach;
    }
    if (!isNear) return false;
  }
  return true;
}

/** Tells whether two boxes of a list are the same, each side to a tolerance. */
export function isSameBox(boxes: Float64Array, a: number, b: number, tolerance: number): boolean {
  for (let i = 0; i < 6; i++) {
    const [one, other] = [boxes[6 * a + i], boxes[6 * b + i]];
    if (!(Math.abs(one - other) <= tolerance + ROUNDING * (Math.abs(one) + Math.abs(other)))) return false;
  }
  return true;
}
