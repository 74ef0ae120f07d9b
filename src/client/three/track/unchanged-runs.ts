import type { BufferGeometry, Material, Mesh, Object3D } from 'three';
import type { ObjectId } from '../../../shared/types.js';
import type { MovedTransforms } from './moved-transforms.js';

/** What a Mesh is, of which nothing is to be done but to send its matrix while it is still that. */
export interface UnchangedKind {
  readonly geometry: BufferGeometry;
  readonly material: Material;
  readonly side: number;
  readonly isDrawn: boolean;
  /** In the service: 0 while it is invisible. */
  readonly layers: number;
  /** The layers that the caller gave instead of the object's, or -1. */
  readonly givenLayers: number;
}

/**
 * Remembers what the walk compares once a frame of every Mesh, by its number in the order of the walk. 10,000 are
 * compared in a frame, so it is the instructions that count: of Meshes in a row that are of one kind, the kind is
 * looked at once.
 */
export class UnchangedRuns {
  readonly #objects: (Object3D | null)[] = [];
  readonly #kinds: (UnchangedKind | null)[] = [];
  /** 0 for what does not move. */
  readonly #ids: ObjectId[] = [];
  #isStale = false;
  /** The objects that are forgotten from the next walk on. */
  readonly #forgotten = new Set<Object3D>();

  /** Forgets from the next walk on all that was remembered. */
  forget(): void {
    this.#isStale = true;
  }

  /**
   * Forgets a single object from the next walk on, wherever it is: of thousands in a row, without a search for each.
   */
  forgetOne(object: Object3D): void {
    this.#forgotten.add(object);
  }

  /** Makes room for one Mesh more under this number; all behind it move up. */
  insert(number: number): void {
    this.#objects.splice(number, 0, null);
    this.#kinds.splice(number, 0, null);
    this.#ids.splice(number, 0, 0);
  }

  /** Removes so many Meshes from this number on; all behind them move down. */
  remove(number: number, count: number): void {
    this.#objects.splice(number, count);
    this.#kinds.splice(number, count);
    this.#ids.splice(number, count);
  }

  beginWalk(): void {
    const forgotten = this.#forgotten;
    if (this.#isStale) {
      this.#objects.fill(null);
      this.#kinds.fill(null);
    } else if (forgotten.size > 0) {
      const objects = this.#objects;
      for (let n = 0; n < objects.length; n++) {
        const object = objects[n];
        if (object !== null && forgotten.has(object)) objects[n] = null;
      }
    }
    this.#isStale = false;
    forgotten.clear();
  }

  /** Remembers a Mesh in the order of the walk; null for what is to be looked at as a whole every time. */
  remember(number: number, object: Mesh | null, kind: UnchangedKind | null, id: ObjectId): void {
    const before = number === 0 ? null : this.#kinds[number - 1];
    this.#objects[number] = object;
    this.#kinds[number] = before !== null && kind !== null && areAlike(before, kind) ? before : kind;
    this.#ids[number] = id;
  }

  /**
   * Counts the `children` in a row, from the one at `first` on, that are as they were remembered under the numbers from
   * `number` on, and adds them to `moved`. `above`: their ancestors are visible.
   */
  follow(children: readonly Object3D[], first: number, number: number, above: boolean, moved: MovedTransforms): number {
    const objects = this.#objects;
    const kinds = this.#kinds;
    const ids = this.#ids;
    const end = Math.min(children.length, first + objects.length - number);
    moved.reserve(end - first);
    const { ids: movedIds, matrices } = moved;
    let { count } = moved;
    let kind: UnchangedKind | null = null;
    let geometry: BufferGeometry | null = null;
    let material: Material | null = null;
    let layers = 0;
    let givenLayers = -1;
    let i = first;
    for (let n = number; i < end; i++, n++) {
      const child = children[i] as Mesh;
      // What is below it has numbers of its own.
      if (child !== objects[n] || child.children.length !== 0) break;
      if (kind !== kinds[n]) {
        kind = kinds[n]!;
        ({ geometry, material, layers, givenLayers } = kind);
        if (material.side !== kind.side || material.visible !== kind.isDrawn) break;
      }
      if (child.geometry !== geometry || child.material !== material) break;
      const seen = above && child.visible ? (givenLayers < 0 ? child.layers.mask : givenLayers) >>> 0 : 0;
      if (seen !== layers) break;
      const id = ids[n];
      if (id === 0) continue;
      movedIds[count] = id;
      matrices[count] = child.matrixWorld.elements;
      count++;
    }
    moved.count = count;
    return i - first;
  }
}

function areAlike(a: UnchangedKind, b: UnchangedKind): boolean {
  return (
    a.geometry === b.geometry &&
    a.material === b.material &&
    a.side === b.side &&
    a.isDrawn === b.isDrawn &&
    a.layers === b.layers &&
    a.givenLayers === b.givenLayers
  );
}
