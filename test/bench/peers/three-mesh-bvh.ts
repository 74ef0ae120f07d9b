import { BufferAttribute, BufferGeometry, DoubleSide, Ray, type Side } from 'three';
import { MeshBVH, SAH } from 'three-mesh-bvh';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { rayChecksum } from '../work/rays.js';

/** Nothing but positions and indices: normals and the like would cost a hit more. */
export function geometryOf({ positions, indices }: Triangles): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  geometry.setIndex(new BufferAttribute(indices.slice(), 1)); // which the tree reorders
  return geometry;
}

export const TREE_OPTIONS = { strategy: SAH };

export function treeOf(mesh: Triangles): MeshBVH {
  return new MeshBVH(geometryOf(mesh), TREE_OPTIONS);
}

export function raycastFirst(tree: MeshBVH, rays: Float32Array, side: Side = DoubleSide): Contender {
  const ray = new Ray();
  const distances = new Float64Array(rays.length / 8);
  const triangles = new Int32Array(rays.length / 8);
  return {
    name: 'three-mesh-bvh raycastFirst',
    run() {
      for (let i = 0; i < distances.length; i++) {
        ray.origin.fromArray(rays, i * 8);
        ray.direction.fromArray(rays, i * 8 + 4);
        const hit = tree.raycastFirst(ray, side);
        distances[i] = hit ? hit.distance : Infinity;
        triangles[i] = hit ? (hit.faceIndex as number) : -1;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}
