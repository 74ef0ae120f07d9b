import { transfer } from 'comlink';
import { CollisionError } from '../shared/errors.js';
import { IN_FRAME } from '../shared/layout.js';
import {
  type AddObjects,
  type Command,
  type Failure,
  type FrameMessage,
  type FromWorker,
  failureOf,
  type LoadedMesh,
  type MeshUpdate,
  type ObjectDescription,
  type ToWorker,
  type WorkerApi,
} from '../shared/protocol.js';
import type { MeshId, ObjectId } from '../shared/types.js';
import { answering } from './answering.js';
import type { Core, MeshBuild, PlacedDescription } from './binding/core.js';
import { MeshTable } from './mesh-table.js';
import { QueryService } from './query-service.js';
import { afterMessages, SLICE_MS } from './slices.js';

/** Answers the main thread out of a core. */
export class WorkerService extends QueryService implements WorkerApi {
  readonly #post: (message: FromWorker, transfer: Transferable[]) => void;
  readonly #onPause: () => void;
  readonly #builds = new Map<number, MeshBuild>();
  /** Objects that could not be added. What follows for them is passed over. */
  readonly #unborn = new Set<ObjectId>();
  /** Of the first command that failed since the last frame. */
  #failure: Failure | undefined;

  /** `onPause` is called before messages are served between slices of a build. */
  constructor(core: Core, post: (message: FromWorker, transfer: Transferable[]) => void, onPause = () => {}) {
    super(core, new MeshTable(core));
    this.#post = post;
    this.#onPause = onPause;
  }

  receive(message: ToWorker): void {
    if (message.type === 'frame') {
      this.#runFrame(message);
    } else if (message.type === 'commands') {
      for (const command of message.list) this.#tryCommand(command);
    } else if (message.type === 'place') {
      this.core.place(message.input);
      this.frame = new DataView(message.input).getUint32(IN_FRAME, true);
    } else if (message.type === 'baseline') {
      this.core.setBaseline(message);
    } else if (message.type === 'abort') {
      this.#abort(message.build);
    } // else comlink's
  }

  readonly buildMesh = answering(
    async (id: number, positions: Float32Array, indices?: Uint32Array | Uint16Array): Promise<ArrayBuffer> => {
      const build = this.core.beginBuild(positions, indices);
      this.#builds.set(id, build);
      try {
        for (let fraction = build.step(SLICE_MS); fraction < 1; fraction = build.step(SLICE_MS)) {
          this.#post({ type: 'progress', build: id, fraction }, []);
          await this.#pause();
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

  readonly loadMesh = answering((mesh: MeshId, baked: ArrayBuffer, isKept: boolean): LoadedMesh => {
    return { info: this.meshes.load(mesh, baked), copy: isKept ? new Blob([baked]) : undefined };
  });

  readonly bakeMesh = answering((mesh: MeshId): ArrayBuffer => {
    const baked = this.core.bakeMesh(this.meshes.addressOf(mesh));
    return transfer(baked, [baked]);
  });

  readonly updateMesh = answering(
    (mesh: MeshId, positions: Float32Array): MeshUpdate => withData(this.meshes.update(mesh, positions)),
  );

  readonly replaceTree = answering((mesh: MeshId, baked: ArrayBuffer | null, isKept: boolean): MeshUpdate => {
    const update = this.meshes.replace(mesh, baked);
    if (baked && isKept && update.isInEffect) update.copy = new Blob([baked]);
    return withData(update);
  });

  #pause(): Promise<void> {
    this.#onPause();
    return new Promise(afterMessages);
  }

  #abort(id: number): void {
    this.#builds.get(id)?.abort();
    this.#builds.delete(id);
  }

  #runFrame({ input, out }: FrameMessage): void {
    let failure = this.#failure;
    this.#failure = undefined;
    let result: ArrayBuffer | undefined;
    // After a command that failed none is run: the caller would not see what began and ended in it.
    if (!failure) {
      try {
        result = this.core.frame(input, out);
      } catch (error) {
        failure = declared(error);
      }
    }
    this.frame = new DataView(input).getUint32(IN_FRAME, true);
    const { memoryBytes, usedBytes } = this.core;
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
        this.core.removeObject(id); // a part of them may be there
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
        this.core.setObject(command.id, this.#placed(command.description, command.matrix));
        break;
      case 'removeObject':
        if (!this.#unborn.delete(command.id)) this.core.removeObject(command.id);
        break;
      case 'removeMesh':
        this.meshes.remove(command.mesh);
        break;
      case 'removeView':
        this.core.removeView(command.slot);
        break;
    }
  }

  #addObjects({ ids, description, matrices }: AddObjects): void {
    if (ids.length === 1 || matrices.length <= 16) {
      const matrix = matrices.length === 0 ? undefined : matrices;
      this.core.addObjects(Uint32Array.from(ids), this.#placed(description, matrix));
      return;
    }
    const placed = this.#placed(description, undefined);
    for (let i = 0; i < ids.length; i++) {
      placed.matrix = matrices.slice(16 * i, 16 * i + 16);
      this.core.addObjects(Uint32Array.of(ids[i]), placed);
    }
  }

  /** The description as the core takes it: with its mesh's address there. */
  #placed(description: ObjectDescription, matrix: number[] | undefined): PlacedDescription {
    const mesh = description.mesh === 0 ? 0 : this.meshes.addressOf(description.mesh);
    return { ...description, mesh, matrix };
  }
}

/** The answer, with the data of a mesh in it handed over. */
function withData(update: MeshUpdate): MeshUpdate {
  const buffers = Object.values(update.rebuild ?? {}).map((array: Float32Array | Uint32Array) => array.buffer);
  return transfer(update, buffers);
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
