import type { BufferGeometry, Material, Mesh, Object3D } from 'three';
import type { ObjectId } from '../../../shared/types.js';
import type { MovedObjects } from './moved-transforms.js';

/** A Mesh of which nothing is to be done but to send its matrix, while the rest is as it is here. */
export interface SteadyMesh {
  readonly geometry: BufferGeometry;
  readonly material: Material;
  readonly side: number;
  readonly isDrawn: boolean;
  /** In the service: 0 while it is invisible. */
  readonly layers: number;
  /** By the caller, where they are not the object's; else -1. */
  readonly givenLayers: number;
}

/**
 * What the walk compares once a frame of every Mesh, by its number in the order of the walk. 10,000 are compared in a
 * frame, so it is the instructions that count: of Meshes in a row that are of one kind, the kind is looked at once.
 */
export class SteadyMeshes {
  readonly #objects: (Object3D | null)[] = [];
  readonly #kinds: (SteadyMesh | null)[] = [];
  /** 0 for what does not move. */
  readonly #ids: ObjectId[] = [];
  #isStale = false;

  /** From the next walk on nothing of it is true. */
  forget(): void {
    this.#isStale = true;
  }

  /** The same of one alone, wherever it is. */
  forgetOne(object: Object3D): void {
    const number = this.#objects.indexOf(object);
    if (number >= 0) this.#objects[number] = null;
  }

  /** One more comes under this number; all behind it move up. */
  insert(number: number): void {
    this.#objects.splice(number, 0, null);
    this.#kinds.splice(number, 0, null);
    this.#ids.splice(number, 0, 0);
  }

  /** So many from this number on are gone; all behind them move down. */
  remove(number: number, count: number): void {
    this.#objects.splice(number, count);
    this.#kinds.splice(number, count);
    this.#ids.splice(number, count);
  }

  beginWalk(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#objects.fill(null);
    this.#kinds.fill(null);
  }

  /** In the order of the walk; null for what is to be looked at as a whole every time. */
  note(number: number, object: Mesh | null, steady: SteadyMesh | null, id: ObjectId): void {
    const before = number === 0 ? null : this.#kinds[number - 1];
    this.#objects[number] = object;
    this.#kinds[number] = before !== null && steady !== null && areAlike(before, steady) ? before : steady;
    this.#ids[number] = id;
  }

  /**
   * How many of `children` in a row, from the one at `first` on, are as they were noted under the numbers from `number`
   * on; they go to `moved` then. `above`: their ancestors are visible.
   */
  follow(children: readonly Object3D[], first: number, number: number, above: boolean, moved: MovedObjects): number {
    const objects = this.#objects;
    const kinds = this.#kinds;
    const ids = this.#ids;
    const end = Math.min(children.length, first + objects.length - number);
    moved.reserve(end - first);
    const { ids: movedIds, matrices } = moved;
    let { count } = moved;
    let kind: SteadyMesh | null = null;
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

function areAlike(a: SteadyMesh, b: SteadyMesh): boolean {
  return (
    a.geometry === b.geometry &&
    a.material === b.material &&
    a.side === b.side &&
    a.isDrawn === b.isDrawn &&
    a.layers === b.layers &&
    a.givenLayers === b.givenLayers
  );
}
