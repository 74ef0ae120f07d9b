// Builds a three-mesh-bvh tree off the main thread (main-thread-engine.ts).
import { BufferAttribute, BufferGeometry } from 'three';
import { MeshBVH, SAH } from 'three-mesh-bvh';

addEventListener('message', ({ data: { positions, indices } }) => {
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setIndex(new BufferAttribute(indices, 1));
  postMessage(MeshBVH.serialize(new MeshBVH(geometry, { strategy: SAH }), { cloneBuffers: false }));
});
