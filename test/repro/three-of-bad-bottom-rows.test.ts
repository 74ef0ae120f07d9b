// One matrix with a bottom row of zeros, by which apps hide an object or an instance, made update() of the tracker reject:
// events that began in that frame were never reported, and as long as it stayed, no frame was answered.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, type Object3D, PlaneGeometry, Scene } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontCamera, SIZE, settle, WITH_CONTACTS } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

const ZERO = new Matrix4().multiplyScalar(0);
const BAD: Record<string, Matrix4> = {
  'zeros alone': ZERO,
  'zeros in the bottom row': new Matrix4().set(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0),
  'a projection': new Matrix4().makePerspective(-1, 1, 1, -1, 1, 10),
  'a number that is none': new Matrix4().set(1, 0, 0, Number.NaN, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1),
  'no inverse': new Matrix4().makeScale(1, 0, 1),
};

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

/** Sets an object's world matrix, in a way that three's own updates leave alone. */
type Place = (matrix: Matrix4) => void;
const PLACED: Record<string, () => { object: Object3D; shown: Mesh; place: Place }> = {
  'an instance': () => {
    const object = new InstancedMesh(cube().geometry, new MeshBasicMaterial(), 2);
    object.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
    const place: Place = (matrix) => {
      object.setMatrixAt(0, matrix);
      object.instanceMatrix.needsUpdate = true;
    };
    return { object, shown: object, place };
  },
  'all instances': () => {
    const object = new InstancedMesh(cube().geometry, new MeshBasicMaterial(), 1);
    object.setMatrixAt(0, new Matrix4());
    object.matrixAutoUpdate = false;
    return { object, shown: object, place: (matrix) => object.matrix.copy(matrix) };
  },
  'a Mesh': () => {
    const object = cube();
    object.matrixAutoUpdate = false;
    return { object, shown: object, place: (matrix) => object.matrix.copy(matrix) };
  },
  'what is below a group': () => {
    const shown = cube();
    const object = new Scene().add(shown);
    object.matrixAutoUpdate = false;
    return { object, shown, place: (matrix) => object.matrix.copy(matrix) };
  },
};

const CASES = Object.keys(PLACED).flatMap((kind) => Object.keys(BAD).map((bad) => [kind, bad] as const));

describe.each(CASES)('%s with %s', (kind, bad) => {
  const setUp = () => {
    const placed = PLACED[kind]();
    const floor = new Mesh(new PlaneGeometry(3, 3), new MeshBasicMaterial());
    const other = cube(1);
    other.position.x = 3;
    return { ...placed, floor, other, root: new Scene().add(placed.object, floor, other) };
  };
  const touching = async (tracker: SceneTracker, object: Object3D): Promise<[number, number]> => {
    const frame = await tracker.update(frontCamera(), SIZE);
    let ended = 0;
    frame.forEachEnded(() => ended++);
    return [frame.contactsBetween(object).length, ended];
  };

  test('is rejected and gone, in every frame, and comes back; all else goes on', async () => {
    const { shown, place, floor, other, root } = setUp();
    const tracker = await trackScene(service, root, WITH_CONTACTS);
    await settle(tracker, frontCamera());
    const [id] = tracker.idsOf(shown);
    expect(await touching(tracker, floor)).toEqual([1, 0]);

    place(BAD[bad]);
    other.position.x = 1;
    const frame = await tracker.update(frontCamera(), SIZE);
    expect([...frame.result.rejected]).toContain(id);
    expect(frame.contactsBetween(other, floor).map(({ index }) => frame.result.contacts.begun[index])).toEqual([1]);
    for (let i = 0; i < 3; i++) {
      place(BAD[bad]);
      other.position.x = 1 + i / 10;
      const { result } = await tracker.update(frontCamera(), SIZE);
      expect([...result.visible.ids]).not.toContain(id);
    }
    expect((await tracker.pick(400, 300))?.object).toBe(floor);
    expect(
      await service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] }, { ignore: [...tracker.idsOf(floor)] }),
    ).toBe(null);

    place(new Matrix4());
    await settle(tracker, frontCamera());
    expect(await tracker.pick(400, 300)).toMatchObject({ object: shown, distance: 9 });
    expect(tracker.untracked.size).toBe(0);
  });

  test('from the start is nowhere until it is somewhere', async () => {
    const { shown, place, floor, root } = setUp();
    place(BAD[bad]);
    const tracker = await trackScene(service, root, WITH_CONTACTS);
    await settle(tracker, frontCamera());
    expect(tracker.untracked.size).toBe(0);
    expect((await tracker.pick(400, 300))?.object).toBe(floor);
    place(new Matrix4());
    await settle(tracker, frontCamera());
    expect(await tracker.pick(400, 300)).toMatchObject({ object: shown, distance: 9 });
  });
});
