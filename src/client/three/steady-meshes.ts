import type { BufferGeometry, Material, Mesh, Object3D } from 'three';
import type { ObjectId } from '../../shared/types.js';
import type { MovedObjects } from './moved-objects.js';

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
  /** 0 for what does not move. */
  readonly id: ObjectId;
}

/**
 * What the walk compares once a frame of every Mesh, by its number in the order of the walk. In arrays, as the caches are
 * what that waits for: an object of our own for each would be as much again as what is read of three's.
 */
export class SteadyMeshes {
  readonly #objects: (Object3D | null)[] = [];
  readonly #geometries: (BufferGeometry | null)[] = [];
  readonly #materials: (Material | null)[] = [];
  readonly #sides: number[] = [];
  readonly #drawn: boolean[] = [];
  readonly #ids: number[] = [];
  readonly #layers: number[] = [];
  readonly #givenLayers: number[] = [];
  #isStale = false;

  /** From the next walk on nothing of it is true. */
  forget(): void {
    this.#isStale = true;
  }

  beginWalk(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#objects.fill(null);
    this.#geometries.fill(null);
    this.#materials.fill(null);
  }

  /** In the order of the walk. */
  note(number: number, object: Mesh | null, steady: SteadyMesh | null): void {
    this.#objects[number] = object;
    this.#geometries[number] = steady?.geometry ?? null;
    this.#materials[number] = steady?.material ?? null;
    this.#sides[number] = steady?.side ?? 0;
    this.#drawn[number] = steady?.isDrawn ?? false;
    this.#ids[number] = steady?.id ?? 0;
    this.#layers[number] = steady?.layers ?? 0;
    this.#givenLayers[number] = steady?.givenLayers ?? -1;
  }

  /** Whether it is as it was noted; it goes to `moved` then. `above`: its ancestors are visible. */
  follow(number: number, object: Object3D, above: boolean, moved: MovedObjects): boolean {
    if (number >= this.#objects.length || this.#objects[number] !== object) return false;
    const { geometry, material, visible, layers, matrixWorld } = object as Mesh;
    if (geometry !== this.#geometries[number] || material !== this.#materials[number]) return false;
    const { side, visible: isDrawn } = material as Material;
    if (side !== this.#sides[number] || isDrawn !== this.#drawn[number]) return false;
    const given = this.#givenLayers[number];
    const seen = above && visible ? (given < 0 ? layers.mask : given) >>> 0 : 0;
    if (seen !== this.#layers[number]) return false;
    const id = this.#ids[number];
    if (id !== 0) moved.add(id, matrixWorld.elements);
    return true;
  }
}
