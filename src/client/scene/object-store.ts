import type { Command, ObjectDescription } from '../../shared/commands.js';
import { slotOf } from '../../shared/ids.js';
import * as layout from '../../shared/layout.js';
import { addTo } from '../../shared/lists-by-key.js';
import type { MeshId, MeshInfo, ObjectId, ObjectOptions, Shape } from '../../shared/types.js';
import { argumentError, checkInteger, checkMatrix } from '../check/validate.js';
import type { FramePump } from '../frame/frame-pump.js';
import type { PoseTable } from '../skin/pose-table.js';
import type { ReplayLog } from '../transforms/replay-log.js';
import { Descriptions } from './descriptions.js';
import { Ids } from './id-table.js';
import type { MeshStore } from './mesh-store.js';
import { areSameDescriptions, describeObject, describeQuery, readObject } from './object-description.js';

function isContinuous({ flags }: ObjectDescription): boolean {
  return (flags & layout.FLAG_CONTINUOUS) !== 0;
}

/** The objects alive, with their descriptions; instances share one. */
export class ObjectStore {
  #table = new Ids();
  #descriptions = new Descriptions();
  readonly #meshes: MeshStore;
  readonly #pump: FramePump;
  readonly #log: ReplayLog;
  readonly #poses: PoseTable;
  #lastDescription: ObjectDescription | undefined;

  constructor(meshes: MeshStore, pump: FramePump, log: ReplayLog, poses: PoseTable) {
    this.#poses = poses;
    this.#meshes = meshes;
    this.#pump = pump;
    this.#log = log;
  }

  get size(): number {
    return this.#table.size;
  }

  /** Checks that an object is alive, in a list the one at `index`. Throws UNKNOWN_ID. */
  check(operation: string, argument: string, id: unknown, index?: number): void {
    if (this.#table.has(id)) return;
    const name = index === undefined ? argument : `${argument}[${index}]`;
    throw argumentError('UNKNOWN_ID', operation, name, id, 'the id of a live object');
  }

  /** Checks that all objects are alive. Throws UNKNOWN_ID. */
  checkAll(operation: string, argument: string, ids: Uint32Array): void {
    const deadIndex = this.#table.findDead(ids);
    if (deadIndex >= 0) this.check(operation, argument, ids[deadIndex], deadIndex);
  }

  /** Returns an object's mesh; null if its shape is not a mesh. Throws UNKNOWN_ID. */
  meshIdOf(operation: string, object: ObjectId): MeshId | null {
    this.check(operation, 'object', object);
    return this.#descriptions.meshOf(slotOf(object)) || null;
  }

  /** Returns the info of an object's mesh; undefined if its shape is not a mesh. Throws UNKNOWN_ID. */
  meshOf(operation: string, id: ObjectId): Readonly<MeshInfo> | undefined {
    this.check(operation, 'id', id);
    return this.#meshes.get(this.#descriptions.meshOf(slotOf(id)));
  }

  /** Returns the layers of an object that is alive. */
  layersOf(id: ObjectId): number {
    return this.#descriptions.layers[slotOf(id)];
  }

  /** Makes room for `count` more objects at once: adding them one by one copies the tables now and then. */
  reserve(count: number): number {
    this.#table.reserve(count);
    const { room } = this.#table;
    this.#descriptions.reserve(room);
    this.#log.reserve(room);
    return room;
  }

  add(operation: string, options: ObjectOptions, count: number): Uint32Array {
    checkInteger(operation, 'count', count, 0, 0xffffffff);
    const given = readObject(operation, options);
    const checkedMatrix = given.matrix === undefined ? undefined : checkMatrix(operation, 'matrix', given.matrix);
    const description = this.#describe(operation, given);
    const commandMatrix = checkedMatrix ?? [];
    this.#table.checkRoom(operation, count);
    const ids = new Uint32Array(count);
    if (count === 0) return ids;
    for (let i = 0; i < count; i++) ids[i] = this.#table.take();
    this.#descriptions.set(ids, description);
    for (let i = 0; i < count; i++) this.#log.add(ids[i], checkedMatrix);
    if (isContinuous(description)) for (let i = 0; i < count; i++) this.#log.setContinuous(ids[i], true);
    this.#meshes.countUse(description.mesh, count);
    if (!this.#appendToLast(ids, description, commandMatrix)) {
      this.#pump.enqueue({
        type: 'addObjects',
        ids: count === 1 ? [ids[0]] : ids.slice(),
        description,
        matrices: commandMatrix,
      });
    }
    return ids;
  }

  /** Changes an object's options. Returns its new matrix, if any. */
  set(operation: string, id: ObjectId, options: Partial<ObjectOptions>): number[] | undefined {
    const given = readObject(operation, options);
    const matrix = given.matrix === undefined ? undefined : checkMatrix(operation, 'matrix', given.matrix);
    this.check(operation, 'id', id);
    const slot = slotOf(id);
    const old = this.#descriptions.at(slot);
    const description = this.#describe(operation, given, old);
    this.check(operation, 'id', id); // a getter of the shape may have removed it
    this.#descriptions.change(slot, description);
    if (matrix) this.#log.set(id, matrix);
    this.#log.setContinuous(id, isContinuous(description));
    this.#meshes.countUse(description.mesh, 1);
    this.#meshes.countUse(old.mesh, -1);
    if (!this.#canKeepPose(old.mesh, description.mesh)) this.#poses.delete(id);
    this.#pump.enqueue({ type: 'setObject', id, description, matrix });
    return matrix;
  }

  /** Returns whether the pose of an object stays when its mesh is replaced by another one, by the worker's rule. */
  #canKeepPose(from: MeshId, to: MeshId): boolean {
    if (from === to) return true;
    const [oldInfo, newInfo] = [this.#meshes.get(from), this.#meshes.get(to)];
    return oldInfo?.bones === newInfo?.bones && oldInfo?.morphs === newInfo?.morphs;
  }

  remove(operation: string, id: ObjectId): void {
    this.check(operation, 'id', id);
    this.#forget(id);
    this.#pump.enqueue({ type: 'removeObject', id });
  }

  #forget(id: ObjectId): void {
    const slot = slotOf(id);
    this.#meshes.countUse(this.#descriptions.meshOf(slot), -1);
    this.#descriptions.delete(slot);
    this.#table.delete(id);
    this.#log.delete(id);
    this.#poses.delete(id);
  }

  /** Moves objects to other layers; ids of removed objects are skipped. */
  setLayers(ids: Uint32Array, layers: number): void {
    const aliveIds = this.#table.alive(ids);
    const layersBySlot = this.#descriptions.layers;
    for (let i = 0; i < aliveIds.length; i++) layersBySlot[slotOf(aliveIds[i])] = layers;
    if (aliveIds.length > 0) this.#pump.enqueue({ type: 'setLayers', ids: aliveIds, layers });
  }

  removeAll(operation: string, ids: Uint32Array): void {
    this.checkAll(operation, 'ids', ids);
    for (let i = 0; i < ids.length; i++) if (this.#table.has(ids[i])) this.#forget(ids[i]); // it may be a duplicate
    const last = this.#pump.lastCommand;
    const isJoined = ids.length === 1 && last?.type === 'removeObjects' && Array.isArray(last.ids);
    if (isJoined) (last.ids as ObjectId[]).push(ids[0]);
    else if (ids.length > 0) {
      this.#pump.enqueue({ type: 'removeObjects', ids: ids.length === 1 ? [ids[0]] : ids.slice() });
    }
  }

  /** Returns the commands that add all objects to a worker that has none; their transforms are sent separately. */
  replay(): Command[] {
    const idsOf = new Map<ObjectDescription, number[]>();
    for (let slot = 0; slot < this.#table.slots; slot++) {
      const id = this.#table.at(slot);
      if (id) addTo(idsOf, this.#descriptions.at(slot), id);
    }
    return Array.from(idsOf, ([description, ids]) => ({ type: 'addObjects', ids, description, matrices: [] }));
  }

  /** Releases all objects. */
  clear(): void {
    this.#table = new Ids();
    this.#descriptions = new Descriptions();
    this.#lastDescription = undefined;
  }

  /** Describes the shape of a query, which need not be an object's. Throws UNSUPPORTED for points and lines. */
  describeQuery(operation: string, shape: Shape | ObjectId): ObjectDescription {
    const isObject = typeof shape === 'number';
    if (isObject) this.check(operation, 'shape', shape);
    const description = isObject
      ? this.#descriptions.at(slotOf(shape))
      : describeQuery(operation, shape, (mesh) => this.#meshes.get(mesh));
    const { topology = 'triangles' } = this.#meshes.get(description.mesh) ?? {};
    if (topology !== 'triangles') {
      throw argumentError(
        'UNSUPPORTED',
        operation,
        'shape',
        shape,
        `a mesh of triangles or another shape, not a mesh of ${topology}`,
      );
    }
    return description;
  }

  /** Makes one description for many similar objects in a row: fewer to keep, and to send. */
  #describe(operation: string, options: Partial<ObjectOptions>, base?: ObjectDescription): ObjectDescription {
    const description = describeObject(operation, options, (mesh) => this.#meshes.get(mesh), base);
    if (!this.#lastDescription || !areSameDescriptions(description, this.#lastDescription))
      this.#lastDescription = description;
    return this.#lastDescription;
  }

  /** Adds a single object to the last command, if that adds objects of the same description and was not sent yet. */
  #appendToLast(ids: Uint32Array, description: ObjectDescription, matrix: number[]): boolean {
    const last = this.#pump.lastCommand;
    if (ids.length !== 1 || last?.type !== 'addObjects' || last.description !== description) return false;
    if (!Array.isArray(last.ids) || last.matrices.length !== last.ids.length * matrix.length) return false;
    last.ids.push(ids[0]);
    last.matrices.push(...matrix);
    return true;
  }
}
