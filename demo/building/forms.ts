// Closed meshes of the building's parts, about the origin, y up, in metres.

export interface Form {
  positions: Float32Array;
  indices: Uint32Array;
  isConvex: boolean;
}

type Point = readonly [x: number, y: number];

/** A prism over a polygon, counter-clockwise in x and y, with holes, clockwise; from z = -depth / 2 to depth / 2. */
function prism(
  outline: readonly Point[],
  triangles: readonly number[],
  depth: number,
  isConvex: boolean,
  rings: number[],
): Form {
  const count = outline.length;
  const positions = new Float32Array(6 * count);
  outline.forEach(([x, y], i) => {
    positions.set([x, y, -depth / 2], 3 * i);
    positions.set([x, y, depth / 2], 3 * (count + i));
  });
  const indices: number[] = [];
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = triangles.slice(i, i + 3);
    indices.push(a, c, b, count + a, count + b, count + c);
  }
  let first = 0;
  for (const size of rings) {
    for (let i = 0; i < size; i++) {
      const [a, b] = [first + i, first + ((i + 1) % size)];
      indices.push(a, b, count + b, a, count + b, count + a);
    }
    first += size;
  }
  return { positions, indices: Uint32Array.from(indices), isConvex };
}

function rectangle(width: number, height: number, x = 0, y = 0): Point[] {
  const [u, v] = [width / 2, height / 2];
  return [
    [x - u, y - v],
    [x + u, y - v],
    [x + u, y + v],
    [x - u, y + v],
  ];
}

export function box(width: number, height: number, depth: number): Form {
  return prism(rectangle(width, height), [0, 1, 2, 0, 2, 3], depth, true, [4]);
}

/** A full cylinder along z. */
export function cylinder(radius: number, length: number, segments: number): Form {
  const outline = circle(radius, segments);
  const triangles = Array.from({ length: segments - 2 }, (_, i) => [0, i + 1, i + 2]).flat();
  return prism(outline, triangles, length, true, [segments]);
}

function circle(radius: number, segments: number): Point[] {
  return Array.from({ length: segments }, (_, i) => {
    const angle = (2 * Math.PI * (i + 0.5)) / segments;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

/** A wall with a door in it that reaches down to the floor. */
export function doorWall(width: number, height: number, depth: number, door: number, doorHeight: number): Form {
  const [u, v, d, top] = [width / 2, height / 2, door / 2, doorHeight - height / 2];
  const outline: Point[] = [
    [-u, -v],
    [-d, -v],
    [-d, top],
    [d, top],
    [d, -v],
    [u, -v],
    [u, v],
    [d, v],
    [-d, v],
    [-u, v],
  ];
  return prism(outline, [0, 1, 2, 0, 2, 9, 9, 2, 8, 2, 3, 8, 3, 7, 8, 3, 4, 5, 3, 5, 6, 3, 6, 7], depth, false, [10]);
}

/** A rectangular duct along z, of sheets of this thickness. */
export function duct(width: number, height: number, length: number, sheet: number): Form {
  const outside = rectangle(width, height);
  const inside = rectangle(width - 2 * sheet, height - 2 * sheet).reverse();
  // The inner ring is clockwise: 4 is above 3's corner, 5 above 2's, 6 above 1's, 7 above 0's.
  const sides = [
    [0, 1, 6, 7],
    [1, 2, 5, 6],
    [2, 3, 4, 5],
    [3, 0, 7, 4],
  ];
  const triangles = sides.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);
  return prism([...outside, ...inside], triangles, length, false, [4, 4]);
}

/** A channel along z, open at its top, for cables. */
export function tray(width: number, height: number, length: number, sheet: number): Form {
  const [u, v, s] = [width / 2, height / 2, sheet];
  const outline: Point[] = [
    [-u, -v],
    [u, -v],
    [u, v],
    [u - s, v],
    [u - s, -v + s],
    [-u + s, -v + s],
    [-u + s, v],
    [-u, v],
  ];
  return prism(outline, [0, 1, 4, 0, 4, 5, 1, 2, 3, 1, 3, 4, 0, 5, 6, 0, 6, 7], length, false, [8]);
}

/** A quarter of a ring, from along x to along y, solid. */
export function elbow(bend: number, radius: number, segments: number, steps: number): Form {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let step = 0; step <= steps; step++) {
    const turn = (Math.PI / 2) * (step / steps);
    for (const [r, z] of circle(radius, segments)) {
      positions.push((bend + r) * Math.cos(turn), (bend + r) * Math.sin(turn), z);
    }
  }
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < segments; i++) {
      const [a, b] = [step * segments + i, step * segments + ((i + 1) % segments)];
      indices.push(a, b, b + segments, a, b + segments, a + segments);
    }
  }
  for (let i = 1; i + 1 < segments; i++) {
    const end = steps * segments;
    indices.push(0, i + 1, i, end, end + i, end + i + 1);
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices), isConvex: false };
}
