import {
  type CollisionService,
  type CollisionServiceOptions,
  createCollisionService,
  type ObjectOptions,
  type WorkerLike,
} from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { expect } from 'vitest';
import { icosphere } from '../oracle/meshes.js';

const BALL: ObjectOptions = { shape: { type: 'sphere', radius: 1 } };
const large = icosphere(1, 80);

/** A service, its pending calls, and the workers that it created. */
class World {
  readonly workers: WorkerLike[] = [];
  readonly asked: Promise<unknown>[] = [];
  onCreate = () => {};
  service!: CollisionService;
  readonly #createWorker: () => WorkerLike;

  constructor(createWorker: () => WorkerLike) {
    this.#createWorker = createWorker;
  }

  async start(options: CollisionServiceOptions): Promise<void> {
    const createWorker = () => {
      this.onCreate();
      const worker = this.#createWorker();
      this.workers.push(worker);
      return worker;
    };
    this.service = await createCollisionService({ ...options, createWorker });
    this.service.addObject(BALL);
    this.service.setView({
      projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
      view: new Matrix4().makeTranslation(0, 0, -10).elements,
      viewport: { width: 200, height: 200 },
    });
    await this.service.update();
  }

  ask(promise: Promise<unknown>): void {
    this.asked.push(promise.then(() => 'an answer').catch((error: { code?: string }) => error.code ?? error));
  }

  /** Requests frames and queries, in the worker and on their way. */
  askForMuch(): void {
    const { service } = this;
    for (let i = 0; i < 3; i++) {
      this.ask(service.update());
      for (let k = 0; k < 3; k++) this.ask(service.pick(100, 100, { latest: true }));
      this.ask(service.raycastMany(new Float32Array(80).fill(1)));
      this.ask(service.pickRegion({ x: 0, y: 0, width: 100, height: 100 }));
    }
  }

  addLargeMesh(options = {}): void {
    this.ask(this.service.addMesh(large, options));
  }

  /** Makes the worker throw. */
  kill(): void {
    (this.workers.at(-1) as Worker | undefined)?.postMessage({ type: 'frame', input: null });
  }

  event(type: 'lost' | 'restored'): Promise<void> {
    return new Promise((resolve) => this.service.addEventListener(type, () => resolve(), { once: true }));
  }

  /** Resolves when another worker is about to be created. */
  created(): Promise<void> {
    return new Promise((resolve) => {
      this.onCreate = resolve;
    });
  }
}

const NO_BUILDERS = { builders: 0 };

/** Moments at which a service may be disposed. */
export const MOMENTS: [moment: string, during: (world: World) => Promise<void>, options?: CollisionServiceOptions][] = [
  ['when it is idle', async () => {}],
  ['in the middle of a frame, with more to come', async (world) => world.askForMuch()],
  [
    'when all of that has been posted',
    async (world) => {
      world.askForMuch();
      await new Promise((resolve) => setTimeout(resolve));
    },
  ],
  ['before a builder has been started', async (world) => world.addLargeMesh()],
  [
    'while a builder starts',
    async (world) => {
      const created = world.created();
      world.addLargeMesh();
      await created;
    },
  ],
  ...([{}, NO_BUILDERS] as const).map((options): (typeof MOMENTS)[number] => [
    `while a mesh is built${'builders' in options ? ' in its own worker' : ''}`,
    (world) =>
      new Promise((resolve) => {
        world.askForMuch();
        world.addLargeMesh({ onProgress: resolve });
      }),
    options,
  ]),
  [
    'as soon as a builder is idle',
    async (world) => {
      world.addLargeMesh();
      await world.asked[0];
    },
  ],
  ...[0, 1, 2, 3, 4, 5].map((turns): (typeof MOMENTS)[number] => [
    `${turns} microtasks after the worker has asked for a new tree`,
    async ({ service, ask }) => {
      const { positions, indices } = icosphere(1, 8);
      const mesh = await service.addMesh({ positions, indices });
      const moved = positions.map((value, i) => value + Math.sin(17 * i));
      const isMoved = service.updateMesh(mesh, moved);
      ask(isMoved);
      await service.updateMesh(mesh, moved);
      for (let i = 0; i < turns; i++) await undefined;
    },
  ]),
  [
    'by who hears that the worker was lost',
    async (world) => {
      world.askForMuch();
      world.service.addEventListener('lost', () => world.service.dispose());
      world.kill();
      await world.event('lost');
    },
  ],
  [
    'while it waits to start another worker',
    async (world) => {
      for (let i = 0; i < 2; i++) {
        world.kill();
        await world.event('lost');
        world.askForMuch();
        if (i === 0) await world.event('restored');
      }
    },
  ],
  [
    'while another worker starts',
    async (world) => {
      const created = world.created();
      world.kill();
      world.askForMuch();
      await created;
      await undefined;
      world.askForMuch();
    },
  ],
  [
    'by the function that makes another worker',
    async (world) => {
      const created = world.created();
      const { onCreate } = world;
      world.onCreate = () => {
        world.service.dispose();
        onCreate();
      };
      world.kill();
      await created;
    },
  ],
  [
    'by the function that makes a builder',
    async (world) => {
      world.onCreate = () => world.service.dispose();
      world.addLargeMesh();
    },
  ],
  [
    'by who hears that the worker was replaced',
    async (world) => {
      world.service.addEventListener('restored', () => world.service.dispose());
      world.kill();
      world.askForMuch();
      await world.event('restored');
    },
  ],
  [
    'by who is told the progress of a mesh',
    (world) =>
      new Promise((resolve) => {
        world.addLargeMesh({
          onProgress: () => {
            world.service.dispose();
            resolve();
          },
        });
      }),
  ],
  [
    'by who hears of an abort, before and after the calls that it ends',
    async (world) => {
      const { service } = world;
      const controller = new AbortController();
      const { signal } = controller;
      world.ask(service.pick(100, 100, { signal }));
      signal.addEventListener('abort', () => service.dispose(), { once: true });
      world.ask(service.pick(100, 100, { signal }));
      world.addLargeMesh({ signal });
      controller.abort();
    },
  ],
  [
    'by a getter of what it is given',
    async (world) => {
      const { positions, indices } = large;
      const data = {
        indices,
        get positions() {
          world.service.dispose();
          return positions;
        },
      };
      world.ask(world.service.addMesh(data));
    },
  ],
];

/** Disposes a service at that moment, and resolves to its workers when no call is pending any more. */
export async function disposeAt(
  [, during, options = {}]: (typeof MOMENTS)[number],
  createWorker: () => WorkerLike,
): Promise<WorkerLike[]> {
  const world = new World(createWorker);
  const timers = new LiveTimers();
  try {
    await world.start(options);
    world.ask = world.ask.bind(world);
    await during(world);
    const { service } = world;
    service.dispose();
    service.dispose();
    expect(service.stats).toMatchObject({ pending: 0, queueDepth: 0 });
    const disposed = expect.objectContaining({ name: 'CollisionError', code: 'DISPOSED' });
    expect(() => service.addObject(BALL)).toThrow(disposed);
    for (const promise of [service.update(), service.pick(1, 1), service.addMesh(large)]) {
      await expect(promise).rejects.toEqual(disposed);
    }
    for (const outcome of await Promise.all(world.asked)) {
      expect(['an answer', 'DISPOSED', 'WORKER_LOST', 'ABORTED']).toContain(outcome);
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(timers.live).toEqual([]);
    return world.workers;
  } finally {
    timers.restore();
  }
}

/** The timers that were set since and have neither fired nor been cleared. */
class LiveTimers {
  readonly #timerStacks = new Map<unknown, string>();
  readonly #originals = { setTimeout, setInterval, clearTimeout, clearInterval };

  constructor() {
    const originals = this.#originals;
    const { setTimeout, setInterval } = originals; // browsers' timers may not be called on another object
    const trackTimer = <T>(timer: T) => {
      this.#timerStacks.set(timer, String(new Error('set').stack));
      return timer;
    };
    const wrapClear = (originalClear: (timer?: number) => void) => (timer?: number) => {
      this.#timerStacks.delete(timer);
      originalClear(timer);
    };
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
        const timer: unknown = setTimeout(() => {
          this.#timerStacks.delete(timer);
          run(...args);
        }, ms);
        return trackTimer(timer);
      },
      setInterval: (run: () => void, ms?: number) => trackTimer(setInterval(run, ms)),
      clearTimeout: wrapClear(originals.clearTimeout),
      clearInterval: wrapClear(originals.clearInterval),
    });
  }

  get live(): string[] {
    return [...this.#timerStacks.values()].filter((stack) => stack.includes('/dist/'));
  }

  restore(): void {
    Object.assign(globalThis, this.#originals);
  }
}
