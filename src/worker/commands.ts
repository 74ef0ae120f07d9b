import type { AddObjects, Command } from '../shared/commands.js';
import type { Failure } from '../shared/failure.js';
import type { ObjectId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { Steps } from './binding/steps.js';
import { declared } from './failures.js';
import type { MeshTable } from './mesh-table.js';
import { placedIn } from './placed-in.js';

/** How many objects commands process between two readings of the clock: some 0.1 ms, and 1 ms if each is set on its own. */
const STEP_OBJECTS = 256;
const ONE = [1];
const MANY = [STEP_OBJECTS];

/** Runs commands: what is added, changed and removed between frames. */
export class CommandRunner {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  /** Objects that could not be added. Later commands for them are ignored. */
  readonly #unborn = new Set<ObjectId>();
  /** The error of the first command that failed since the last `take`. */
  #failure: Failure | undefined;
  /** Milliseconds spent on commands since the last `take`. */
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
          if (objects < STEP_OBJECTS) continue;
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
  take(): { failure: Failure | undefined; ms: number } {
    const taken = { failure: this.#failure, ms: this.#ms };
    this.#failure = undefined;
    this.#ms = 0;
    return taken;
  }

  /** Called when a frame was answered. */
  endFrame(): void {
    for (const slot of this.#leavingViews.splice(0)) this.#core.removeView(slot);
  }

  #fail(command: Command, error: unknown): void {
    const { code, message } = declared(error);
    this.#failure ??= { code, message: `${nameOf(command)} failed before: ${message}` };
    if (command.type !== 'addObjects') return;
    for (const id of command.ids) {
      this.#core.removeObject(id); // some of them may have been added
      this.#unborn.add(id);
    }
  }

  /** Runs a command while its result is iterated: each value is the number of objects that were just processed. */
  #run(command: Command): Iterable<number> {
    switch (command.type) {
      case 'addObjects':
        return this.#addObjects(command);
      case 'placeObjects':
        this.#core.placeAhead(command.input);
        return MANY;
      case 'setObject':
        if (!this.#unborn.has(command.id)) {
          this.#core.setObject(command.id, placedIn(this.#meshes, command.description, command.matrix));
        }
        return ONE;
      case 'removeObject':
        this.#removeObject(command.id);
        return ONE;
      case 'setLayers':
        // Objects that could not be added are not alive.
        return each(command.ids, (id) => this.#core.setLayers(id, command.layers));
      case 'removeObjects':
        return each(command.ids, (id) => this.#removeObject(id));
      case 'removeMesh':
        this.#meshes.remove(command.mesh);
        return ONE;
      case 'removeView':
        if (this.#isInFrame()) this.#leavingViews.push(command.slot);
        else this.#core.removeView(command.slot);
        return ONE;
      case 'putCharacter':
        this.#core.putCharacter(command.id, command.description);
        return ONE;
      case 'removeCharacter':
        this.#core.removeCharacter(command.id);
        return ONE;
    }
  }

  #removeObject(id: ObjectId): void {
    if (!this.#unborn.delete(id)) this.#core.removeObject(id);
  }

  *#addObjects({ ids, description, matrices }: AddObjects): Generator<number> {
    const areMany = matrices.length > 16;
    for (let at = 0; at < ids.length; at += STEP_OBJECTS) {
      const some = Uint32Array.from(ids.slice(at, at + STEP_OBJECTS));
      const theirs = areMany ? matrices.slice(16 * at, 16 * (at + some.length)) : matrices;
      // The mesh may have moved to another address after a rest.
      const placed = placedIn(this.#meshes, description, theirs.length === 0 ? undefined : theirs);
      this.#core.addObjects(some, placed);
      yield some.length;
    }
  }
}

/** Applies `work` to each object, some of them at a time. */
function* each(ids: ArrayLike<ObjectId>, work: (id: ObjectId) => void): Generator<number> {
  for (let i = 0; i < ids.length; ) {
    const end = Math.min(ids.length, i + STEP_OBJECTS);
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
