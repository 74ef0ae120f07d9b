import type { BufferGeometry, InstancedMesh, Material, Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ContactDetail, ObjectId, ObjectOptions, Shape } from '../../../shared/types.js';
import { isAffine, isInvertibleAt } from '../../check/affine.js';
import { isDrawn, MaterialLook, planStandIns } from './material-plan.js';
import { StandIn, type StandInOptions, type StandInOwner, type TrackerContext } from './stand-in.js';
import type { UnchangedRuns } from './unchanged-runs.js';

/** What the service shall know of an object beyond what the scene says. */
export interface SceneObjectOptions extends Partial<Omit<ObjectOptions, 'shape' | 'matrix'>> {
  /**
   * Its triangles are a `solid` mesh: they must be closed, or else the object is `untracked`. Default false. A shape
   * that stands for them says so itself.
   */
  solid?: boolean;
  /**
   * Vertices of its geometry nearer than this become one, as in `addMesh`: three's spheres, cylinders and tori are
   * closed then. Objects that share a geometry and this share the mesh. Default 0.
   */
  weld?: number;
}

/** What the caller wishes beyond what the scene says. */
export interface ObjectWishes {
  /** Of every object that does not say so itself. */
  readonly contacts: ContactDetail;
  /** Stands for the object instead of its triangles. */
  shape(object: Mesh): Shape | null;
  options(object: Mesh): SceneObjectOptions;
}

/** Answers whether an error leaves out one object; all others are about the service. */
export function isAboutOneObject(error: unknown): error is CollisionError {
  return CollisionError.is(error) && ['INVALID_ARGUMENT', 'BAD_DATA', 'UNSUPPORTED'].includes(error.code);
}

const NO_MATRICES: Float32Array = new Float32Array(0);
const NO_PARENT = new Float64Array(0);
const NO_IDS = new Uint32Array(0);

/**
 * A Mesh or InstancedMesh in the service. `update` compares it with what was sent before and sends what changed.
 * Its ids stay the same while it is in the scene: what is not to be seen is in no layer.
 */
export class TrackedObject implements StandInOwner {
  readonly object: Mesh;
  /** The first is the object itself for all but rays by each material's own side; the others are its faces. */
  standIns: StandIn[] = [];
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
  /** How an array of materials looked; null where there is one material. */
  #look: MaterialLook | null = null;
  #revision = -1;
  #count = 0;
  #layers = 0;
  #isPlaced = false;
  /** How many stand-ins it takes: those beyond stand until these can. */
  #planned = 1;
  /** Whether its faces stand for it where rays ask for each material's own side. */
  #isApart = false;
  /**
   * The only id of its only stand-in, where there is nothing to do but to send the matrix while all else is as before;
   * else 0.
   */
  #mover: ObjectId = 0;
  #instanceVersion = -1;
  /** The world matrix of an InstancedMesh, as sent last. */
  readonly #parent: Float64Array;
  #matrices = NO_MATRICES;

  /** Instances whose matrix the service does not take: three does not show those without an inverse either. */
  #hidden: Set<number> | null = null;
  readonly #wishes: ObjectWishes;
  readonly #options: Omit<SceneObjectOptions, 'solid' | 'weld'>;
  readonly #givenLayers: number | undefined;
  readonly #isSolid: boolean;
  readonly #weld: number;

  constructor(context: TrackerContext, object: Mesh, wishes: ObjectWishes) {
    this.#context = context;
    this.#wishes = wishes;
    const { solid = false, weld = 0, contacts = wishes.contacts, ...options } = wishes.options(object);
    this.#options = { ...options, contacts };
    this.#isSolid = solid;
    this.#weld = weld;
    this.#instanced = 'isInstancedMesh' in object ? (object as InstancedMesh) : null;
    this.#parent = this.#instanced === null ? NO_PARENT : new Float64Array(16);
    this.#givenLayers = options.layers;
    this.#isStatic = this.#options.motion === 'static';
    this.object = object;
  }

  /** Tells whether something of it is still to be built. */
  get pending(): boolean {
    return this.standIns.some((standIn) => standIn.pending);
  }

  /** Answers the ids that it has in public, by instance; none until it is built. */
  get ids(): Uint32Array {
    return this.standIns.length === 0 ? NO_IDS : this.standIns[0].ids;
  }

  /** Sends what changed, once a frame; `visible`: the object and all its ancestors are. */
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
    if (!isPlanned || revision !== this.#revision || count !== this.#count) this.#reconcile(count);
    this.#revision = revision;
    if (instanced === null) this.#move();
    else this.#moveInstances(instanced);
  }

  /** Notes what to compare the next time, under its number in the walk. */
  remember(unchanged: UnchangedRuns, number: number): void {
    const { object } = this;
    // What has children is never followed: nothing is made for it in every frame.
    if (this.#mover === 0 || this.#look !== null || object.children.length > 0) {
      unchanged.remember(number, null, null, 0);
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
    unchanged.remember(number, object, kind, this.#isStatic ? 0 : this.#mover);
  }

  reject(index: number): void {
    if (index >= this.#count || this.#hidden?.has(index) === true) return;
    if (!this.#isPlaceable(index)) this.#hide(index);
  }

  remove(): void {
    for (const standIn of this.standIns) standIn.remove();
    this.standIns = [];
    this.#mover = 0;
  }

  #looksTheSame(material: Mesh['material']): boolean {
    if (this.#look !== null) return this.#look.equals(material);
    if (material !== this.#material) return false;
    const { side, visible } = material as Material;
    return side === this.#side && visible === this.#isDrawn;
  }

  /** Plans what it takes in the service, when it is first seen or its geometry or materials are others than before. */
  #plan(): void {
    const { geometry, material } = this.object;
    const shape = this.#wishes.shape(this.object);
    const plans = planStandIns(geometry, material, shape !== null);
    this.#geometry = geometry;
    this.#material = material;
    this.#isDrawn = isDrawn(material);
    this.#look = Array.isArray(material) ? new MaterialLook(material) : null;
    if (!Array.isArray(material)) this.#side = material.side;
    this.#planned = plans.length;
    plans.forEach((plan, i) => {
      this.standIns[i] ??= new StandIn(this.#context, this, plan);
      this.standIns[i].retarget(plan, geometry, shape, this.#weld);
    });
  }

  /** Brings its stand-ins in line with what is built: all of them at once, for they are one object. */
  #reconcile(count: number): void {
    this.error = null;
    this.#mover = 0;
    if (this.standIns.every(({ isReady }, i) => isReady || i >= this.#planned)) {
      for (const standIn of this.standIns.splice(this.#planned)) standIn.remove();
      for (const standIn of this.standIns) standIn.advance();
      this.#isApart = this.standIns.length > 1;
    }
    for (let i = count; i < this.#count; i++) this.#hidden?.delete(i);
    this.#count = count;
    for (const standIn of this.standIns) {
      try {
        if (standIn.reconcile(count, this.#optionsOf(standIn), this.#isSolid)) this.#isPlaced = false;
      } catch (cause) {
        // A shape or an option that the service refuses.
        if (!isAboutOneObject(cause)) throw cause;
        this.error = cause;
      }
      this.error ??= standIn.error;
    }
  }

  #optionsOf({ plan: { isFaces, side } }: StandIn): StandInOptions {
    const { cullable = true } = this.#options;
    const options: StandInOptions = {
      ...this.#options,
      layers: this.#layers,
      cullable: !isFaces && this.#isDrawn && cullable,
      isFaces,
      // Rays hit either the object or its faces.
      ownSides: isFaces === this.#isApart ? side : 'none',
    };
    if (isFaces) options.contacts = 'none';
    if (this.#instanced === null && this.#isPlaceable(0)) options.matrix = this.object.matrixWorld.elements;
    return options;
  }

  #move(): void {
    const { elements } = this.object.matrixWorld;
    if (this.#isPlaced && this.#isFixed()) return;
    this.#review();
    if (this.#hidden !== null && this.#hidden.size > 0) return;
    for (const { ids } of this.standIns) {
      if (ids.length > 0) this.#context.moved.add(ids[0], elements);
    }
    if (this.standIns.length === 1 && this.ids.length === 1) this.#mover = this.ids[0];
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
    for (const { ids } of this.standIns) {
      if (ids.length > 0) this.#context.service.moveInstances(ids, this.#matrices, elements);
    }
  }

  /** Answers whether it is promised not to move, and stands where it shall. */
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
    return isPlace(elements, 0) && (this.#instanced === null || isPlace(this.#matrices, 16 * index));
  }

  #hide(index: number): void {
    this.#hidden ??= new Set();
    this.#hidden.add(index);
    this.#mover = 0;
    this.#context.unchanged.forgetOne(this.object);
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
    for (const { ids } of this.standIns) {
      if (index < ids.length) this.#context.service.setObject(ids[index], { layers });
    }
  }
}

/** Answers whether the service takes the matrix at `at`. */
function isPlace(m: ArrayLike<number>, at: number): boolean {
  return isInvertibleAt(m, at) && isAffine(m, at);
}

function isEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < 16; i++) if (a[i] !== b[i]) return false;
  return true;
}
