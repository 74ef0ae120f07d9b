// Surfaces to place objects on, and contacts grouped by region.
import { PlaneGeometry, Vector3 } from 'three';
import { merged, type Triangles, transformed, trianglesOf } from './meshes.js';

export interface Region {
  normal: Vector3;
  depth: number;
  points: Vector3[];
}

/** Groups consecutive points with the same normal and depth; positions are relative to `origin`. */
export function regionsOf(
  report: { points: Float32Array; normals: Float32Array; depths: Float32Array },
  origin: Vector3,
): Region[] {
  const regions: Region[] = [];
  for (let i = 0; i < report.depths.length; i++) {
    const normal = new Vector3().fromArray(report.normals, 3 * i);
    const depth = report.depths[i];
    const point = new Vector3().fromArray(report.points, 3 * i).sub(origin);
    const lastRegion = regions.at(-1);
    if (lastRegion && lastRegion.points.length < 4 && lastRegion.depth === depth && lastRegion.normal.equals(normal))
      lastRegion.points.push(point);
    else regions.push({ normal, depth, points: [point] });
  }
  return regions;
}

/** Three sides of a cube that meet at the origin, facing inwards. */
export function roomCorner(size: number, cells: number): Triangles {
  const side = transformed(trianglesOf(new PlaneGeometry(size, size, cells, cells)), (vertex) =>
    vertex.add(new Vector3(size / 2, size / 2, 0)),
  );
  return merged([
    side,
    transformed(side, ({ x, y, z }) => new Vector3(z, x, y)),
    transformed(side, ({ x, y, z }) => new Vector3(y, z, x)),
  ]);
}

/** A closed slab of ground with its top at z = 0, as deep as it is wide, and non-convex because of a dent at the bottom. */
export function slab(size: number, cells: number): Triangles {
  const half = size / 2;
  const top = trianglesOf(new PlaneGeometry(size, size, cells, cells));
  const bottom = transformed(
    top,
    ({ x, y }) => new Vector3(y, x, Math.abs(x) + Math.abs(y) < half / 2 ? -size + 1 : -size),
  );
  const side = transformed(top, ({ x, y }) => new Vector3(half, x, y - half));
  const sides = [0, 1, 2, 3].map((i) =>
    transformed(
      side,
      ({ x, y, z }) => [new Vector3(x, y, z), new Vector3(-y, x, z), new Vector3(-x, -y, z), new Vector3(y, -x, z)][i],
    ),
  );
  return merged([top, bottom, ...sides]);
}
