// In a tracker with a renderer nothing was ever occluded: all objects have the set of the renderer's clipping planes, even while
// it has none, and an object with a set occluded nothing.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Plane, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE, UNRENDERED } from '../fixtures/three-picks.js';

withService();

const HIDDEN = 20;

test.each([{}, { culling: { occlusion: true } }])(
  'what a wall hides is hidden unless the renderer cuts, with %o',
  async (options) => {
    const scene = new Scene();
    const material = new MeshBasicMaterial();
    scene.add(new Mesh(new BoxGeometry(16, 16, 0.5), material));
    for (let i = 0; i < HIDDEN; i++) {
      const box = new Mesh(new BoxGeometry(), material);
      box.position.set((i % 5) - 2, Math.floor(i / 5) - 2, -6);
      scene.add(box);
    }
    const camera = new PerspectiveCamera(50, SIZE.width / SIZE.height, 0.1, 200);
    camera.position.z = 24;
    camera.updateMatrixWorld();
    const renderer = { clippingPlanes: [] as Plane[], localClippingEnabled: true };
    const tracker = await trackScene(service, scene, { ...UNRENDERED, ...options, renderer });
    /** The occluded objects, once nothing has moved for a few frames. */
    const hidden = async () => {
      let count = 0;
      for (let frame = 0; frame < 5; frame++) {
        const { result } = await tracker.update(camera, SIZE, { occlusion: true });
        count = result.views.get('main')!.occluded.length;
      }
      return count;
    };
    expect(await hidden()).toBe(HIDDEN);
    // Only a part of the wall is left.
    renderer.clippingPlanes = [new Plane(new Vector3(1, 0, 0), 0)];
    expect(await hidden()).toBe(0);
    renderer.clippingPlanes = [];
    expect(await hidden()).toBe(HIDDEN);
    // A wall that is partly clipped by its own planes occludes nothing either.
    material.clippingPlanes = [new Plane(new Vector3(1, 0, 0), 0)];
    expect(await hidden()).toBe(0);
    tracker.dispose();
  },
);
