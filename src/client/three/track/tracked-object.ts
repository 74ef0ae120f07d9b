import type { BufferGeometry, InstancedMesh, Material, Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ObjectId, ObjectOptions, Shape } from '../../../shared/types.js';
import { affineError } from '../../check/validate.js';
import { isAffine, isInvertibleAt } from '../../transforms/affine.js';
import { isDrawn, MaterialLook, type PartPlan, planParts } from './material-plan.js';
import { Part, type PartOptions, type TrackerContext } from './stand-in.js';
import type { SteadyMeshes } from './unchanged-runs.js';

/** What the service shall know of an object beyond what the scene says. */
export interface SceneObjectOptions extends Partial<Omit<ObjectOptions, 'shape' | 'matrix'>> {
  /**
   * Its triangles are a `solid` mesh: they must be closed, or else the object is `untracked`. Default false. A shape that
   * stands for them says so itself.
   */
  solid?: boolean;
}

/** What the caller wishes beyond what the scene says. */
export interface ObjectWishes {
  /** Stands for the object instead of its triangles. */
  shape(object: Mesh): Shape | null;
  options(object: Mesh): SceneObjectOptions;
}

/** Errors that leave one object out; all others are about the service. */
export function isAboutOneObject(error: unknown): error is CollisionError {
  return CollisionError.is(error) && ['INVALID_ARGUMENT', 'BAD_DATA', 'UNSUPPORTED'].includes(error.code);
}

const NO_MATRICES: Float32Array = new Float32Array(0);

/**
 * A Mesh or InstancedMesh in the service. `update` compares it with what was sent before and sends what changed.
 * Its ids stay the same while it is in the scene: what is not to be seen is in no layer.
 */
export class TrackedObject {
  readonly object: Mesh;
  parts: Part[] = [];
  /** Why it is not in the service. */
  error: CollisionError | null = null;

  readonly #context: TrackerContext;
  readonly #instanced: InstancedMesh | null;
  readonly #isStatic: boolean;

  // As seen last. `update` compares 10,000 times a frame: what it needs is here and not farther away.
  #geometry: BufferGeometry | null = null;
  #material: Mesh['material'] | null = null;
  #side = -1;
  #isDrawn = true;
  /** Of an array of materials. */
  #look: MaterialLook | null = null;
  #revision = -1;
  #count = 0;
  #layers = 0;
  #isPlaced = false;
  /** The only id of its only part, where there is nothing to do but to send the matrix while all else is as before; else 0. */
  #mover: ObjectId = 0;
  #instanceVersion = -1;
  /** Of an InstancedMesh: its world matrix. */
  readonly #parent = new Float64Array(16);
  #matrices = NO_MATRICES;

  /** Instances whose matrix has no inverse; three does not show them either. */
  #hidden: Set<number> | null = null;
  readonly #wishes: ObjectWishes;
  readonly #options: Omit<SceneObjectOptions, 'solid'>;
  readonly #givenLayers: number | undefined;
  readonly #isSolid: boolean;

  constructor(context: TrackerContext, object: Mesh, wishes: ObjectWishes) {
    this.#context = context;
    this.#wishes = wishes;
    const { solid = false, ...options } = wishes.options(object);
    this.#options = options;
    this.#isSolid = solid;
    this.#instanced = 'isInstancedMesh' in object ? (object as InstancedMesh) : null;
    this.#givenLayers = options.layers;
    this.#isStatic = this.#options.motion === 'static';
    this.object = object;
  }

  /** Whether something is still to be built. */
  get pending(): boolean {
    return this.parts.some((part) => part.pending);
  }

  /** Once a frame; `visible`: the object and all its ancestors are. */
  update(visible: boolean): void {
    const { object } = this;
    const { meshes, moved } = this.#context;
    const { revision } = meshes;
    const layers = visible ? (this.#givenLayers ?? object.layers.mask) >>> 0 : 0;
    const isPlanned = object.geometry === this.#geometry && this.#looksTheSame(object.material);
    if (isPlanned && layers === this.#layers && revision === this.#revision && this.#mover !== 0) {
      if (!this.#isStatic) moved.add(this.#mover, object.matrixWorld.elements);
      return;
    }
    const instanced = this.#instanced;
    const count = instanced === null ? 1 : Math.min(instanced.count, instanced.instanceMatrix.count);
    if (!isPlanned) this.#plan();
    if (layers !== this.#layers) this.#setLayers(layers);
    if (!isPlanned || revision !== this.#revision || count !== this.#count) this.#stand(count);
    this.#revision = revision;
    if (instanced === null) this.#move();
    else this.#moveInstances(instanced);
  }

  note(steady: SteadyMeshes, number: number): void {
    const { object } = this;
    // What has children is never followed: nothing is made for it in every frame.
    if (this.#mover === 0 || this.#look !== null || object.children.length > 0) {
      steady.note(number, null, null, 0);
      return;
    }
    const kind = {
      geometry: this.#geometry!,
      material: this.#material as Material,
      side: this.#side,
      isDrawn: this.#isDrawn,
      layers: this.#layers,
      givenLayers: this.#givenLayers === undefined ? -1 : this.#givenLayers >>> 0,
    };
    steady.note(number, object, kind, this.#isStatic ? 0 : this.#mover);
  }

  /** The service did not take the matrix of an instance. It may have got a better one since. */
  reject(index: number): CollisionError | null {
    if (index >= this.#count || this.#hidden?.has(index) === true) return null;
    if (this.#instanced !== null && !isAffine(this.#matrices, 16 * index)) {
      return affineError('trackScene', `instance ${index} of '${this.object.name}'`, this.#matrices, 16 * index);
    }
    if (!this.#isPlaceable(index)) this.#hide(index);
    return null;
  }

  remove(): void {
    for (const part of this.parts) part.remove();
    this.parts = [];
    this.#mover = 0;
  }

  #looksTheSame(material: Mesh['material']): boolean {
    if (this.#look !== null) return this.#look.equals(material);
    if (material !== this.#material) return false;
    const { side, visible } = material as Material;
    return side === this.#side && visible === this.#isDrawn;
  }

  /** What it takes in the service, when it is first seen or its geometry or materials are others than before. */
  #plan(): void {
    const { geometry, material } = this.object;
    const plans = planParts(geometry, material);
    const shape = this.#wishes.shape(this.object);
    this.#geometry = geometry;
    this.#material = material;
    this.#isDrawn = isDrawn(material);
    this.#look = Array.isArray(material) ? new MaterialLook(material) : null;
    if (!Array.isArray(material)) this.#side = material.side;
    for (const part of this.parts.splice(plans.length)) part.remove();
    plans.forEach((plan, i) => {
      this.parts[i] ??= new Part(this.#context, this, plan);
      this.parts[i].aim(plan, geometry, shape);
    });
  }

  #stand(count: number): void {
    this.error = null;
    this.#mover = 0;
    for (let i = count; i < this.#count; i++) this.#hidden?.delete(i);
    this.#count = count;
    for (const part of this.parts) {
      try {
        if (part.stand(count, this.#optionsOf(part.plan), this.#isSolid)) this.#isPlaced = false;
      } catch (cause) {
        // A shape or an option that the service refuses.
        if (!isAboutOneObject(cause)) throw cause;
        this.error = cause;
      }
      this.error ??= part.error;
    }
  }

  #optionsOf(plan: PartPlan): PartOptions {
    const { pickable = true, cullable = true } = this.#options;
    const options: PartOptions = {
      ...this.#options,
      layers: this.#layers,
      pickable: plan.picks && pickable,
      cullable: plan.stands && this.#isDrawn && cullable,
    };
    if (!plan.stands) options.contacts = 'none';
    const { elements } = this.object.matrixWorld;
    if (this.#instanced === null && isInvertibleAt(elements, 0)) options.matrix = elements;
    return options;
  }

  #move(): void {
    const { elements } = this.object.matrixWorld;
    if (this.#isPlaced && this.#isFixed()) return;
    this.#review();
    if (this.#hidden !== null && this.#hidden.size > 0) return;
    for (const { ids } of this.parts) {
      if (ids.length > 0) this.#context.moved.add(ids[0], elements);
    }
    if (this.parts.length === 1 && this.parts[0].ids.length === 1) this.#mover = this.parts[0].ids[0];
  }

  #moveInstances({ instanceMatrix, matrixWorld }: InstancedMesh): void {
    const { elements } = matrixWorld;
    const { array, version } = instanceMatrix;
    const isSame = version === this.#instanceVersion && array.buffer === this.#matrices.buffer;
    if (this.#isPlaced && (this.#isFixed() || (isSame && isEqual(this.#parent, elements)))) return;
    if (!isSame || this.#matrices.length !== 16 * this.#count) {
      this.#matrices = (array as Float32Array).subarray(0, 16 * this.#count);
    }
    this.#instanceVersion = version;
    this.#parent.set(elements);
    this.#review();
    for (const { ids } of this.parts) {
      if (ids.length > 0) this.#context.service.moveInstances(ids, this.#matrices, elements);
    }
  }

  /** Promised not to move, and standing where it shall. */
  #isFixed(): boolean {
    return this.#isStatic && (this.#hidden === null || this.#hidden.size === 0);
  }

  /** Hides what is new and has no place yet, and shows what has one now. */
  #review(): void {
    if (!this.#isPlaced) {
      for (let i = 0; i < this.#count; i++) {
        if (!this.#isPlaceable(i)) this.#hide(i);
      }
      this.#isPlaced = true;
    }
    if (this.#hidden === null) return;
    for (const i of this.#hidden) {
      if (this.#isPlaceable(i)) this.#show(i);
    }
  }

  #isPlaceable(index: number): boolean {
    const { elements } = this.object.matrixWorld;
    return isInvertibleAt(elements, 0) && (this.#instanced === null || isInvertibleAt(this.#matrices, 16 * index));
  }

  #hide(index: number): void {
    this.#hidden ??= new Set();
    this.#hidden.add(index);
    this.#mover = 0;
    this.#context.steady.forgetOne(this.object);
    this.#setLayersOf(index, 0);
  }

  #show(index: number): void {
    this.#hidden!.delete(index);
    this.#setLayersOf(index, this.#layers);
  }

  #setLayers(layers: number): void {
    this.#layers = layers;
    for (let i = 0; i < this.#count; i++) {
      if (this.#hidden?.has(i) !== true) this.#setLayersOf(i, layers);
    }
  }

  #setLayersOf(index: number, layers: number): void {
    for (const { ids } of this.parts) {
      if (index < ids.length) this.#context.service.setObject(ids[index], { layers });
    }
  }
}

function isEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < 16; i++) if (a[i] !== b[i]) return false;
  return true;
}
