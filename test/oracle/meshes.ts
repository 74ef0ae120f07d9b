import { orient2d } from 'robust-predicates';
import { Box3, BoxGeometry, type BufferGeometry, IcosahedronGeometry, Vector3 } from 'three';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';
import type { Random } from './random.js';

export interface Triangles {
  positions: Float32Array;
  indices: Uint32Array;
}

/** Cache of unit icospheres by detail: many tests use the same ones, and three makes them slowly. */
const icospheres = new Map<number, Triangles>();

/** Closed, 20 · (detail + 1)² triangles. */
export function icosphere(radius: number, detail: number): Triangles {
  const unit = icospheres.get(detail) ?? welded(new IcosahedronGeometry(1, detail));
  icospheres.set(detail, unit);
  const { positions, indices } = transformed(unit, (vertex) => vertex.multiplyScalar(radius));
  return { positions, indices: indices.slice() };
}

/** Closed, 12 triangles. */
export function boxMesh(width: number, height: number, depth: number): Triangles {
  const size = new Vector3(width, height, depth);
  return transformed(welded(new BoxGeometry(1, 1, 1)), (vertex) => vertex.multiply(size));
}

/** Neighbouring triangles share their vertices. */
export function welded(geometry: BufferGeometry): Triangles {
  return trianglesOf(mergeVertices(geometry.deleteAttribute('normal').deleteAttribute('uv')));
}

/** Triangles of an indexed geometry. */
export function trianglesOf(geometry: BufferGeometry): Triangles {
  return {
    positions: new Float32Array(geometry.getAttribute('position').array),
    indices: new Uint32Array(geometry.getIndex()!.array),
  };
}

/** Waves over the square [-1, 1]² in x and y: 2 · cells² triangles. */
export function waves(cells: number): Triangles {
  const side = cells + 1;
  const positions = new Float32Array(side * side * 3);
  const indices = new Uint32Array(cells * cells * 6);
  for (let i = 0; i < side * side; i++) {
    const x = (2 * (i % side)) / cells - 1;
    const y = (2 * Math.floor(i / side)) / cells - 1;
    positions.set([x, y, 0.1 * Math.sin(5 * x) * Math.cos(7 * y)], 3 * i);
  }
  for (let cell = 0; cell < cells * cells; cell++) {
    const a = Math.floor(cell / cells) * side + (cell % cells);
    indices.set([a, a + 1, a + side, a + 1, a + side + 1, a + side], 6 * cell);
  }
  return { positions, indices };
}

/** Pairs of long triangles that share an edge, while the tree has all of one side before all of the other. */
export function farPairs(count: number): Triangles {
  const positions = Float32Array.from({ length: 12 * count }, (_, i) => {
    const y = 1e-4 * Math.floor(i / 12);
    return [0, y, 0, 0, y, 0.5, -9, y, 0, 9, y, 0][i % 12];
  });
  const length = 6 * count;
  return {
    positions,
    indices: Uint32Array.from({ length }, (_, i) => 4 * Math.floor(i / 6) + [0, 1, 2, 1, 0, 3][i % 6]),
  };
}

/** Random triangles of about this size in a cube. */
export function soup(random: Random, count: number, size: number, halfSize: number): Triangles {
  const positions = new Float32Array(count * 9);
  for (let i = 0; i < count; i++) {
    const center = random.point(halfSize);
    for (let corner = 0; corner < 3; corner++)
      random
        .point(size)
        .add(center)
        .toArray(positions, i * 9 + corner * 3);
  }
  return { positions, indices: Uint32Array.from({ length: count * 3 }, (_, i) => i) };
}

/** Boxes of 12 triangles each, a hundred times longer than thick, at random angles in a cube. */
export function rods(random: Random, count: number, halfSize: number): Triangles {
  const parts: Triangles[] = [];
  for (let i = 0; i < count; i++) {
    const rod = boxMesh(halfSize / 2, halfSize / 200, halfSize / 200);
    const matrix = random.placement(random.point(halfSize));
    parts.push(transformed(rod, (vertex) => vertex.applyMatrix4(matrix)));
  }
  return merged(parts);
}

export function transformed(mesh: Triangles, change: (vertex: Vector3) => Vector3): Triangles {
  const positions = mesh.positions.slice();
  const vertex = new Vector3();
  for (let i = 0; i < positions.length; i += 3) change(vertex.fromArray(positions, i)).toArray(positions, i);
  return { positions, indices: mesh.indices };
}

export function merged(parts: readonly Triangles[]): Triangles {
  const positions = new Float32Array(parts.reduce((sum, part) => sum + part.positions.length, 0));
  const indices = new Uint32Array(parts.reduce((sum, part) => sum + part.indices.length, 0));
  let vertex = 0;
  let index = 0;
  for (const part of parts) {
    positions.set(part.positions, vertex * 3);
    for (const i of part.indices) indices[index++] = i + vertex;
    vertex += part.positions.length / 3;
  }
  return { positions, indices };
}

export function boundsOf(positions: Float32Array): Box3 {
  return new Box3().setFromArray(positions);
}

/** Replaces exactly collinear triangles with the corners of another one: they have nothing to hit, and the numbering stays. */
export function replaceFlatTriangles({ positions, indices }: Triangles): Triangles {
  const isFlat = (triangle: number) => {
    const [a, b, c] = [0, 1, 2].map((corner) => 3 * indices[3 * triangle + corner]);
    return [0, 1, 2].every((u) => {
      const v = (u + 1) % 3;
      const [ax, ay, bx, by] = [positions[a + u], positions[a + v], positions[b + u], positions[b + v]];
      return orient2d(ax, ay, bx, by, positions[c + u], positions[c + v]) === 0;
    });
  };
  const triangleIds = Array.from({ length: indices.length / 3 }, (_, i) => i);
  const nonFlat = triangleIds.find((triangle) => !isFlat(triangle))!;
  const corners = triangleIds.flatMap((triangle) => {
    const source = isFlat(triangle) ? nonFlat : triangle;
    return [...indices.subarray(3 * source, 3 * source + 3)];
  });
  return { positions, indices: new Uint32Array(corners) };
}
