// What is sent in a frame: only what has changed.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_OBJECT } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { HeldWorker } from '../fixtures/held-worker.js';

const BOX = { type: 'box', halfExtents: [0.5, 0.5, 0.5] } as const;
const SIZE = { width: 100, height: 100 };
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z);

/** Records the contents of the frames. */
class Witness extends HeldWorker {
  frames = 0;
  /** Of the last frame. */
  singles: number[] = [];
  blocks: number[][] = [];
  views = 0;
  /** Kinds of all commands. */
  readonly commands: string[] = [];

  override postMessage(
    message: { type?: string; input?: ArrayBuffer; list?: { type: string }[] },
    transfer: Transferable[] = [],
  ): void {
    if (message.type === 'frame') this.#read(message.input!);
    if (message.type === 'commands') this.commands.push(...message.list!.map(({ type }) => type));
    super.postMessage(message, transfer);
  }

  #read(input: ArrayBuffer): void {
    this.frames++;
    const u32 = new Uint32Array(input);
    const word = (offset: number) => u32[offset / 4];
    const list = (offset: number, length: number) => [...u32.subarray(offset / 4, offset / 4 + length)];
    this.views = word(layout.IN_VIEW_COUNT);
    this.singles = list(word(layout.IN_IDS), word(layout.IN_TRANSFORM_COUNT)).filter((id) => id !== NO_OBJECT);
    this.blocks = [];
    for (let block = word(layout.IN_BLOCKS), n = word(layout.IN_BLOCK_COUNT); n > 0; n--) {
      this.blocks.push(list(word(block + layout.BLOCK_IDS), word(block + layout.BLOCK_COUNT)));
      block = word(block + layout.BLOCK_NEXT);
    }
  }
}

let witness: Witness;
let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService({
    builders: 0,
    createWorker: () => {
      witness = new Witness();
      return witness;
    },
  });
});
afterEach(() => service.dispose());

test('objects that are alike travel in one command, however many calls add them', async () => {
  const sphere = { type: 'sphere', radius: 1 } as const;
  for (const shape of [BOX, { ...BOX, halfExtents: [...BOX.halfExtents] as const }, sphere, sphere, BOX, BOX]) {
    for (let i = 0; i < 5; i++) service.addObject({ shape, matrix: at(i).elements });
  }
  await service.update();
  expect(witness.commands).toEqual(['addObjects', 'addObjects', 'addObjects']);
  expect((await service.update()).frame).toBeGreaterThan(0);
  expect(service.stats.objects).toBe(30);
});

describe('setTransform', () => {
  test('of an object that is there already does not travel', async () => {
    const [a, b, c] = [0, 1, 2].map(() => service.addObject({ shape: BOX }));
    for (const id of [a, b, c]) service.setTransform(id, at(id).elements);
    await service.update();
    expect(witness.singles).toEqual([a, b, c]);
    service.setTransform(a, at(a).elements);
    service.setTransform(b, at(7).elements);
    service.setTransform(c, Float32Array.from(at(c).elements));
    await service.update();
    expect(witness.singles).toEqual([b]);
    service.setTransform(b, at(7).elements);
    await service.update();
    expect(witness.singles).toEqual([]);
  });

  test('travels again when anything else has moved the object in between', async () => {
    const id = service.addObject({ shape: BOX });
    const answer = async () => (await service.raycast({ origin: [2, 0, 9], direction: [0, 0, -1] }))?.object ?? null;
    const elsewhere = [
      () => service.setObject(id, { matrix: at(50).elements }),
      () => service.setTransforms(Uint32Array.of(id), Float32Array.from(at(50).elements)),
      () => service.setTransform(id, at(50).elements),
    ];
    for (const move of elsewhere) {
      service.setTransform(id, at(2).elements);
      await service.update();
      expect(await answer()).toBe(id);
      move();
      service.setTransform(id, at(2).elements); // in one frame
      await service.update();
      expect(await answer()).toBe(id);
      move();
      await service.update();
      expect(await answer()).toBeNull();
    }
  });

  test('that was refused is refused again, and what was before may come back', async () => {
    const id = service.addObject({ shape: BOX });
    service.setTransform(id, at(2).elements);
    await service.update();
    for (let i = 0; i < 2; i++) {
      service.setTransform(id, new Matrix4().makeScale(1, 0, 1).elements);
      expect([...(await service.update()).rejected]).toEqual([id]);
    }
    service.setTransform(id, at(2).elements);
    expect([...(await service.update()).rejected]).toEqual([]);
    expect(await service.raycast({ origin: [2, 0, 9], direction: [0, 0, -1] })).toMatchObject({ object: id });
  });

  test('of a new object under an old slot travels', async () => {
    const old = service.addObject({ shape: BOX });
    service.setTransform(old, at(3).elements);
    await service.update();
    service.removeObject(old);
    const id = service.addObject({ shape: BOX });
    service.setTransform(id, at(3).elements);
    await service.update();
    expect(witness.singles).toEqual([id]);
    expect(await service.raycast({ origin: [3, 0, 9], direction: [0, 0, -1] })).toMatchObject({ object: id });
  });
});

describe('a tracked scene', () => {
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  const scene = new Scene();
  const meshes = Array.from({ length: 100 }, () => new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const instanced = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 5);
  const still = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  scene.add(...meshes, instanced, still);
  let tracker: SceneTracker;
  beforeEach(async () => {
    meshes.forEach((mesh, i) => {
      mesh.position.set(3 * i, 0, 0);
    });
    for (let i = 0; i < 5; i++) instanced.setMatrixAt(i, at(-20, 5, i));
    camera.position.z = 10;
    still.position.set(0, 20, 0);
    tracker = await trackScene(service, scene, {
      updateMatrixWorld: true,
      shapeOf: () => BOX,
      objectOptions: (object) => ({ motion: object === still ? 'static' : 'moving', contacts: 'none' }),
    });
    await tracker.update(camera, SIZE);
  });
  afterEach(() => tracker.dispose());
  const idOf = (mesh: Mesh) => tracker.idsOf(mesh)[0];

  test('sends nothing while nothing changes', async () => {
    const { frames } = witness;
    for (let i = 0; i < 3; i++) await tracker.update(camera, SIZE);
    expect(witness).toMatchObject({ frames: frames + 3, singles: [], blocks: [], views: 0 });
  });

  test('sends what has moved, each once', async () => {
    for (const i of [3, 50, 99]) meshes[i].position.y = 1;
    await tracker.update(camera, SIZE);
    expect(witness).toMatchObject({ singles: [3, 50, 99].map((i) => idOf(meshes[i])), blocks: [], views: 0 });
    scene.position.x = 1; // of the whole scene; objects that promised to stand still are checked in turn
    await tracker.update(camera, SIZE);
    expect(witness.singles.filter((id) => id !== idOf(still))).toEqual(meshes.map(idOf));
    expect(witness.blocks).toEqual([[...tracker.idsOf(instanced)]]);
    scene.position.x = 0;
    camera.position.z = 11;
    await tracker.update(camera, SIZE);
    expect(witness.views).toBe(1);
    for (const mesh of meshes) mesh.position.y = 0;
  });

  test('sends instances by the version of their buffer', async () => {
    instanced.setMatrixAt(2, at(-20, 6, 0));
    await tracker.update(camera, SIZE);
    expect(witness.blocks).toEqual([]);
    instanced.instanceMatrix.needsUpdate = true;
    await tracker.update(camera, SIZE);
    expect(witness).toMatchObject({ singles: [], blocks: [[...tracker.idsOf(instanced)]] });
    await tracker.update(camera, SIZE);
    expect(witness.blocks).toEqual([]);
  });

  test('answers of where all of it is, whoever moves it', async () => {
    const down = (x: number, y: number) => service.raycast({ origin: [x, y, 9], direction: [0, 0, -1] });
    for (let frame = 1; frame < 20; frame++) {
      meshes.forEach((mesh, i) => {
        if (i % (1 + (frame % 3)) === 0) mesh.position.y = frame;
      });
      // A transform set by other means for an object of the scene lasts only until the scene is traversed.
      if (frame % 4 === 0) service.setTransform(idOf(meshes[frame]), at(0, -9, 0).elements);
      await tracker.update(camera, SIZE);
      for (const i of [0, 1, 2, frame, 33, 98, 99]) {
        const { x, y } = meshes[i].position;
        expect(await down(x, y)).toMatchObject({ object: idOf(meshes[i]) });
      }
    }
    for (const mesh of meshes) mesh.position.set(0, 0, 0);
  });

  test('is as it was when its worker is lost, with the frame that was on its way', async () => {
    const down = (x: number, y: number) => service.raycast({ origin: [x, y, 9], direction: [0, 0, -1] });
    for (let life = 1; life < 3; life++) {
      meshes.forEach((mesh, i) => {
        mesh.position.y = i % 2 === 0 ? 2 * life : 0;
      });
      service.setTransform(idOf(meshes[7]), at(21, -2, 0).elements); // and set by other means
      meshes[7].position.set(21, -2, 0);
      witness.hold();
      const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
      const lost = tracker.update(camera, SIZE).catch(({ code }) => code);
      meshes[8].position.y = 30 * life;
      const waiting = tracker.update(camera, SIZE).catch(({ code }) => code);
      await witness.worker.terminate();
      expect([await lost, await waiting]).toEqual(['WORKER_LOST', 'WORKER_LOST']);
      await restored;
      for (const i of [0, 1, 2, 7, 8, 33, 98, 99]) {
        const { x, y } = meshes[i].position;
        expect(await down(x, y), `mesh ${i}`).toMatchObject({ object: idOf(meshes[i]) });
      }
    }
  });
});
