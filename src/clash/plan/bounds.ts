// Boxes of the world's axes: six numbers each, low xyz, then high xyz.

export type Box = Float64Array;

export function emptyBox(): Box {
  return Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
}

export function addPoint(box: Box, x: number, y: number, z: number): void {
  if (x < box[0]) box[0] = x;
  if (y < box[1]) box[1] = y;
  if (z < box[2]) box[2] = z;
  if (x > box[3]) box[3] = x;
  if (y > box[4]) box[4] = y;
  if (z > box[5]) box[5] = z;
}

/**
 * Answers the box about points, xyz each, under a matrix; those that are not finite do not count. A matrix that leads axes
 * to axes leads the box to the box, so that `box`, the one about the points as they are, will do.
 */
export function placedBox(points: () => ArrayLike<number>, box: Box, matrix: ArrayLike<number>): Box {
  const placed = emptyBox();
  if (leadsAxesToAxes(matrix)) {
    for (let corner = 0; corner < 8; corner++) {
      addPlaced(placed, box[corner & 1 ? 3 : 0], box[corner & 2 ? 4 : 1], box[corner & 4 ? 5 : 2], matrix);
    }
    return placed;
  }
  const all = points();
  for (let i = 0; i + 2 < all.length; i += 3) {
    if (Number.isFinite(all[i] + all[i + 1] + all[i + 2])) addPlaced(placed, all[i], all[i + 1], all[i + 2], matrix);
  }
  return placed;
}

function leadsAxesToAxes(matrix: ArrayLike<number>): boolean {
  return [0, 4, 8].every((column) => [0, 1, 2].filter((row) => matrix[column + row] !== 0).length <= 1);
}

function addPlaced(box: Box, x: number, y: number, z: number, matrix: ArrayLike<number>): void {
  addPoint(
    box,
    matrix[0] * x + matrix[4] * y + matrix[8] * z + matrix[12],
    matrix[1] * x + matrix[5] * y + matrix[9] * z + matrix[13],
    matrix[2] * x + matrix[6] * y + matrix[10] * z + matrix[14],
  );
}

/** Answers the box about points, xyz each; those that are not finite do not count. */
export function boxOfPoints(points: ArrayLike<number>): Box {
  const box = emptyBox();
  for (let i = 0; i + 2 < points.length; i += 3) {
    if (Number.isFinite(points[i] + points[i + 1] + points[i + 2]))
      addPoint(box, points[i], points[i + 1], points[i + 2]);
  }
  return box;
}

/** Answers the square of the gap between two boxes; 0 where they meet. */
export function squaredGap(a: Box, b: Box): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const gap = Math.max(a[axis] - b[axis + 3], b[axis] - a[axis + 3], 0);
    sum += gap * gap;
  }
  return sum;
}
