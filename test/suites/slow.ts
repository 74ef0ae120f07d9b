import type { CollisionService, ObjectId } from 'collision-worker';
import { Matrix4 } from 'three';
import { icosphere } from '../oracle/meshes.js';

/** A scene whose frames take long by themselves. */
export interface SlowScene {
  ids: Uint32Array;
  /** Moves everything to and fro: the next frame takes as long as the last. */
  move(step: number): void;
  remove(): void;
}

/** Adds overlapping balls of many triangles, until a frame in which they move takes the worker this long. */
export async function addSlowScene(service: CollisionService, ms: number): Promise<SlowScene> {
  const mesh = await service.addMesh(icosphere(1, 24));
  const matrix = new Matrix4();
  const ids: ObjectId[] = [];
  const move = (step: number) => {
    for (const [i, id] of ids.entries()) {
      const sway = 0.05 * Math.sin((step % 2) + i);
      service.setTransform(id, matrix.makeTranslation(0.11 * i + sway, 0.05 * i - sway, 500).elements);
    }
  };
  const { elements } = new Matrix4().makeTranslation(0, 0, 500);
  for (let step = 0, slowFrames = 0; slowFrames < 4; step++) {
    if (slowFrames === 0)
      ids.push(service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'full', matrix: elements }));
    move(step);
    const result = await service.update();
    slowFrames = result.ms.total >= ms ? slowFrames + 1 : 0;
  }
  return {
    ids: Uint32Array.from(ids),
    move,
    remove: () => {
      for (const id of ids) service.removeObject(id);
      service.removeMesh(mesh);
    },
  };
}
