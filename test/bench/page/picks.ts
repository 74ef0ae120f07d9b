import { type Remote, wrap } from 'comlink';
import { type Mesh, Raycaster, Vector2 } from 'three';
import { framesOf } from './length.js';
import { MovingScene } from './moving.js';
import type { PageRow } from './page-row.js';
import { SIZE, StreamedScene } from './streamed.js';

const CALLS_A_ROUND = 50;
const FRAMES_A_ROUND = framesOf(60);

/** A comlink worker that does nothing, on the same page. */
class EmptyWorker {
  readonly #worker = new Worker(new URL('./nothing-worker.ts', import.meta.url), { type: 'module' });
  readonly #api: Remote<{ nothing(): null }> = wrap(this.#worker);

  call(): Promise<null> {
    return this.#api.nothing();
  }

  close(): void {
    this.#worker.terminate();
  }
}

/** A sequence of picks among objects at rest. */
export async function idlePickRow(count: number): Promise<PageRow> {
  const { root, meshes } = new MovingScene(count);
  const streamed = await StreamedScene.of(root);
  await streamed.update();
  const { service, tracker, camera } = streamed;
  // The pixel of the first object; another may be in front of it.
  const projected = meshes[0].position.clone().project(camera);
  const [x, y] = [(0.5 + 0.5 * projected.x) * SIZE.width, (0.5 - 0.5 * projected.y) * SIZE.height];
  const emptyWorker = new EmptyWorker();
  const latencies = async (call: () => Promise<unknown>): Promise<number> => {
    const samples: number[] = [];
    for (let i = 0; i < CALLS_A_ROUND; i++) samples.push(await latencyOf(call));
    return quantile(samples, 0.5);
  };
  return {
    contenders: {
      ours: (round) => latencies(() => service.pick(x + (round % 50), y)),
      'an empty comlink call': () => latencies(() => emptyWorker.call()),
    },
    checksums: {
      async ours() {
        const hit = await service.pick(x, y);
        return { object: hit === null ? -1 : meshes.indexOf(tracker.objectOf(hit.object).object as Mesh) };
      },
      // What three's Raycaster hits.
      async 'an empty comlink call'() {
        const raycaster = new Raycaster();
        raycaster.setFromCamera(new Vector2(projected.x, projected.y), camera);
        const [nearest] = raycaster.intersectObjects(meshes);
        return { object: nearest ? meshes.indexOf(nearest.object as Mesh) : -1 };
      },
    },
    close() {
      streamed.close();
      emptyWorker.close();
    },
  };
}

/** A pick after every frame, at 60 frames per second. */
export async function loadedPickRow(count: number): Promise<PageRow> {
  const { root, move } = new MovingScene(count);
  const streamed = await StreamedScene.of(root);
  const emptyWorker = new EmptyWorker();
  const allLatencies: number[] = [];
  const intervals: number[] = [];
  const runFrames = async (round: number, call: () => Promise<unknown>): Promise<number[]> => {
    const pending: Promise<number>[] = [];
    let previous = 0;
    for (let i = 0; i < FRAMES_A_ROUND; i++) {
      const now = await new Promise(requestAnimationFrame);
      if (previous > 0) intervals.push(now - previous);
      previous = now;
      move(round * FRAMES_A_ROUND + i);
      streamed.update();
      pending.push(latencyOf(call));
    }
    return Promise.all(pending);
  };
  return {
    contenders: {
      async ours(round) {
        const latencies = await runFrames(round, () => streamed.service.pick(800, 450));
        if (round > 0) allLatencies.push(...latencies);
        return quantile(latencies, 0.5);
      },
      'an empty comlink call': async (round) => quantile(await runFrames(round, () => emptyWorker.call()), 0.5),
    },
    facts: () => [
      { name: 'p99 of picks', value: quantile(allLatencies, 0.99), unit: 'ms' },
      { name: 'from frame to frame', value: quantile(intervals, 0.5), unit: 'ms' },
    ],
    close() {
      streamed.close();
      emptyWorker.close();
    },
  };
}

/** Milliseconds from the call to its answer. */
export async function latencyOf(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

export function quantile(values: readonly number[], fraction: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(fraction * values.length))];
}
