import { type Box3, BufferAttribute, BufferGeometry } from 'three';

/** Signed distance to a solid, negative inside. */
export type Field = (x: number, y: number, z: number) => number;

/**
 * Triangulates the surface of a solid by naive surface nets (S. Gibson, "Constrained Elastic Surface Nets", 1998): one vertex in
 * each grid cell that the surface crosses, at the mean of its intersections with the cell's edges, and one quad around each grid
 * edge that it crosses. The box encloses the surface with a margin of one cell.
 */
export function surfaceNets(field: Field, { min, max }: Box3, cell: number): BufferGeometry {
  const [nx, ny, nz] = [max.x - min.x, max.y - min.y, max.z - min.z].map((length) => Math.ceil(length / cell) + 1);
  const strides = [1, nx, nx * ny];
  const values = new Float32Array(nx * ny * nz);
  for (let z = 0, i = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++, i++) values[i] = field(min.x + x * cell, min.y + y * cell, min.z + z * cell);

  const positions: number[] = [];
  const vertices = new Int32Array(values.length).fill(-1);
  const corners = Array.from({ length: 8 }, (_, i) => [i & 1, (i >> 1) & 1, i >> 2]);
  const offsets = corners.map(([x, y, z]) => x + strides[1] * y + strides[2] * z);
  for (let z = 0; z < nz - 1; z++) {
    for (let y = 0; y < ny - 1; y++) {
      for (let x = 0; x < nx - 1; x++) {
        const cellIndex = x + strides[1] * y + strides[2] * z;
        const sum = [0, 0, 0];
        let crossings = 0;
        for (let a = 0; a < 8; a++) {
          for (const bit of [1, 2, 4]) {
            if ((a & bit) !== 0) continue;
            const [from, to] = [values[cellIndex + offsets[a]], values[cellIndex + offsets[a | bit]]];
            if (from < 0 === to < 0) continue;
            const fraction = from / (from - to);
            crossings++;
            for (let k = 0; k < 3; k++) sum[k] += corners[a][k] + (bit === 1 << k ? fraction : 0);
          }
        }
        if (crossings === 0) continue;
        vertices[cellIndex] = positions.length / 3;
        positions.push(
          min.x + cell * (x + sum[0] / crossings),
          min.y + cell * (y + sum[1] / crossings),
          min.z + cell * (z + sum[2] / crossings),
        );
      }
    }
  }

  const indices: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (vertices[i] < 0) continue;
    for (let axis = 0; axis < 3; axis++) {
      const isInside = values[i] < 0;
      if (isInside === values[i + strides[axis]] < 0) continue;
      const [u, v] = [strides[(axis + 1) % 3], strides[(axis + 2) % 3]];
      const [a, b, c, d] = [vertices[i - u - v], vertices[i - v], vertices[i], vertices[i - u]];
      if (isInside) indices.push(a, b, c, a, c, d);
      else indices.push(a, c, b, a, d, c);
    }
  }
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(new Float32Array(positions), 3))
    .setIndex(indices);
  geometry.computeVertexNormals();
  return geometry;
}
