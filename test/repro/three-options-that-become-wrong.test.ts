// An object whose options became wrong, as `changed` found out, was listed as untracked and yet hit, with its former options; if
// its shape was wrong, the next `update` rejected, and the mesh was never removed.
import { createCollisionService } from 'collision-worker';
import { type TrackOptions, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  type Object3D,
  Points,
  REVISION,
  Scene,
  Sprite,
} from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { frontCamera, pickCenter, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

const KINDS: Record<string, () => Object3D> = {
  Mesh: cube,
  InstancedMesh: () => {
    const mesh = new InstancedMesh(new BoxGeometry(), undefined, 1);
    mesh.setMatrixAt(0, new Matrix4());
    return mesh;
  },
  BatchedMesh: () => {
    const mesh = new BatchedMesh(1, 24, 36);
    mesh.addInstance(mesh.addGeometry(new BoxGeometry()));
    return mesh;
  },
  Points: () => new Points(new BoxGeometry(0.01, 0.01, 0.01)),
  Sprite: () => new Sprite(),
};

const FAULTS: Record<string, TrackOptions> = {
  clearance: { objectOptions: () => ({ clearance: -1 }) },
  shape: { shapeOf: () => ({ type: 'sphere', radius: -1 }) },
};

// BatchedMeshes have had instances since then.
if (Number.parseInt(REVISION, 10) < 166) delete KINDS.BatchedMesh;

const CASES = Object.keys(KINDS).flatMap((kind) => Object.keys(FAULTS).map((fault) => ({ kind, fault })));

test.each(CASES)('a $kind is absent while its $fault is wrong, and comes back', async ({ kind, fault }) => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const object = KINDS[kind]();
  let isWrong = false;
  const { objectOptions, shapeOf } = FAULTS[fault];
  const tracker = await trackScene(service, new Scene().add(object), {
    ...UNRENDERED,
    objectOptions: (each) => (isWrong && objectOptions?.(each)) || {},
    shapeOf: (each) => (isWrong && shapeOf?.(each)) || undefined,
  });
  for (const state of [false, true, false]) {
    isWrong = state;
    tracker.changed(object);
    await settle(tracker, frontCamera());
    expect([...tracker.untracked.keys()]).toEqual(isWrong ? [object] : []);
    expect(service.stats.objects).toBe(isWrong ? 0 : 1);
    expect((await pickCenter(tracker))?.object).toBe(isWrong ? undefined : object);
  }
});
