import { DoubleSide, type Intersection, Mesh, MeshBasicMaterial, type Object3D, Raycaster } from 'three';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { rayChecksum } from '../work/rays.js';
import { geometryOf } from './three-mesh-bvh.js';

/** three's own, on the first few of the rays. */
export function raycaster(objects: Object3D[], rays: Float32Array, few: number): Contender {
  const caster = new Raycaster();
  const { origin, direction } = caster.ray;
  const found: Intersection[] = [];
  const distances = new Float64Array(rays.length / 8);
  const count = Math.min(few, distances.length);
  return {
    name: "three's Raycaster",
    note: `${count} of the rays, extrapolated`,
    part: count / distances.length,
    run() {
      for (let i = 0; i < count; i++) {
        origin.fromArray(rays, i * 8);
        direction.fromArray(rays, i * 8 + 4);
        found.length = 0;
        caster.intersectObjects(objects, false, found);
        distances[i] = found.length > 0 ? found[0].distance : Infinity;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

export function meshObject(mesh: Triangles): Mesh {
  return new Mesh(geometryOf(mesh), new MeshBasicMaterial({ side: DoubleSide }));
}
