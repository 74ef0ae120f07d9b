import { Ray } from 'three';
import { Octree } from 'three/addons/math/Octree.js';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { castFewRays, meshObject } from './raycaster.js';

/** three's own Octree, on the first few rays. It hits front faces only. */
export function octree(mesh: Triangles, rays: Float32Array, limit: number): Contender {
  const tree = new Octree().fromGraphNode(meshObject(mesh));
  const ray = new Ray();
  return castFewRays("three's Octree", rays, limit, ray, () => {
    const hit = tree.rayIntersect(ray);
    return hit ? hit.distance : Infinity;
  });
}
