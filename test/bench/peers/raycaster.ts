import { DoubleSide, type Intersection, Mesh, MeshBasicMaterial, type Object3D, type Ray, Raycaster } from 'three';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { rayChecksum } from '../work/rays.js';
import { geometryOf } from './three-mesh-bvh.js';

/** three's own Raycaster, on the first few rays. */
export function raycaster(objects: Object3D[], rays: Float32Array, limit: number): Contender {
  const caster = new Raycaster();
  const hits: Intersection[] = [];
  return castFewRays("three's Raycaster", rays, limit, caster.ray, () => {
    hits.length = 0;
    caster.intersectObjects(objects, false, hits);
    return hits.length > 0 ? hits[0].distance : Infinity;
  });
}

/** For peers that are too slow for all rays. `cast` returns the distance along `ray`, which is set before. */
export function castFewRays(name: string, rays: Float32Array, limit: number, ray: Ray, cast: () => number): Contender {
  const distances = new Float64Array(rays.length / 8);
  const count = Math.min(limit, distances.length);
  return {
    name,
    note: `${count} of the rays, extrapolated`,
    part: count / distances.length,
    run() {
      for (let i = 0; i < count; i++) {
        ray.origin.fromArray(rays, i * 8);
        ray.direction.fromArray(rays, i * 8 + 4);
        distances[i] = cast();
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

export function meshObject(mesh: Triangles): Mesh {
  return new Mesh(geometryOf(mesh), new MeshBasicMaterial({ side: DoubleSide }));
}
