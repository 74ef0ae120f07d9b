import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { icosphere } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';

/** Of one stretch of frames. */
export interface Sample {
  frame: number;
  /** Megabytes: on the main thread after a collection; then in use and reserved in the worker's core; of the process. */
  heap: number;
  buffers: number;
  used: number;
  reserved: number;
  process: number;
  /** Milliseconds from update() to its answer, and from pick() to its own: medians and 99th percentiles. */
  update: number;
  update99: number;
  pick: number;
  pick99: number;
}

export interface SoakOptions {
  seed: number;
  frames: number;
  samples: number;
  collectGarbage: () => void;
  onSample?: (sample: Sample) => void;
}

const OBJECTS = 2000;
const MOVING = 600;
const COMING = 10;
const HALF_SIZE = 40;

/** Frames as an app has them, as fast as they come: objects move, come and go, meshes too, and something is picked. */
export async function soak({ seed, frames, samples, collectGarbage, onSample }: SoakOptions): Promise<Sample[]> {
  const service = await createCollisionService();
  const scene = new Scene(service, new Random(seed));
  await scene.fill();
  const taken: Sample[] = [];
  for (let i = 0; i < samples; i++) {
    const updates: number[] = [];
    const picks: number[] = [];
    for (let k = 0; k < frames / samples; k++) {
      await scene.change();
      const begin = performance.now();
      const update = service.update();
      const pick = service.pick(scene.random.range(0, 800), scene.random.range(0, 600)).then(() => {
        picks.push(performance.now() - begin);
      });
      await update;
      updates.push(performance.now() - begin);
      await pick;
    }
    const sample = { frame: service.stats.frames, ...memory(service, collectGarbage), ...latency(updates, picks) };
    taken.push(sample);
    onSample?.(sample);
  }
  service.dispose();
  return taken;
}

/** What is not flat, in words: the last third against the second, as the first one fills caches. */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  const limits = {
    heap: [1.1, 2],
    buffers: [1.1, 2],
    used: [1.05, 1],
    reserved: [1.0, 0],
    update: [1.5, 0.5],
  } as const;
  return Object.entries(limits).flatMap(([name, [factor, more]]) => {
    const median = (from: number, to: number) =>
      middle(samples.slice(from, to).map((each) => each[name as keyof Sample]));
    const [before, after] = [median(third, 2 * third), median(2 * third, samples.length)];
    return after <= before * factor + more ? [] : [`${name} rose from ${before.toFixed(2)} to ${after.toFixed(2)}`];
  });
}

class Scene {
  readonly random: Random;
  readonly #service: CollisionService;
  readonly #ids: number[] = [];
  readonly #camera = new PerspectiveCamera(60, 4 / 3, 0.1, 200);
  #meshes: MeshId[] = [];
  #frame = 0;

  constructor(service: CollisionService, random: Random) {
    this.#service = service;
    this.random = random;
  }

  async fill(): Promise<void> {
    for (let i = 0; i < 4; i++) this.#meshes.push(await this.#service.addMesh(icosphere(1, 2)));
    while (this.#ids.length < OBJECTS) this.#add();
  }

  async change(): Promise<void> {
    const { random } = this;
    for (let i = 0; i < MOVING; i++) this.#service.setTransform(random.pick(this.#ids), this.#place());
    for (let i = 0; i < COMING; i++) {
      const at = random.integer(this.#ids.length);
      this.#service.removeObject(this.#ids[at]);
      this.#ids[at] = this.#ids[this.#ids.length - 1];
      this.#ids.pop();
      this.#add();
    }
    const { position, projectionMatrix, matrixWorldInverse } = this.#camera;
    position.set(60 * Math.sin(this.#frame / 200), 10, 60 * Math.cos(this.#frame / 200));
    this.#camera.lookAt(0, 0, 0);
    this.#camera.updateMatrixWorld();
    const viewport = { width: 800, height: 600 };
    this.#service.setView({ projection: projectionMatrix.elements, view: matrixWorldInverse.elements, viewport });
    if (++this.#frame % 500 === 0) await this.#renewMesh();
  }

  /** A mesh that moved comes, and one that nobody has goes. */
  async #renewMesh(): Promise<void> {
    const { positions, indices } = icosphere(1, 2);
    const mesh = await this.#service.addMesh({ positions, indices });
    await this.#service.updateMesh(
      mesh,
      positions.map((each) => each * this.random.range(0.9, 1.1)),
    );
    const [old] = this.#meshes.splice(0, 1);
    this.#meshes.push(mesh);
    for (const id of this.#ids) {
      if (this.#meshOf.get(id) !== old) continue;
      this.#service.setObject(id, { shape: { type: 'mesh', mesh } });
      this.#meshOf.set(id, mesh);
    }
    this.#service.removeMesh(old);
  }

  readonly #meshOf = new Map<number, MeshId>();

  #add(): void {
    const { random } = this;
    const kind = random.integer(4);
    const mesh = random.pick(this.#meshes);
    const shape =
      kind === 0
        ? ({ type: 'mesh', mesh } as const)
        : kind === 1
          ? ({ type: 'sphere', radius: 1 } as const)
          : ({ type: 'box', halfExtents: [1, 0.7, 0.5] } as const);
    const id = this.#service.addObject({ shape, matrix: this.#place() });
    if (kind === 0) this.#meshOf.set(id, mesh);
    this.#ids.push(id);
  }

  #place(): number[] {
    const { random } = this;
    return new Matrix4().makeRotationFromQuaternion(random.rotation()).setPosition(random.point(HALF_SIZE)).elements;
  }
}

function memory(service: CollisionService, collectGarbage: () => void) {
  collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const { usedBytes, memoryBytes } = service.stats;
  const [heap, buffers, used, reserved, whole] = [heapUsed, arrayBuffers, usedBytes, memoryBytes, rss].map(
    (b) => b / 2 ** 20,
  );
  return { heap, buffers, used, reserved, process: whole };
}

function latency(updates: number[], picks: number[]) {
  return {
    ...{
      update: middle(updates),
      update99: quantile(updates, 0.99),
      pick: middle(picks),
      pick99: quantile(picks, 0.99),
    },
  };
}

function middle(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
}
