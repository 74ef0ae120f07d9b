import type { CharacterDescription, Command } from '../../shared/commands.js';
import * as layout from '../../shared/layout.js';
import type { Character, CharacterOptions, CharacterState, CharacterTouch, Vec3 } from '../../shared/types.js';
import { argumentError, checkAtLeastZero, checkFinite, checkVec3 } from '../check/validate.js';
import type { FramePump } from '../frame/frame-pump.js';
import { Ids } from '../scene/id-table.js';
import type { ObjectStore } from '../scene/object-store.js';
import type { TransformTable } from '../transforms/transform-table.js';
import { describeCharacter } from './character-options.js';

/** The store's data of a character. */
interface Entry {
  description: CharacterDescription;
  /** The last frame that does not have its place yet; Infinity until the worker is sent its description. */
  after: number;
  /** The frame of its newest state, and the offset of its record in that. */
  frame: number;
  at: number;
  /** Undefined until a frame has its state. */
  records?: DataView;
  pushes?: DataView;
  state?: CharacterState | undefined;
  /** The steps that it has made, and those of them that it made in lost workers. */
  steps: number;
  lost: number;
}

/** The characters, and their states in the newest frame. */
export class CharacterStore {
  readonly #ids = new Ids();
  readonly #entries = new Map<number, Entry>();
  readonly #pump: FramePump;
  readonly #objects: ObjectStore;
  readonly #transforms: TransformTable;
  readonly #check: (operation: string) => void;

  /** Makes a store; `check` throws if the service has ended. */
  constructor(pump: FramePump, objects: ObjectStore, transforms: TransformTable, check: (operation: string) => void) {
    this.#pump = pump;
    this.#objects = objects;
    this.#transforms = transforms;
    this.#check = check;
  }

  add(options: CharacterOptions): Character {
    const description = describeCharacter('createCharacter', options, this.#objects);
    this.#ids.checkRoom('createCharacter', 1);
    const id = this.#ids.take();
    this.#put(id, description);
    return new StoredCharacter(this, id);
  }

  set(id: number, options: Partial<CharacterOptions>): void {
    const operation = 'character.set';
    const entry = this.#entryOf(operation, id);
    const description = describeCharacter(operation, options, this.#objects, entry.description);
    this.#entryOf(operation, id); // a getter of the options may have removed it
    entry.description = description;
    this.#put(id, description);
  }

  #put(id: number, description: CharacterDescription): void {
    this.#pump.enqueue({ type: 'putCharacter', id, description });
    this.#transforms.carried.add(description.object);
    if (!(description.flags & layout.CHARACTER_IS_PLACED)) return;
    this.#pump.staging.moves.drop(id);
    const { steps = 0, lost = 0 } = this.#entries.get(id) ?? {};
    const entry: Entry = { description, after: Infinity, frame: 0, at: 0, steps, lost };
    this.#entries.set(id, entry);
    // The answer of a frame under way has its place before.
    this.#pump.enqueue(entry);
  }

  remove(id: number): void {
    this.#entryOf('character.remove', id);
    this.#entries.delete(id);
    this.#ids.delete(id);
    this.#pump.enqueue({ type: 'removeCharacter', id });
  }

  move(id: number, displacement: Vec3): void {
    this.#entryOf('character.move', id);
    const checkedDisplacement = checkVec3('character.move', 'displacement', displacement);
    this.#pump.staging.moves.add(id, layout.MOVE_BY, checkedDisplacement, 0);
  }

  advance(id: number, velocity: Vec3, seconds: number): void {
    const operation = 'character.advance';
    this.#entryOf(operation, id);
    const checkedVelocity = checkVec3(operation, 'velocity', velocity);
    this.#pump.staging.moves.add(
      id,
      layout.MOVE_TIMED,
      checkedVelocity,
      checkAtLeastZero(operation, 'seconds', seconds),
    );
  }

  jump(id: number, speed: number): void {
    const operation = 'character.jump';
    this.#entryOf(operation, id);
    this.#pump.staging.moves.add(id, layout.MOVE_JUMP, [0, 0, 0], checkFinite(operation, 'speed', speed));
  }

  /** Copies the states of characters out of the buffer of a frame's answer. */
  take(buffer: ArrayBuffer): void {
    const view = new DataView(buffer);
    const count = view.getUint32(layout.OUT_CHARACTER_COUNT, true);
    if (count === 0) return;
    const recordsAt = view.getUint32(layout.OUT_CHARACTERS, true);
    const records = new DataView(buffer.slice(recordsAt, recordsAt + count * layout.OUT_CHARACTER_BYTES));
    const pushesAt = view.getUint32(layout.OUT_PUSHES, true);
    const pushBytes = view.getUint32(layout.OUT_PUSH_COUNT, true) * layout.PUSH_BYTES;
    const pushes = new DataView(buffer.slice(pushesAt, pushesAt + pushBytes));
    const frame = view.getUint32(layout.OUT_FRAME, true);
    for (let i = 0; i < count; i++) {
      const at = i * layout.OUT_CHARACTER_BYTES;
      const entry = this.#entries.get(records.getUint32(at + layout.OUT_CHARACTER_ID, true));
      // It may have been removed since, or put elsewhere.
      if (!entry || frame <= entry.after) continue;
      Object.assign(entry, {
        ...{ frame, records, pushes, at, state: undefined },
        steps: entry.lost + records.getUint32(at + layout.OUT_CHARACTER_STEPS, true),
      });
      // The next worker has its object there, even if the character is gone by then.
      this.#transforms.shift(entry.description.object, readVec3(records, at + layout.OUT_CHARACTER_POSITION));
    }
  }

  stateOf(id: number): CharacterState {
    const entry = this.#entryOf('character.state', id);
    entry.state ??= readState(entry);
    return entry.state;
  }

  /** Returns the commands that put all characters into a worker that has none, at their last places. */
  replay(): Command[] {
    return Array.from(this.#entries, ([id, entry]) => {
      const { description, records, at } = entry;
      entry.after = 0; // no frame of the last worker is answered any more
      entry.lost = entry.steps; // the next worker counts from 0
      const placed = { ...description, flags: layout.CHARACTER_IS_PLACED };
      if (records) {
        placed.position = readVec3(records, at + layout.OUT_CHARACTER_POSITION);
        placed.speed = records.getFloat64(at + layout.OUT_CHARACTER_SPEED, true);
        placed.time = records.getFloat64(at + layout.OUT_CHARACTER_TIME, true);
        placed.state = records.buffer.slice(at + layout.OUT_CHARACTER_DEPTH, at + layout.OUT_CHARACTER_BYTES);
        placed.flags |= records.getUint32(at + layout.OUT_CHARACTER_FLAGS, true);
      }
      return { type: 'putCharacter', id, description: placed };
    });
  }

  /** Releases all characters. */
  clear(): void {
    this.#entries.clear();
  }

  #entryOf(operation: string, id: number): Entry {
    this.#check(operation);
    const entry = this.#entries.get(id);
    if (!entry) throw argumentError('UNKNOWN_ID', operation, 'character', id, 'one that was not removed');
    return entry;
  }
}

/** The result of `createCharacter`: an id of the store. */
class StoredCharacter implements Character {
  readonly #store: CharacterStore;
  readonly #id: number;

  constructor(store: CharacterStore, id: number) {
    this.#store = store;
    this.#id = id;
  }

  get state(): CharacterState {
    return this.#store.stateOf(this.#id);
  }

  move(displacement: Vec3): void {
    this.#store.move(this.#id, displacement);
  }

  advance(velocity: Vec3, seconds: number): void {
    this.#store.advance(this.#id, velocity, seconds);
  }

  jump(speed: number): void {
    this.#store.jump(this.#id, speed);
  }

  set(options: Partial<CharacterOptions>): void {
    this.#store.set(this.#id, options);
  }

  remove(): void {
    this.#store.remove(this.#id);
  }
}

function readState({ description, frame, records, pushes, at, steps }: Entry): CharacterState {
  if (!records || !pushes) {
    const position: Vec3 = [...(description.position as Vec3)];
    return {
      ...{ position, interpolated: position, speed: 0, isStanding: false, isBlockedAbove: false, ground: null },
      ...{ touches: [], depth: 0, steps, frame },
    };
  }
  const flags = records.getUint32(at + layout.OUT_CHARACTER_FLAGS, true);
  const ground = readTouch(records, at + layout.OUT_CHARACTER_GROUND);
  const firstPush = records.getUint32(at + layout.OUT_CHARACTER_FIRST_PUSH, true);
  const count = records.getUint32(at + layout.OUT_CHARACTER_PUSH_COUNT, true);
  return {
    position: readVec3(records, at + layout.OUT_CHARACTER_POSITION),
    interpolated: readVec3(records, at + layout.OUT_CHARACTER_BETWEEN),
    speed: records.getFloat64(at + layout.OUT_CHARACTER_SPEED, true),
    isStanding: (flags & layout.CHARACTER_IS_STANDING) !== 0,
    isBlockedAbove: (flags & layout.CHARACTER_IS_BLOCKED) !== 0,
    ground: ground.object === 0 ? null : ground,
    touches: Array.from({ length: count }, (_, i) => readTouch(pushes, (firstPush + i) * layout.PUSH_BYTES)),
    depth: records.getFloat64(at + layout.OUT_CHARACTER_DEPTH, true),
    steps,
    frame,
  };
}

function readTouch(pushes: DataView, at: number): CharacterTouch {
  return {
    object: pushes.getUint32(at + layout.PUSH_OBJECT, true),
    triangle: pushes.getInt32(at + layout.PUSH_TRIANGLE, true),
    point: readVec3(pushes, at + layout.PUSH_POINT),
    normal: readVec3(pushes, at + layout.PUSH_NORMAL),
  };
}

function readVec3(view: DataView, at: number): Vec3 {
  return [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)];
}
