// Which parts of a model are in a region of the screen: every triangle, clipped by the region's planes in clip space.
import { Matrix4, type Mesh, type PerspectiveCamera, Vector4 } from 'three';

/** In normalised device coordinates, low to high. */
export interface ScreenBox {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** A rectangle of pixels on a canvas of that size. */
export function screenBox(
  x: number,
  y: number,
  width: number,
  height: number,
  size: { width: number; height: number },
): ScreenBox {
  const [left, right] = [x, x + width].map((each) => (each / size.width) * 2 - 1).sort((a, b) => a - b);
  const [bottom, top] = [y, y + height].map((each) => 1 - (each / size.height) * 2).sort((a, b) => a - b);
  return { left, right, bottom, top };
}

export function touches(part: Mesh, camera: PerspectiveCamera, box: ScreenBox): boolean {
  const planes = planesOf(box);
  return triangles(part, camera).some((triangle) => clip(triangle, planes).length > 0);
}

export function isEnclosed(part: Mesh, camera: PerspectiveCamera, box: ScreenBox): boolean {
  const planes = planesOf(box);
  return triangles(part, camera).every((triangle) =>
    triangle.every((corner) => planes.every((plane) => plane.dot(corner) >= 0)),
  );
}

/** Points inside are on the positive side of each. */
function planesOf({ left, right, bottom, top }: ScreenBox): Vector4[] {
  return [
    new Vector4(1, 0, 0, -left),
    new Vector4(-1, 0, 0, right),
    new Vector4(0, 1, 0, -bottom),
    new Vector4(0, -1, 0, top),
    new Vector4(0, 0, 1, 1),
    new Vector4(0, 0, -1, 1),
  ];
}

const CLIPPED = new WeakMap<PerspectiveCamera, Map<Mesh, Vector4[][]>>();

/** In clip space. */
function triangles(part: Mesh, camera: PerspectiveCamera): Vector4[][] {
  const known = CLIPPED.get(camera) ?? new Map<Mesh, Vector4[][]>();
  CLIPPED.set(camera, known);
  const found = known.get(part) ?? project(part, camera);
  known.set(part, found);
  return found;
}

function project({ geometry, matrixWorld }: Mesh, camera: PerspectiveCamera): Vector4[][] {
  const { position } = geometry.attributes;
  const toClip = new Matrix4()
    .multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)
    .multiply(matrixWorld);
  const corners = Array.from({ length: position.count }, (_, i) => {
    return new Vector4(position.getX(i), position.getY(i), position.getZ(i), 1).applyMatrix4(toClip);
  });
  const index = geometry.index!.array;
  return Array.from({ length: index.length / 3 }, (_, i) => [0, 1, 2].map((k) => corners[index[3 * i + k]]));
}

/** Ivan Sutherland and Gary Hodgman, Reentrant Polygon Clipping, 1974. */
function clip(polygon: Vector4[], planes: readonly Vector4[]): Vector4[] {
  let left = polygon;
  for (const plane of planes) {
    const next: Vector4[] = [];
    left.forEach((to, i) => {
      const from = left.at(i - 1)!;
      const a = plane.dot(from);
      const b = plane.dot(to);
      if (a >= 0 !== b >= 0) next.push(from.clone().lerp(to, a / (a - b)));
      if (b >= 0) next.push(to);
    });
    left = next;
  }
  return left;
}
