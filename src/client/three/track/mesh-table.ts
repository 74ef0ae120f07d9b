import type { BufferGeometry, Material, Matrix4, Mesh, Object3D } from 'three';
import { MAX_OBJECTS } from '../../../shared/layout.js';
import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';
import { isCutUnchanged, isSameCut, type MaterialCut } from './material-cut.js';
import { surfaceKeyOf } from './opacity.js';

/** What a Mesh is, together with its geometry. As long as that stays the same, only its matrix has to be sent. */
export interface MeshKind {
  readonly material: Material;
  /** The result of `surfaceKeyOf` for the material. */
  readonly surface: number;
  readonly isDrawn: boolean;
  /** How its material cuts it, if it does. */
  readonly cut?: MaterialCut | undefined;
  /** Whether the object itself is visible, whatever its ancestors are. */
  readonly isVisible: boolean;
  /** The mask of its layers. */
  readonly layers: number;
}

/** An object that has a line in a table. */
export interface TableOwner {
  /** The object in the scene. */
  readonly object: Object3D;
  /** What is checked: the object itself, or the level that a LOD shows. */
  readonly drawn: Mesh;
  /** The number of its line, -1 for none. Only the table writes it. */
  place: number;
}

/** Most rows: a row is a run of lines between holes. */
const MAX_ROWS = 16;
/** A part is 2^PART_SHIFT lines, which are skipped if all of them rest. */
const PART_SHIFT = 9;
/** How often the size is read at most, two or three times a frame, before holes are closed. */
const MAX_SIZE_READS = 8;

/** More lines than there can be: each has its own id. */
const MAX_LINES = MAX_OBJECTS + 1;

/**
 * The Meshes for which only matrices have to be sent: flat tables, one line per Mesh, in the order of their ids. A frame makes
 * two passes over them: one to check that they are of the same kind as before, and one, in the service, to compare their
 * matrices. Two passes over little memory each take less than one over all of it: the objects of a scene are far apart in
 * memory, and two passes have more loads in flight at once.
 */
export class MeshTable {
  readonly #owners: (TableOwner | null)[] = [];
  readonly #objects: Mesh[] = [];
  /**
   * Not part of the kinds: if each Mesh has its own geometry, one more object of ours was read for each, 40 ns a line and not
   * 35.
   */
  readonly #geometries: BufferGeometry[] = [];
  readonly #worldMatrices: Matrix4[] = [];
  readonly #matrixElements: number[][] = [];
  readonly #kinds: MeshKind[] = [];
  readonly #columns: unknown[][] = [
    ...[this.#owners, this.#objects, this.#geometries, this.#worldMatrices, this.#matrixElements, this.#kinds],
  ];
  #ids = new Uint32Array(64);
  /** 1 for holes: to skip thousands of them, contiguous bytes are read. */
  #isHole = new Uint8Array(64);
  /** Lines in use, including those of removed Meshes, and how many of the first ones have ascending ids. */
  #count = 0;
  #sortedCount = 0;
  #holeCount = 0;
  /** Lines in use right after a hole, each of which begins a row: to search for them took a fifth of a frame. */
  #rowCount = 0;
  /** How often the size was read since the last removal. */
  #readsSinceRemoval = 0;
  /** How often it was read since the last addition. */
  #readsSinceAddition = 0;
  /**
   * The last two kinds that were set, as some of thousands may be hidden and some not. Those of 20,000 geometries are one kind.
   */
  #lastKind: MeshKind | null = null;
  #previousKind: MeshKind | null = null;
  /** How many lines of each part rest. */
  #restingCounts = new Uint16Array(1);
  readonly #maxMoved: number;

  /** `maxMoved`: the most lines to move whenever holes are closed. A table that is checked in turn moves all. */
  constructor(maxMoved = Number.POSITIVE_INFINITY) {
    this.#maxMoved = maxMoved;
  }

  /** Tidies up, and returns the number of lines, including holes. */
  get size(): number {
    if (this.#holeCount > 0 && this.#shouldClose()) this.#closeHoles();
    if (this.#sortedCount < this.#count && this.#holeCount === 0 && this.#shouldMerge()) this.#mergeUnsorted();
    return this.#count;
  }

  /**
   * Returns whether to close the holes. If thousands are removed in slices, closing holes in each frame would move all the
   * other lines each time: it waits until most lines are holes, or nothing was removed for a while.
   */
  #shouldClose(): boolean {
    if (this.#areMostNew || 2 * this.#holeCount > this.#count || ++this.#readsSinceRemoval > MAX_SIZE_READS)
      return true;
    return this.#rowCount > MAX_ROWS;
  }

  /**
   * Returns whether to merge the unsorted lines at the end into the others. If thousands with reused ids are added in slices,
   * merging in each frame took a third of it: it waits as the closing of holes does.
   */
  #shouldMerge(): boolean {
    return this.#areMostNew || ++this.#readsSinceAddition > MAX_SIZE_READS;
  }

  /** Whether there are more unsorted lines than sorted ones. */
  get #areMostNew(): boolean {
    return 2 * this.#sortedCount < this.#count;
  }

  /** Sets what a Mesh is from now on; adds a line if it has none. */
  set(owner: TableOwner, id: ObjectId, geometry: BufferGeometry, kind: MeshKind): void {
    if (owner.place >= 0 && this.#ids[owner.place] !== id) this.remove(owner);
    const isNew = owner.place < 0;
    const n = isNew ? this.#count++ : owner.place;
    if (n === this.#ids.length) {
      this.#ids = grown(this.#ids);
      this.#isHole = grown(this.#isHole);
    }
    // Consecutive lines of equal kinds share one kind, which is then checked once for all of them.
    if (this.#lastKind === null || !isSameKind(this.#lastKind, kind)) {
      const lastKind = this.#lastKind;
      this.#lastKind = this.#previousKind !== null && isSameKind(this.#previousKind, kind) ? this.#previousKind : kind;
      this.#previousKind = lastKind;
    }
    const { drawn: object } = owner;
    this.#owners[n] = owner;
    this.#objects[n] = object;
    this.#geometries[n] = geometry;
    this.#worldMatrices[n] = object.matrixWorld;
    this.#matrixElements[n] = object.matrixWorld.elements;
    this.#kinds[n] = this.#lastKind;
    this.#ids[n] = id;
    if (isNew) this.#readsSinceAddition = 0;
    if (isNew && n > 0 && this.#isHole[n - 1] === 1) this.#rowCount++;
    if (isNew && this.#sortedCount === n && (n === 0 || this.#ids[n - 1] < id)) this.#sortedCount++;
    owner.place = n;
  }

  remove(owner: TableOwner): void {
    if (owner.place < 0) return;
    const { place: line } = owner;
    const isHole = this.#isHole;
    if (line > 0 && isHole[line - 1] === 1) this.#rowCount--;
    if (line + 1 < this.#count && isHole[line + 1] === 0) this.#rowCount++;
    this.#makeHole(line);
    this.#holeCount++;
    this.#readsSinceRemoval = 0;
    owner.place = -1;
  }

  /**
   * Skips a line for this frame, since its Mesh has just been hidden: hiding thousands of Meshes is enough work for one frame.
   * Some resting lines are checked nevertheless.
   */
  rest(line: number): void {
    const part = line >>> PART_SHIFT;
    if (part >= this.#restingCounts.length) this.#restingCounts = grown(this.#restingCounts, part + 1);
    this.#restingCounts[part]++;
  }

  /** Makes no line rest any more. */
  wake(): void {
    this.#restingCounts.fill(0);
  }

  /** Returns the id in a line. */
  idIn(line: number): ObjectId {
    return this.#ids[line];
  }

  /** Returns whether the numbers of its matrix are still in the same array. */
  isInPlace({ place, drawn: object }: TableOwner): boolean {
    return this.#matrixElements[place] === object.matrixWorld.elements;
  }

  /** Lists those of lines [first, end) that are of another kind than when they were set, except resting ones. */
  findChanged(first: number, end: number, changed: TableOwner[]): void {
    this.#forEachRow(first, end, (from, to) => this.#findChangedIn(from, to, changed));
  }

  /** Hands the matrices of these lines, except resting ones, to the service, for the update() that follows in the same task. */
  send(service: CollisionService, first: number, end: number): void {
    this.#forEachRow(first, end, (from, to) => service.moveObjects(this.#ids, this.#matrixElements, from, to));
  }

  /**
   * Calls `visit` with ranges of lines without holes and without resting ones. Ranges end now and then (at parts): if code has
   * to be recompiled in the middle of a range, the rest of that range runs slowly.
   */
  #forEachRow(first: number, end: number, visit: (first: number, end: number) => void): void {
    const isHole = this.#isHole;
    const last = Math.min(end, this.#count);
    for (let n = first; n < last; ) {
      const part = n >>> PART_SHIFT;
      const next = (part + 1) << PART_SHIFT;
      const partEnd = Math.min(last, next);
      if (this.#restingCounts[part] === next - n) {
        n = next;
        continue;
      }
      while (n < partEnd && isHole[n] === 1) n++;
      const row = n;
      while (n < partEnd && isHole[n] === 0) n++;
      if (n > row) visit(row, n);
    }
  }

  #findChangedIn(first: number, end: number, changed: TableOwner[]): void {
    const countBefore = changed.length;
    try {
      this.#compareLines(first, end, changed);
    } catch {
      // One of them cannot be read. This finds out which; `update` reports what is wrong with it.
      changed.length = countBefore;
      if (end - first === 1) changed.push(this.#owners[first]!);
      else for (let n = first; n < end; n++) this.#findChangedIn(n, n + 1, changed);
    }
  }

  #compareLines(first: number, end: number, changed: TableOwner[]): void {
    const objects = this.#objects;
    const geometries = this.#geometries;
    const worldMatrices = this.#worldMatrices;
    const kinds = this.#kinds;
    for (let n = first; n < end; ) {
      // Consecutive lines of one kind have a loop of their own, in which nothing of the kind is read again.
      const kind = kinds[n];
      const { material, isVisible, layers: mask } = kind;
      const isSame =
        surfaceKeyOf(material) === kind.surface &&
        material.visible === kind.isDrawn &&
        isCutUnchanged(material, kind.cut);
      for (; n < end && kinds[n] === kind; n++) {
        const object = objects[n];
        if (
          object.visible !== isVisible ||
          object.geometry !== geometries[n] ||
          object.material !== material ||
          object.matrixWorld !== worldMatrices[n] ||
          object.layers?.mask !== mask || // an app may have put anything there
          !isSame
        ) {
          changed.push(this.#owners[n]!);
        }
      }
    }
  }

  /** Moves lines into the holes before them, as many as allowed at once. */
  #closeHoles(): void {
    this.wake();
    const isHole = this.#isHole;
    const maxLines = this.#areMostNew ? Number.POSITIVE_INFINITY : this.#maxMoved;
    let to = isHole.indexOf(1);
    let n = to;
    let sortedCount = Math.min(to, this.#sortedCount);
    for (let moved = 0; n < this.#count && moved < maxLines; n++) {
      if (isHole[n] === 1) continue;
      this.#moveLine(n, to);
      this.#makeHole(n);
      isHole[to++] = 0;
      if (n < this.#sortedCount) sortedCount++;
      moved++;
    }
    if (n === this.#count) {
      this.#truncate(to);
      this.#sortedCount = sortedCount;
      this.#holeCount = this.#rowCount = 0;
    } else {
      if (n > this.#sortedCount) this.#sortedCount = sortedCount;
      this.#rowCount = 0;
      for (let i = 1; i < this.#count; i++) if (isHole[i - 1] > isHole[i]) this.#rowCount++;
    }
  }

  /** Merges the few lines that were added at the end into the sorted ones. */
  #mergeUnsorted(): void {
    this.wake();
    const first = this.#sortedCount;
    const addedColumns = this.#columns.map((column) => column.slice(first));
    // An id and a number below 2^21 are packed into each: numbers are sorted far faster than objects.
    const order = Float64Array.from(addedColumns[0], (_, i) => this.#ids[first + i] * MAX_LINES + i).sort();
    let n = first - 1;
    for (let to = this.#count - 1, last = order.length - 1; last >= 0; to--) {
      const id = Math.floor(order[last] / MAX_LINES);
      if (n >= 0 && this.#ids[n] > id) {
        this.#moveLine(n--, to);
        continue;
      }
      const i = order[last--] - id * MAX_LINES;
      for (let k = 0; k < addedColumns.length; k++) this.#columns[k][to] = addedColumns[k][i];
      this.#ids[to] = id;
      this.#owners[to]!.place = to;
    }
    this.#sortedCount = this.#count;
  }

  #moveLine(from: number, to: number): void {
    for (const column of this.#columns) column[to] = column[from];
    this.#ids[to] = this.#ids[from];
    this.#owners[to]!.place = to;
  }

  /** Turns a line into a hole, which holds no references. */
  #makeHole(n: number): void {
    for (const column of this.#columns) column[n] = null;
    this.#isHole[n] = 1;
  }

  /** Drops all lines from that number on. */
  #truncate(count: number): void {
    this.#isHole.fill(0, 0, this.#count);
    this.#count = count;
    for (const column of this.#columns) column.length = count;
  }
}

function isSameKind(a: MeshKind, b: MeshKind): boolean {
  return (
    a.material === b.material &&
    a.surface === b.surface &&
    a.isDrawn === b.isDrawn &&
    isSameCut(a.cut, b.cut) &&
    a.isVisible === b.isVisible &&
    a.layers === b.layers
  );
}
