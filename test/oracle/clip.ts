import { Vector3 } from 'three';

/** Intersection of two convex polygons in the plane y = 0 (Sutherland and Hodgman 1974), each with its vertices in order. */
export function clipped(polygon: Vector3[], by: Vector3[]): Vector3[] {
  const middle = by.reduce((sum, corner) => sum.add(corner), new Vector3()).divideScalar(by.length);
  let left = polygon;
  by.forEach((from, i) => {
    const to = by[(i + 1) % by.length];
    const side = (point: Vector3) => (to.x - from.x) * (point.z - from.z) - (to.z - from.z) * (point.x - from.x);
    const inner = Math.sign(side(middle));
    left = left.flatMap((corner, k) => {
      const next = left[(k + 1) % left.length];
      const [here, there] = [inner * side(corner), inner * side(next)];
      const kept = here >= 0 ? [corner] : [];
      return here * there < 0 ? [...kept, corner.clone().lerp(next, here / (here - there))] : kept;
    });
  });
  return left;
}
