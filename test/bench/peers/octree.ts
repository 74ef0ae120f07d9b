import { Ray } from 'three';
import { Octree } from 'three/addons/math/Octree.js';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { rayChecksum } from '../work/rays.js';
import { meshObject } from './raycaster.js';

/** three's own, on the first few of the rays. It sees front faces only. */
export function octree(mesh: Triangles, rays: Float32Array, few: number): Contender {
  const tree = new Octree().fromGraphNode(meshObject(mesh));
  const ray = new Ray();
  const distances = new Float64Array(rays.length / 8);
  const count = Math.min(few, distances.length);
  return {
    name: "three's Octree",
    note: `${count} of the rays, extrapolated`,
    part: count / distances.length,
    run() {
      for (let i = 0; i < count; i++) {
        ray.origin.fromArray(rays, i * 8);
        ray.direction.fromArray(rays, i * 8 + 4);
        const hit = tree.rayIntersect(ray);
        distances[i] = hit ? hit.distance : Infinity;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}
