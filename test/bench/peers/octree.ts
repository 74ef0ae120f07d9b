import { Ray } from 'three';
import { Octree } from 'three/addons/math/Octree.js';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { fewRays, meshObject } from './raycaster.js';

/** three's own Octree, on the first few rays. It hits front faces only. */
export function octree(mesh: Triangles, rays: Float32Array, few: number): Contender {
  const tree = new Octree().fromGraphNode(meshObject(mesh));
  const ray = new Ray();
  return fewRays("three's Octree", rays, few, ray, () => {
    const hit = tree.rayIntersect(ray);
    return hit ? hit.distance : Infinity;
  });
}
