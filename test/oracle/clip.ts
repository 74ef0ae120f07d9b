import { Vector3 } from 'three';

/** Intersection of two convex polygons in the plane y = 0 (Sutherland and Hodgman 1974), each with its vertices in order. */
export function clipPolygon(polygon: Vector3[], clipper: Vector3[]): Vector3[] {
  const center = clipper.reduce((sum, corner) => sum.add(corner), new Vector3()).divideScalar(clipper.length);
  let remaining = polygon;
  clipper.forEach((from, i) => {
    const to = clipper[(i + 1) % clipper.length];
    const side = (point: Vector3) => (to.x - from.x) * (point.z - from.z) - (to.z - from.z) * (point.x - from.x);
    const insideSign = Math.sign(side(center));
    remaining = remaining.flatMap((corner, k) => {
      const next = remaining[(k + 1) % remaining.length];
      const [height, nextHeight] = [insideSign * side(corner), insideSign * side(next)];
      const corners = height >= 0 ? [corner] : [];
      return height * nextHeight < 0
        ? [...corners, corner.clone().lerp(next, height / (height - nextHeight))]
        : corners;
    });
  });
  return remaining;
}
