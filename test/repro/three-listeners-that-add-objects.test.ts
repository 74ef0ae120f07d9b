// three has had an event for added children since r163, one for all. A listener that adds another object clears it, and later listeners get none.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, REVISION, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { frontCamera, settle, UNRENDERED } from '../fixtures/three-picks.js';

test.skipIf(Number.parseInt(REVISION, 10) < 163)(
  'an object is tracked with the next update though a listener adds or removes another one meanwhile',
  async () => {
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    const scene = new Scene();
    const meshes = Array.from({ length: 4 }, () => new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    const [first, second, third, fourth] = meshes;
    scene.addEventListener('childadded', ({ child }) => {
      if (child === first) scene.add(second);
      if (child === third) scene.remove(first);
    });
    scene.addEventListener('childremoved', ({ child }) => {
      if (child === third) scene.remove(second);
    });
    const tracker = await trackScene(service, scene, UNRENDERED);
    const tracked = async (): Promise<Mesh[]> => {
      await settle(tracker, frontCamera());
      return meshes.filter((mesh) => tracker.idsOf(mesh).length > 0);
    };
    scene.add(first);
    expect(await tracked()).toEqual([first, second]);
    scene.add(third, fourth);
    expect(await tracked()).toEqual([second, third, fourth]);
    scene.remove(third);
    expect(await tracked()).toEqual([fourth]);
  },
);
