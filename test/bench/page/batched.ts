import { PerspectiveCamera, Raycaster, Scene, Vector2 } from 'three';
import { ObjectBVH } from 'three-mesh-bvh';
import { Random } from '../../oracle/random.js';
import { median } from '../statistics.js';
import { createBatch } from './batch-of-forms.js';
import { framesOf } from './length.js';
import { matricesRow } from './matrices-row.js';
import type { PageRow } from './page-row.js';
import { SIZE, timed } from './streamed.js';

/** Half the side of the cube for each instance. */
const SPACING = 1.2;
const WARM_UP_FRAMES = 300;
/** Number of frames in which the facts are measured. */
const FRAMES = 40;
const TRACED_PICKS = 5;

/** The adapter's frame of a BatchedMesh, compared with one `set` of its matrices; and its picks. */
export async function batchedRow(count: number): Promise<PageRow> {
  const random = new Random(1);
  const { batch, array, texture, radius } = createBatch(random, count, SPACING);
  const changed = (): void => {
    texture.needsUpdate = true;
  };
  const root = new Scene().add(batch);
  root.updateMatrixWorld();
  const { row, streamed, move } = await matricesRow(
    { root, array, changed },
    { shapeOf: () => undefined },
    WARM_UP_FRAMES,
  );
  let bvh: ObjectBVH | undefined;
  const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  return {
    ...row,
    contenders: {
      ...row.contenders,
      async 'three-mesh-bvh ObjectBVH'(round) {
        bvh ??= new ObjectBVH(batch);
        move(round);
        return timed(() => bvh!.refit());
      },
    },
    async facts() {
      const [index, worker, picks, traced]: number[][] = [[], [], [], []];
      for (let frame = 0; frame < framesOf(FRAMES); frame++) {
        move(frame);
        const { result } = await streamed.update();
        index.push(result.ms.update);
        worker.push(result.ms.total);
      }
      camera.position.z = 2 * radius;
      camera.updateMatrixWorld();
      await streamed.tracker.update(camera, SIZE);
      const raycaster = new Raycaster();
      for (let i = 0; i < framesOf(FRAMES); i++) {
        const [x, y] = [SIZE.width / 2 + random.range(-200, 200), SIZE.height / 2 + random.range(-200, 200)];
        const start = performance.now();
        await streamed.tracker.pick(x, y);
        picks.push(performance.now() - start);
        if (i >= TRACED_PICKS) continue;
        raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 1 - (2 * y) / SIZE.height), camera);
        traced.push(timed(() => raycaster.intersectObject(batch)));
      }
      return [
        { name: "the frame's index in the worker", value: median(index), unit: 'ms' },
        { name: 'the frame in the worker', value: median(worker), unit: 'ms' },
        { name: 'awaiting a pick', value: median(picks), unit: 'ms' },
        { name: "a pick of three's Raycaster", value: median(traced), unit: 'ms' },
      ];
    },
  };
}
