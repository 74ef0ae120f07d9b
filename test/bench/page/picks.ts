import { type Remote, wrap } from 'comlink';
import { type Mesh, Raycaster, Vector2 } from 'three';
import { framesOf } from './length.js';
import { MovingScene } from './moving.js';
import type { PageRow } from './page-row.js';
import { SIZE, Streamed } from './streamed.js';

const CALLS_A_ROUND = 50;
const FRAMES_A_ROUND = framesOf(60);

/** A comlink worker that does nothing, on the same page. */
class Nothing {
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
  const streamed = await Streamed.of(root);
  await streamed.update();
  const { service, tracker, camera } = streamed;
  // The pixel of the first object; another may be in front of it.
  const drawn = meshes[0].position.clone().project(camera);
  const [x, y] = [(0.5 + 0.5 * drawn.x) * SIZE.width, (0.5 - 0.5 * drawn.y) * SIZE.height];
  const nothing = new Nothing();
  const latencies = async (call: () => Promise<unknown>): Promise<number> => {
    const samples: number[] = [];
    for (let i = 0; i < CALLS_A_ROUND; i++) samples.push(await latencyOf(call));
    return quantile(samples, 0.5);
  };
  return {
    contenders: {
      ours: (round) => latencies(() => service.pick(x + (round % 50), y)),
      'an empty comlink call': () => latencies(() => nothing.call()),
    },
    checksums: {
      async ours() {
        const hit = await service.pick(x, y);
        return { object: hit === null ? -1 : meshes.indexOf(tracker.objectOf(hit.object).object as Mesh) };
      },
      // What three's Raycaster hits.
      async 'an empty comlink call'() {
        const raycaster = new Raycaster();
        raycaster.setFromCamera(new Vector2(drawn.x, drawn.y), camera);
        const [nearest] = raycaster.intersectObjects(meshes);
        return { object: nearest ? meshes.indexOf(nearest.object as Mesh) : -1 };
      },
    },
    close() {
      streamed.close();
      nothing.close();
    },
  };
}

/** A pick after every frame, at 60 frames per second. */
export async function loadedPickRow(count: number): Promise<PageRow> {
  const { root, move } = new MovingScene(count);
  const streamed = await Streamed.of(root);
  const nothing = new Nothing();
  const all: number[] = [];
  const intervals: number[] = [];
  const frames = async (round: number, call: () => Promise<unknown>): Promise<number[]> => {
    const pending: Promise<number>[] = [];
    let last = 0;
    for (let i = 0; i < FRAMES_A_ROUND; i++) {
      const now = await new Promise(requestAnimationFrame);
      if (last > 0) intervals.push(now - last);
      last = now;
      move(round * FRAMES_A_ROUND + i);
      streamed.update();
      pending.push(latencyOf(call));
    }
    return Promise.all(pending);
  };
  return {
    contenders: {
      async ours(round) {
        const latencies = await frames(round, () => streamed.service.pick(800, 450));
        if (round > 0) all.push(...latencies);
        return quantile(latencies, 0.5);
      },
      'an empty comlink call': async (round) => quantile(await frames(round, () => nothing.call()), 0.5),
    },
    facts: () => [
      { name: 'p99 of picks', value: quantile(all, 0.99), unit: 'ms' },
      { name: 'from frame to frame', value: quantile(intervals, 0.5), unit: 'ms' },
    ],
    close() {
      streamed.close();
      nothing.close();
    },
  };
}

/** Milliseconds from the call to its answer. */
export async function latencyOf(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];
}
