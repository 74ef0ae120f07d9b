// A ray that was cast before the next update found new instances at the origin: all those of a BatchedMesh, and the valid ones
// beside an instance of scale zero.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Ray,
  REVISION,
  Scene,
  Vector3,
} from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

const PLACES = [10, 20, 30].map((x) => new Matrix4().makeTranslation(x, 0, 0));
const NOWHERE = new Matrix4().makeScale(0, 0, 0);

function batchedMesh(places: readonly Matrix4[]): BatchedMesh {
  const geometry = new BoxGeometry();
  const mesh = new BatchedMesh(places.length, 24, 36, new MeshBasicMaterial());
  const geometryId = mesh.addGeometry(geometry);
  for (const place of places) mesh.setMatrixAt(mesh.addInstance(geometryId), place);
  return mesh;
}

function instancedMesh(places: readonly Matrix4[]): InstancedMesh {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), places.length);
  for (const [i, place] of places.entries()) mesh.setMatrixAt(i, place);
  return mesh;
}

const CASES: [string, () => BatchedMesh | InstancedMesh, number][] = [
  ['a BatchedMesh', () => batchedMesh(PLACES), 0],
  ['a BatchedMesh with an instance of scale zero', () => batchedMesh([...PLACES, NOWHERE]), 1],
  ['an InstancedMesh with an instance of scale zero', () => instancedMesh([...PLACES, NOWHERE]), 1],
];
/** BatchedMeshes have had instances since then. */
const cases = Number.parseInt(REVISION, 10) < 166 ? CASES.slice(2) : CASES;

test.each(cases)(
  'the instances of %s are in their places once the scene is tracked',
  async (_, create, rejectedCount) => {
    const mesh = create();
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    const tracker = await trackScene(service, new Scene().add(mesh));
    const hits = () =>
      Promise.all(
        [0, 10, 20, 30].map(async (x) => {
          const hit = await tracker.raycast(new Ray(new Vector3(x, 0, 50), new Vector3(0, 0, -1)));
          return hit?.instanceId ?? hit?.batchId;
        }),
      );
    expect(await hits()).toEqual([undefined, 0, 1, 2]);
    const frame = await tracker.update(frontCamera(), SIZE);
    expect(frame.result.rejected).toHaveLength(rejectedCount);
    expect(await hits()).toEqual([undefined, 0, 1, 2]);
  },
);
