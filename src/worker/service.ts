import { transfer } from 'comlink';
import { CollisionError } from '../shared/errors.js';
import { IN_FRAME } from '../shared/layout.js';
import {
  type AddObjects,
  type Command,
  errorToWire,
  type Failure,
  type FrameMessage,
  type FromWorker,
  failureOf,
  type MeshUpdate,
  type ObjectDescription,
  type RayFilter,
  type ToWorker,
  type TreeInfo,
  type WorkerApi,
} from '../shared/protocol.js';
import type { Hit, MeshId, ObjectId, Ray, RayHits } from '../shared/types.js';
import type { Core, MeshBuild, PlacedDescription } from './core.js';
import { MeshTable } from './mesh-table.js';
import { messagesServed, SLICE_MS } from './slices.js';

/** Answers the main thread out of a core. */
export class WorkerService implements WorkerApi {
  readonly #core: Core;
  readonly #post: (message: FromWorker, transfer: Transferable[]) => void;
  readonly #meshes: MeshTable;
  readonly #builds = new Map<number, MeshBuild>();
  /** Objects that could not be added. What follows for them is passed over. */
  readonly #unborn = new Set<ObjectId>();
  /** Of the first command that failed since the last frame. */
  #failure: Failure | undefined;
  /** The last one applied. */
  #frame = 0;

  constructor(core: Core, post: (message: FromWorker, transfer: Transferable[]) => void) {
    this.#core = core;
    this.#meshes = new MeshTable(core);
    this.#post = post;
  }

  receive(message: ToWorker): void {
    if (message.type === 'frame') {
      this.#runFrame(message);
    } else if (message.type === 'commands') {
      for (const command of message.list) this.#tryCommand(command);
    } else if (message.type === 'abort') {
      this.#abort(message.build);
    } // else comlink's
  }

  readonly buildMesh = answering(
    async (id: number, positions: Float32Array, indices?: Uint32Array | Uint16Array): Promise<ArrayBuffer> => {
      const build = this.#core.beginBuild(positions, indices);
      this.#builds.set(id, build);
      try {
        for (let fraction = build.step(SLICE_MS); fraction < 1; fraction = build.step(SLICE_MS)) {
          this.#post({ type: 'progress', build: id, fraction }, []);
          await messagesServed();
          if (!this.#builds.has(id)) throw new CollisionError('ABORTED', 'the build was aborted');
        }
        const baked = build.finish();
        this.#builds.delete(id);
        return transfer(baked, [baked]);
      } catch (error) {
        this.#abort(id);
        throw error;
      }
    },
  );

  readonly loadMesh = answering((mesh: MeshId, baked: ArrayBuffer): TreeInfo => this.#meshes.load(mesh, baked));

  readonly bakeMesh = answering((mesh: MeshId): ArrayBuffer => {
    const baked = this.#core.bakeMesh(this.#meshes.addressOf(mesh));
    return transfer(baked, [baked]);
  });

  readonly updateMesh = answering(
    (mesh: MeshId, positions: Float32Array): MeshUpdate => withData(this.#meshes.update(mesh, positions)),
  );

  readonly replaceTree = answering(
    (mesh: MeshId, baked: ArrayBuffer | null): MeshUpdate => withData(this.#meshes.replace(mesh, baked)),
  );

  readonly raycast = answering((ray: Ray, filter: RayFilter): Hit | null => {
    const hit = this.#core.raycast(ray, filter);
    return hit && { ...hit, frame: this.#frame };
  });

  readonly raycastAll = answering((ray: Ray, filter: RayFilter): Hit[] =>
    this.#core.raycastAll(ray, filter).map((hit) => ({ ...hit, frame: this.#frame })),
  );

  readonly isClear = answering((ray: Ray, filter: RayFilter): boolean => !this.#core.anyHit(ray, filter));

  readonly raycastMany = answering((rays: Float32Array, filter: RayFilter): RayHits => {
    checkRays(rays);
    const start = performance.now();
    const hits = this.#core.raycastMany(rays, filter);
    const answer = { ...hits, frame: this.#frame, ms: performance.now() - start };
    const { objects, distances, triangles, barycentrics } = hits;
    return transfer(answer, [objects.buffer, distances.buffer, triangles.buffer, barycentrics.buffer]);
  });

  #abort(id: number): void {
    this.#builds.get(id)?.abort();
    this.#builds.delete(id);
  }

  #runFrame({ input, out }: FrameMessage): void {
    let failure = this.#failure;
    this.#failure = undefined;
    let result: ArrayBuffer | undefined;
    try {
      result = this.#core.frame(input, out);
    } catch (error) {
      failure ??= declared(error);
    }
    this.#frame = new DataView(input).getUint32(IN_FRAME, true);
    const { memoryBytes, usedBytes } = this.#core;
    this.#post(
      { type: 'result', input, out: result, failure, memoryBytes, usedBytes },
      result ? [input, result] : [input],
    );
  }

  #tryCommand(command: Command): void {
    try {
      this.#run(command);
    } catch (error) {
      const { code, message } = declared(error);
      this.#failure ??= { code, message: `${nameOf(command)} failed before: ${message}` };
      if (command.type !== 'addObjects') return;
      for (const id of command.ids) {
        this.#core.removeObject(id); // a part of them may be there
        this.#unborn.add(id);
      }
    }
  }

  #run(command: Command): void {
    switch (command.type) {
      case 'addObjects':
        this.#addObjects(command);
        break;
      case 'setObject':
        if (this.#unborn.has(command.id)) break;
        this.#core.setObject(command.id, this.#placed(command.description, command.matrix));
        break;
      case 'removeObject':
        if (!this.#unborn.delete(command.id)) this.#core.removeObject(command.id);
        break;
      case 'removeMesh':
        this.#meshes.remove(command.mesh);
        break;
      case 'removeView':
        this.#core.removeView(command.slot);
        break;
    }
  }

  #addObjects({ ids, description, matrices }: AddObjects): void {
    if (ids.length === 1 || matrices.length <= 16) {
      const matrix = matrices.length === 0 ? undefined : matrices;
      this.#core.addObjects(Uint32Array.from(ids), this.#placed(description, matrix));
      return;
    }
    const placed = this.#placed(description, undefined);
    for (let i = 0; i < ids.length; i++) {
      placed.matrix = matrices.slice(16 * i, 16 * i + 16);
      this.#core.addObjects(Uint32Array.of(ids[i]), placed);
    }
  }

  /** The description as the core takes it: with its mesh's address there. */
  #placed(description: ObjectDescription, matrix: number[] | undefined): PlacedDescription {
    const mesh = description.mesh === 0 ? 0 : this.#meshes.addressOf(description.mesh);
    return { ...description, mesh, matrix };
  }
}

/** The answer, with the data of a mesh in it handed over. */
function withData(update: MeshUpdate): MeshUpdate {
  const buffers = Object.values(update.rebuild ?? {}).map((array: Float32Array | Uint32Array) => array.buffer);
  return transfer(update, buffers);
}

/** The method with its errors in the form in which they keep their code on the way. */
function answering<A extends unknown[], R>(method: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      const answer = method(...args);
      if (!(answer instanceof Promise)) return answer;
      return answer.catch((error: unknown) => {
        throw errorToWire(error);
      }) as R;
    } catch (error) {
      throw errorToWire(error);
    }
  };
}

/** The failure to report; an error that only a bug can throw goes on and ends the worker. */
function declared(error: unknown): Failure {
  const failure = failureOf(error);
  if (!failure) throw error;
  return failure;
}

function nameOf(command: Command): string {
  switch (command.type) {
    case 'addObjects':
      return command.ids.length === 1 ? `addObject ${command.ids[0]}` : `adding ${command.ids.length} objects`;
    case 'setObject':
    case 'removeObject':
      return `${command.type} ${command.id}`;
    case 'removeMesh':
      return `removeMesh ${command.mesh}`;
    case 'removeView':
      return 'removeView';
  }
}

function checkRays(rays: Float32Array): void {
  for (let i = 0; i < rays.length; i += 8) {
    const tMin = rays[i + 3];
    const tMax = rays[i + 7];
    const reach = Math.abs(rays[i + 4]) + Math.abs(rays[i + 5]) + Math.abs(rays[i + 6]);
    const sum = rays[i] + rays[i + 1] + rays[i + 2] + tMin + reach;
    if (!(Number.isFinite(sum) && reach > 0 && 0 <= tMin && tMin <= tMax)) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `ray ${i / 8} is ${rays.subarray(i, i + 8).join(', ')}; expected origin, tMin, direction, tMax: ` +
          'finite, direction not zero, 0 <= tMin <= tMax <= Infinity',
      );
    }
  }
}
