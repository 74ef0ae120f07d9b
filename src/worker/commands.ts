import type { AddObjects, Command } from '../shared/commands.js';
import type { Failure } from '../shared/failure.js';
import type { ObjectId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { Steps } from './binding/steps.js';
import { failureOrRethrow } from './failures.js';
import type { MeshTable } from './mesh-table.js';
import { describePlaced } from './placed-in.js';

/** How many objects commands process between two readings of the clock: some 0.1 ms, and 1 ms if each is set on its own. */
const OBJECTS_PER_STEP = 256;
const ONE_OBJECT = [1];
const MANY_OBJECTS = [OBJECTS_PER_STEP];

/** Runs commands: what is added, changed and removed between frames. */
export class CommandRunner {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  /** Objects that could not be added. Later commands for them are ignored. */
  readonly #failedObjects = new Set<ObjectId>();
  /** The error of the first command that failed since the last `takeOutcome`. */
  #failure: Failure | undefined;
  /** Milliseconds spent on commands since the last `takeOutcome`. */
  #ms = 0;
  /** Whether a frame is between two slices. */
  readonly #isInFrame: () => boolean;
  /** Slots of views that were removed in the middle of a frame that still reports what they see. */
  readonly #leavingViews: number[] = [];

  constructor(core: Core, meshes: MeshTable, isInFrame: () => boolean) {
    this.#core = core;
    this.#meshes = meshes;
    this.#isInFrame = isInFrame;
  }

  /** Runs every command that can be run. It may rest after each of its steps, which take a millisecond or less. */
  *run(commands: readonly Command[]): Steps<void> {
    let start = performance.now();
    let objects = 0;
    for (const command of commands) {
      try {
        for (const count of this.#run(command)) {
          objects += count;
          if (objects < OBJECTS_PER_STEP) continue;
          objects = 0;
          this.#ms += performance.now() - start;
          yield;
          start = performance.now();
        }
      } catch (error) {
        this.#fail(command, error);
      }
    }
    this.#ms += performance.now() - start;
  }

  /** Returns the first failure, and the time of all commands, since the last call. */
  takeOutcome(): { failure: Failure | undefined; ms: number } {
    const outcome = { failure: this.#failure, ms: this.#ms };
    this.#failure = undefined;
    this.#ms = 0;
    return outcome;
  }

  /** Called when a frame was answered. */
  endFrame(): void {
    for (const slot of this.#leavingViews.splice(0)) this.#core.removeView(slot);
  }

  #fail(command: Command, error: unknown): void {
    const { code, message } = failureOrRethrow(error);
    this.#failure ??= { code, message: `${nameOf(command)} failed before: ${message}` };
    if (command.type !== 'addObjects') return;
    for (const id of command.ids) {
      this.#core.removeObject(id); // some of them may have been added
      this.#failedObjects.add(id);
    }
  }

  /** Runs a command while its result is iterated: each value is the number of objects that were just processed. */
  #run(command: Command): Iterable<number> {
    switch (command.type) {
      case 'addObjects':
        return this.#addObjects(command);
      case 'placeObjects':
        this.#core.placeAhead(command.input);
        return MANY_OBJECTS;
      case 'setObject':
        if (!this.#failedObjects.has(command.id)) {
          this.#core.setObject(command.id, describePlaced(this.#meshes, command.description, command.matrix));
        }
        return ONE_OBJECT;
      case 'removeObject':
        this.#removeObject(command.id);
        return ONE_OBJECT;
      case 'setLayers':
        // Objects that could not be added are not alive.
        return forEachObject(command.ids, (id) => this.#core.setLayers(id, command.layers));
      case 'removeObjects':
        return forEachObject(command.ids, (id) => this.#removeObject(id));
      case 'removeMesh':
        this.#meshes.remove(command.mesh);
        return ONE_OBJECT;
      case 'removeView':
        if (this.#isInFrame()) this.#leavingViews.push(command.slot);
        else this.#core.removeView(command.slot);
        return ONE_OBJECT;
      case 'putCharacter':
        this.#core.putCharacter(command.id, command.description);
        return ONE_OBJECT;
      case 'removeCharacter':
        this.#core.removeCharacter(command.id);
        return ONE_OBJECT;
    }
  }

  #removeObject(id: ObjectId): void {
    if (!this.#failedObjects.delete(id)) this.#core.removeObject(id);
  }

  *#addObjects({ ids, description, matrices }: AddObjects): Generator<number> {
    const hasMatrixPerObject = matrices.length > 16;
    for (let at = 0; at < ids.length; at += OBJECTS_PER_STEP) {
      const batch = Uint32Array.from(ids.slice(at, at + OBJECTS_PER_STEP));
      const batchMatrices = hasMatrixPerObject ? matrices.slice(16 * at, 16 * (at + batch.length)) : matrices;
      // The mesh may have moved to another address after a rest.
      const placedDescription = describePlaced(
        this.#meshes,
        description,
        batchMatrices.length === 0 ? undefined : batchMatrices,
      );
      this.#core.addObjects(batch, placedDescription);
      yield batch.length;
    }
  }
}

/** Applies `work` to each object, some of them at a time. */
function* forEachObject(ids: ArrayLike<ObjectId>, work: (id: ObjectId) => void): Generator<number> {
  for (let i = 0; i < ids.length; ) {
    const end = Math.min(ids.length, i + OBJECTS_PER_STEP);
    const count = end - i;
    while (i < end) work(ids[i++]);
    yield count;
  }
}

function nameOf(command: Command): string {
  switch (command.type) {
    case 'addObjects':
      return command.ids.length === 1 ? `addObject ${command.ids[0]}` : `adding ${command.ids.length} objects`;
    case 'placeObjects':
      return 'placing instances';
    case 'setObject':
    case 'removeObject':
      return `${command.type} ${command.id}`;
    case 'setLayers':
    case 'removeObjects':
      return `${command.type} of ${command.ids.length}`;
    case 'removeMesh':
      return `removeMesh ${command.mesh}`;
    case 'removeView':
      return 'removeView';
    case 'putCharacter':
      return 'createCharacter';
    case 'removeCharacter':
      return 'character.remove';
  }
}
