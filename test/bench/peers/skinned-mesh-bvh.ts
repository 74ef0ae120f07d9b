import type { MeshData } from 'collision-worker';
import {
  Bone,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  type Intersection,
  Matrix4,
  MeshBasicMaterial,
  Raycaster,
  Skeleton,
  SkinnedMesh,
} from 'three';
import { SkinnedMeshBVH } from 'three-mesh-bvh';
import type { Contender } from '../harness.js';
import { raysAtFigures, sway } from '../work/crowd.js';
import { rayChecksum } from '../work/rays.js';

/** One tree per figure, refitted in every frame, since its bounds are invalid otherwise. */
export function skinnedMeshBvh(data: MeshData, transforms: Float32Array): Contender {
  const { boneCount, bones, weights } = data.skin!;
  const boneMatrices = new Float32Array(16 * boneCount);
  const figures = Array.from({ length: transforms.length / 16 }, (_, i) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(data.positions, 3));
    geometry.setAttribute('skinIndex', new BufferAttribute(bones as Uint16Array, 4));
    geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
    geometry.setIndex(new BufferAttribute(data.indices!.slice(), 1));
    const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial({ side: DoubleSide }));
    const boneObjects = Array.from({ length: boneCount }, () => new Bone());
    mesh.bind(
      new Skeleton(
        boneObjects,
        boneObjects.map(() => new Matrix4()),
      ),
      new Matrix4(),
    );
    mesh.matrixWorld.fromArray(transforms, 16 * i);
    mesh.bindMode = 'detached';
    const pose = (round: number) => {
      sway(boneMatrices, i, round);
      for (let b = 0; b < boneCount; b++) boneObjects[b].matrixWorld.fromArray(boneMatrices, 16 * b);
    };
    pose(0);
    return { mesh, pose, tree: new SkinnedMeshBVH(mesh) };
  });
  const distances = new Float64Array(3);
  const raycaster = new Raycaster();
  raycaster.firstHitOnly = true;
  let lastRound = 0;
  return {
    name: 'three-mesh-bvh SkinnedMeshBVH',
    note: 'refits on the main thread',
    run(round) {
      lastRound = round;
      for (const { pose, tree } of figures) {
        pose(round);
        tree.refit();
      }
      const rays = raysAtFigures(transforms, round);
      for (let k = 0; k < 3; k++) {
        let nearest = Number.POSITIVE_INFINITY;
        for (const { mesh, tree } of figures) {
          raycaster.ray.origin.fromArray(rays, 8 * k);
          raycaster.ray.direction.fromArray(rays, 8 * k + 4).normalize();
          const hits: Intersection[] = [];
          tree.raycastObject3D(mesh, raycaster, hits);
          for (const { distance } of hits) nearest = Math.min(nearest, distance);
        }
        distances[k] = nearest;
      }
    },
    checksum: (part) => ({ ...rayChecksum(distances, part), round: lastRound }),
    tolerance: { of: { distances: 1e-5 }, because: 'vertices are moved in float32' },
    target: 300,
  };
}
