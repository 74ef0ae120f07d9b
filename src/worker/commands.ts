import type { AddObjects, Command, Failure } from '../shared/protocol.js';
import type { ObjectId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import { declared } from './failures.js';
import type { MeshTable } from './mesh-table.js';
import { placedIn } from './placed-in.js';

/** Runs commands: what is added, changed and removed between frames. */
export class CommandRunner {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  /** Objects that could not be added. What follows for them is ignored. */
  readonly #unborn = new Set<ObjectId>();
  /** The error of the first command that failed since it was taken. */
  #failure: Failure | undefined;
  /** Milliseconds of commands since they were taken. */
  #ms = 0;
  /** Tells whether a frame is between two slices. */
  readonly #isInFrame: () => boolean;
  /** The slots of views that were removed in the midst of a frame, which still answers what they see. */
  readonly #leavingViews: number[] = [];

  constructor(core: Core, meshes: MeshTable, isInFrame: () => boolean) {
    this.#core = core;
    this.#meshes = meshes;
    this.#isInFrame = isInFrame;
  }

  /** Runs each command that can be run. */
  run(commands: readonly Command[]): void {
    const start = performance.now();
    for (const command of commands) this.#try(command);
    this.#ms += performance.now() - start;
  }

  /** Answers what failed first, and how long all took, since this was called last. */
  take(): { failure: Failure | undefined; ms: number } {
    const taken = { failure: this.#failure, ms: this.#ms };
    this.#failure = undefined;
    this.#ms = 0;
    return taken;
  }

  /** Hears that a frame was answered. */
  endFrame(): void {
    for (const slot of this.#leavingViews.splice(0)) this.#core.removeView(slot);
  }

  #try(command: Command): void {
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
      case 'placeObjects':
        this.#core.placeAhead(command.input);
        break;
      case 'setObject':
        if (this.#unborn.has(command.id)) break;
        this.#core.setObject(command.id, placedIn(this.#meshes, command.description, command.matrix));
        break;
      case 'removeObject':
        if (!this.#unborn.delete(command.id)) this.#core.removeObject(command.id);
        break;
      case 'setLayers':
        // Objects that could not be added are not alive.
        for (const id of command.ids) this.#core.setLayers(id, command.layers);
        break;
      case 'removeObjects':
        for (const id of command.ids) if (!this.#unborn.delete(id)) this.#core.removeObject(id);
        break;
      case 'removeMesh':
        this.#meshes.remove(command.mesh);
        break;
      case 'removeView':
        if (this.#isInFrame()) this.#leavingViews.push(command.slot);
        else this.#core.removeView(command.slot);
        break;
      case 'putCharacter':
        this.#core.putCharacter(command.id, command.description);
        break;
      case 'removeCharacter':
        this.#core.removeCharacter(command.id);
        break;
    }
  }

  #addObjects({ ids, description, matrices }: AddObjects): void {
    if (ids.length === 1 || matrices.length <= 16) {
      const matrix = matrices.length === 0 ? undefined : matrices;
      this.#core.addObjects(Uint32Array.from(ids), placedIn(this.#meshes, description, matrix));
      return;
    }
    const each = placedIn(this.#meshes, description, undefined);
    for (let i = 0; i < ids.length; i++) {
      each.matrix = matrices.slice(16 * i, 16 * i + 16);
      this.#core.addObjects(Uint32Array.of(ids[i]), each);
    }
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
