import type { BufferGeometry, Material, Matrix4, Mesh, Object3D } from 'three';
import { MAX_OBJECTS } from '../../../shared/layout.js';
import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';
import { isCutAs, isSameCut, type MaterialCut } from './material-cut.js';
import { surfaceOf } from './opacity.js';

/** It says what a Mesh is, together with its geometry. While it is still that, nothing is to be done but to send its matrix. */
export interface UnchangedKind {
  readonly material: Material;
  /** What `surfaceOf` says of it. */
  readonly surface: number;
  readonly isDrawn: boolean;
  /** How its material cuts it, if it does. */
  readonly cut?: MaterialCut | undefined;
  /** Tells whether it is visible by itself, whatever its ancestors are. */
  readonly isVisible: boolean;
  /** It is the mask of its layers. */
  readonly layers: number;
}

/** It has a line in a table. */
export interface TableOwner {
  /** What the scene has. */
  readonly object: Object3D;
  /** What is looked at: the object itself, or of a LOD the level that it shows. */
  readonly drawn: Mesh;
  /** It says where the line is, -1 for nowhere. The table alone writes it. */
  place: number;
}

/** The lines are in so many rows at most, with holes between them. */
const MOST_ROWS = 16;
/** So many lines, 2^PART_SHIFT, are a part, which is passed over where all of them rest. */
const PART_SHIFT = 9;
/** As often at most, two or three times a frame, the size is asked for before holes are closed. */
const MOST_CALLS = 8;

/** More than there can be: each has an id of its own. */
const MAX_LINES = MAX_OBJECTS + 1;

/**
 * The Meshes of which nothing is to be done but to send their matrices: flat tables, one line for each, in the order of
 * their ids. A frame goes through them twice: once to see that they are of their kind, and once, in the service, to
 * compare their matrices. Two passes through little each take less than one through all of it: the objects of a scene
 * are far apart in memory, and more of them are under way at once.
 */
export class MeshTable {
  readonly #owners: (TableOwner | null)[] = [];
  readonly #objects: Mesh[] = [];
  /** They are not of the kinds: where each Mesh has its own, another object of ours was read for each, 40 ns a line and not 35. */
  readonly #geometries: BufferGeometry[] = [];
  readonly #worlds: Matrix4[] = [];
  readonly #matrices: number[][] = [];
  readonly #kinds: UnchangedKind[] = [];
  readonly #lists: unknown[][] = [
    ...[this.#owners, this.#objects, this.#geometries, this.#worlds, this.#matrices, this.#kinds],
  ];
  #ids = new Uint32Array(64);
  /** 1 for the holes: to pass over thousands of them is to read bytes in a row. */
  #empty = new Uint8Array(64);
  /** They count the lines in use, those of Meshes that left included, and the first of them that have ascending ids. */
  #count = 0;
  #sorted = 0;
  #holes = 0;
  /** Counts the lines in use that are behind a hole, each of which begins a row: to look for them took a fifth of a frame. */
  #rows = 0;
  /** Counts how often the size was asked for since the last one left. */
  #calls = 0;
  /** And since the last one came. */
  #callsOfNew = 0;
  /** The kinds that were set last: two, as of thousands some may be hidden and some not. Those of 20,000 geometries have one. */
  #last: UnchangedKind | null = null;
  #other: UnchangedKind | null = null;
  /** Counts the lines of each part that rest. */
  #resting = new Uint16Array(1);
  readonly #mostMoved: number;

  /** So many lines are moved at most each time that holes are closed; those of a table that is looked at by turns all are. */
  constructor(mostMoved = Number.POSITIVE_INFINITY) {
    this.#mostMoved = mostMoved;
  }

  /** Tidies up, and answers how many lines there are, with those that are empty. */
  get size(): number {
    if (this.#holes > 0 && this.#isToClose()) this.#close();
    if (this.#sorted < this.#count && this.#holes === 0 && this.#isToMerge()) this.#merge();
    return this.#count;
  }

  /**
   * Tells whether the holes are to be closed. Where thousands leave in slices, to do so in each frame would be to move all
   * others in each: it waits until they are most of the lines, or nobody has left for a while.
   */
  #isToClose(): boolean {
    if (this.#areMostNew || 2 * this.#holes > this.#count || ++this.#calls > MOST_CALLS) return true;
    return this.#rows > MOST_ROWS;
  }

  /**
   * Tells whether those behind, which are not in order, are to be merged into the others. Where thousands come in slices
   * whose ids others had before, to do so in each frame was a third of it: it waits as the closing of holes does.
   */
  #isToMerge(): boolean {
    return this.#areMostNew || ++this.#callsOfNew > MOST_CALLS;
  }

  /** Tells whether more lines are behind those in order than there are of these. */
  get #areMostNew(): boolean {
    return 2 * this.#sorted < this.#count;
  }

  /** Notes what a Mesh is from now on, which is there already or not. */
  set(owner: TableOwner, id: ObjectId, geometry: BufferGeometry, kind: UnchangedKind): void {
    if (owner.place >= 0 && this.#ids[owner.place] !== id) this.remove(owner);
    const isNew = owner.place < 0;
    const n = isNew ? this.#count++ : owner.place;
    if (n === this.#ids.length) {
      this.#ids = grown(this.#ids);
      this.#empty = grown(this.#empty);
    }
    // Those in a row that are of one kind share it: it is looked at once for all of them.
    if (this.#last === null || !areAlike(this.#last, kind)) {
      const other = this.#last;
      this.#last = this.#other !== null && areAlike(this.#other, kind) ? this.#other : kind;
      this.#other = other;
    }
    const { drawn: object } = owner;
    this.#owners[n] = owner;
    this.#objects[n] = object;
    this.#geometries[n] = geometry;
    this.#worlds[n] = object.matrixWorld;
    this.#matrices[n] = object.matrixWorld.elements;
    this.#kinds[n] = this.#last;
    this.#ids[n] = id;
    if (isNew) this.#callsOfNew = 0;
    if (isNew && n > 0 && this.#empty[n - 1] === 1) this.#rows++;
    if (isNew && this.#sorted === n && (n === 0 || this.#ids[n - 1] < id)) this.#sorted++;
    owner.place = n;
  }

  remove(owner: TableOwner): void {
    if (owner.place < 0) return;
    const { place } = owner;
    const empty = this.#empty;
    if (place > 0 && empty[place - 1] === 1) this.#rows--;
    if (place + 1 < this.#count && empty[place + 1] === 0) this.#rows++;
    this.#leaveEmpty(place);
    this.#holes++;
    this.#calls = 0;
    owner.place = -1;
  }

  /**
   * Has a line rest for this frame, as its Mesh has just been hidden: to hide thousands is the work of a frame by itself.
   * Some that rest are looked at all the same.
   */
  rest(place: number): void {
    const part = place >>> PART_SHIFT;
    if (part >= this.#resting.length) this.#resting = grown(this.#resting, part + 1);
    this.#resting[part]++;
  }

  /** Has no line rest any more. */
  wake(): void {
    this.#resting.fill(0);
  }

  /** Answers the id in a line. */
  idIn(place: number): ObjectId {
    return this.#ids[place];
  }

  /** Answers whether the numbers of its matrix are still in the array that they were in. */
  isInPlace({ place, drawn: object }: TableOwner): boolean {
    return this.#matrices[place] === object.matrixWorld.elements;
  }

  /** Lists those of the lines from `first` to before `end` that are of another kind than when they were set, and do not rest. */
  findChanged(first: number, end: number, changed: TableOwner[]): void {
    this.#forEachRow(first, end, (from, to) => this.#findIn(from, to, changed));
  }

  /** Hands the matrices of these lines, but of those that rest, to the service, for the update() that follows in the same task. */
  send(service: CollisionService, first: number, end: number): void {
    this.#forEachRow(first, end, (from, to) => service.moveObjects(this.#ids, this.#matrices, from, to));
  }

  /**
   * Calls `visit` with the first and the end of lines in a row, without holes and without those that rest. Rows have an
   * end now and then: where code has to be compiled anew in the midst of one, this goes on slowly up to its end.
   */
  #forEachRow(first: number, end: number, visit: (first: number, end: number) => void): void {
    const empty = this.#empty;
    const last = Math.min(end, this.#count);
    for (let n = first; n < last; ) {
      const part = n >>> PART_SHIFT;
      const next = (part + 1) << PART_SHIFT;
      const partEnd = Math.min(last, next);
      if (this.#resting[part] === next - n) {
        n = next;
        continue;
      }
      while (n < partEnd && empty[n] === 1) n++;
      const row = n;
      while (n < partEnd && empty[n] === 0) n++;
      if (n > row) visit(row, n);
    }
  }

  #findIn(first: number, end: number, changed: TableOwner[]): void {
    const found = changed.length;
    try {
      this.#findOthers(first, end, changed);
    } catch {
      // One of them cannot be read, which is found one by one; `update` says what is wrong with it.
      changed.length = found;
      if (end - first === 1) changed.push(this.#owners[first]!);
      else for (let n = first; n < end; n++) this.#findIn(n, n + 1, changed);
    }
  }

  #findOthers(first: number, end: number, changed: TableOwner[]): void {
    const objects = this.#objects;
    const geometries = this.#geometries;
    const worlds = this.#worlds;
    const kinds = this.#kinds;
    for (let n = first; n < end; ) {
      // Those in a row that are of one kind are a loop of their own, in which nothing of the kind is read again.
      const kind = kinds[n];
      const { material, isVisible, layers: mask } = kind;
      const isSame =
        surfaceOf(material) === kind.surface && material.visible === kind.isDrawn && isCutAs(material, kind.cut);
      for (; n < end && kinds[n] === kind; n++) {
        const object = objects[n];
        if (
          object.visible !== isVisible ||
          object.geometry !== geometries[n] ||
          object.material !== material ||
          object.matrixWorld !== worlds[n] ||
          object.layers?.mask !== mask || // whatever an app has put there
          !isSame
        ) {
          changed.push(this.#owners[n]!);
        }
      }
    }
  }

  /** Moves lines into the holes before them, as many as may be at once. */
  #close(): void {
    this.wake();
    const empty = this.#empty;
    const most = this.#areMostNew ? Number.POSITIVE_INFINITY : this.#mostMoved;
    let to = empty.indexOf(1);
    let n = to;
    let sorted = Math.min(to, this.#sorted);
    for (let moved = 0; n < this.#count && moved < most; n++) {
      if (empty[n] === 1) continue;
      this.#move(n, to);
      this.#leaveEmpty(n);
      empty[to++] = 0;
      if (n < this.#sorted) sorted++;
      moved++;
    }
    if (n === this.#count) {
      this.#cut(to);
      this.#sorted = sorted;
      this.#holes = this.#rows = 0;
    } else {
      if (n > this.#sorted) this.#sorted = sorted;
      this.#rows = 0;
      for (let i = 1; i < this.#count; i++) if (empty[i - 1] > empty[i]) this.#rows++;
    }
  }

  /** Merges the few that were added behind into those that are in order. */
  #merge(): void {
    this.wake();
    const first = this.#sorted;
    const added = this.#lists.map((list) => list.slice(first));
    // An id and a number below 2^21 in each: numbers are sorted far sooner than objects.
    const order = Float64Array.from(added[0], (_, i) => this.#ids[first + i] * MAX_LINES + i).sort();
    let n = first - 1;
    for (let to = this.#count - 1, last = order.length - 1; last >= 0; to--) {
      const id = Math.floor(order[last] / MAX_LINES);
      if (n >= 0 && this.#ids[n] > id) {
        this.#move(n--, to);
        continue;
      }
      const i = order[last--] - id * MAX_LINES;
      for (let k = 0; k < added.length; k++) this.#lists[k][to] = added[k][i];
      this.#ids[to] = id;
      this.#owners[to]!.place = to;
    }
    this.#sorted = this.#count;
  }

  #move(from: number, to: number): void {
    for (const list of this.#lists) list[to] = list[from];
    this.#ids[to] = this.#ids[from];
    this.#owners[to]!.place = to;
  }

  /** Makes a hole of a line. What was in it is not held. */
  #leaveEmpty(n: number): void {
    for (const list of this.#lists) list[n] = null;
    this.#empty[n] = 1;
  }

  /** Lets go of all lines from that number on. */
  #cut(count: number): void {
    this.#empty.fill(0, 0, this.#count);
    this.#count = count;
    for (const list of this.#lists) list.length = count;
  }
}

function areAlike(a: UnchangedKind, b: UnchangedKind): boolean {
  return (
    a.material === b.material &&
    a.surface === b.surface &&
    a.isDrawn === b.isDrawn &&
    isSameCut(a.cut, b.cut) &&
    a.isVisible === b.isVisible &&
    a.layers === b.layers
  );
}
