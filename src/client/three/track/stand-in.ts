import type { BufferGeometry, Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ObjectOptions, Shape } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';
import type { BuiltMesh, MeshPool, SharedMesh } from '../geometry/mesh-pool.js';
import type { SideIndex } from '../side-index.js';
import type { PartPlan } from './material-plan.js';
import type { MovedObjects } from './moved-transforms.js';
import type { SceneObjects } from './scene-objects.js';
import type { SteadyMeshes } from './unchanged-runs.js';

/** What all tracked objects of a tracker share. */
export interface TrackerContext {
  readonly service: CollisionService;
  readonly meshes: MeshPool;
  readonly objects: SceneObjects;
  readonly sides: SideIndex;
  readonly steady: SteadyMeshes;
  readonly moved: MovedObjects;
}

export type PartOptions = Omit<ObjectOptions, 'shape'>;

/** The object that a part stands for. */
export interface PartOwner {
  readonly object: Mesh;
  /** The service did not take the new matrix of an instance; the error to report, if that is one. */
  reject(index: number): CollisionError | null;
}

const NO_IDS = new Uint32Array(0);

/** One stand-in of an object in the service: an id for each of its instances, or one. */
export class Part {
  readonly owner: PartOwner;
  plan: PartPlan;
  /** Whether rays hit it. */
  isPickable = true;
  /** Others in another array: none is written after it is here. */
  ids = NO_IDS;

  readonly #context: TrackerContext;
  #mesh: SharedMesh | null = null;
  /** Takes over from `#mesh` when it is built. */
  #next: SharedMesh | null = null;
  /** By the caller, instead of triangles. */
  #given: Shape | null = null;

  // As the service knows it.
  #shape: Shape | null = null;
  #standing: BuiltMesh | null = null;
  #cullable = true;
  /** It shall be solid and is open. */
  #refusal: CollisionError | null = null;
  /** What stood before, with the newest query that may have seen it. */
  #past: { standing: BuiltMesh | null; asked: number }[] = [];

  constructor(context: TrackerContext, owner: PartOwner, plan: PartPlan) {
    this.#context = context;
    this.owner = owner;
    this.plan = plan;
  }

  get error(): CollisionError | null {
    return this.#mesh?.error ?? this.#refusal;
  }

  /** Whether what it shall be is still being built. */
  get pending(): boolean {
    const mesh = this.#mesh;
    if (this.#next !== null || (mesh !== null && mesh.building !== null)) return true;
    return mesh !== null && mesh.built !== this.#standing && this.#refusal === null;
  }

  /** What a query saw, by its number; null where the caller gave the shape. */
  seenBy(query: number): BuiltMesh | null {
    const past = this.#past.find(({ asked }) => query <= asked);
    return past === undefined ? this.#standing : past.standing;
  }

  /** Says what it shall be: `shape`, or else the plan's groups of `geometry`. `stand` makes it so. */
  aim(plan: PartPlan, geometry: BufferGeometry, shape: Shape | null): void {
    const { meshes, sides } = this.#context;
    this.plan = plan;
    this.#given = shape;
    sides.changed();
    const aim = this.#next ?? this.#mesh;
    if (shape === null && aim?.geometry === geometry && aim.groups?.join() === plan.groups?.join()) return;
    const next = shape === null ? meshes.acquire(geometry, plan.groups) : null;
    if (this.#next !== null) meshes.release(this.#next);
    this.#next = next;
  }

  /** Brings the service's objects in line with what is built; true if there are new ones, not yet in their places. */
  stand(count: number, options: PartOptions, isSolid: boolean): boolean {
    const { meshes, service } = this.#context;
    const next = this.#next;
    if (this.#given !== null || (next !== null && (next.built !== null || next.error !== null))) {
      if (this.#mesh !== null) meshes.release(this.#mesh);
      this.#mesh = next;
      this.#next = null;
    }
    const built = this.#mesh?.built ?? null;
    // What stands for rays alone may be a piece of a solid.
    const solid = isSolid && this.plan.stands;
    this.#refusal = solid && built !== null && !service.meshInfo(built.id).closed ? isOpen(this.owner.object) : null;
    if (this.#refusal !== null) this.#setShape(null, null);
    else this.#setShape(built, this.#given ?? (built === null ? null : { type: 'mesh', mesh: built.id, solid }));
    this.#setOptions(options);
    return this.#resize(this.#shape === null ? 0 : count, options);
  }

  /** What it was stays known, for the answers that are on their way. */
  remove(): void {
    const { meshes } = this.#context;
    this.#shrink(0);
    if (this.#mesh !== null) meshes.release(this.#mesh);
    if (this.#next !== null) meshes.release(this.#next);
  }

  #setShape(built: BuiltMesh | null, shape: Shape | null): void {
    if (built === this.#standing && (built !== null || shape === this.#shape)) return;
    const { service, objects } = this.#context;
    if (shape !== null) {
      for (const id of this.ids) service.setObject(id, { shape });
    }
    this.#past = this.#past.filter(({ asked }) => asked >= objects.oldestQuery);
    this.#past.push({ standing: this.#standing, asked: objects.newestQuery });
    this.#standing = built;
    this.#shape = shape;
  }

  #setOptions({ pickable = true, cullable = true }: PartOptions): void {
    if (pickable === this.isPickable && cullable === this.#cullable) return;
    const { service, sides } = this.#context;
    for (const id of this.ids) service.setObject(id, { pickable, cullable });
    this.isPickable = pickable;
    this.#cullable = cullable;
    sides.changed();
  }

  #resize(count: number, options: PartOptions): boolean {
    const { service, objects, sides } = this.#context;
    const before = this.ids;
    if (count <= before.length || this.#shape === null) {
      this.#shrink(count);
      return false;
    }
    const added = service.addInstances({ ...options, shape: this.#shape }, count - before.length);
    this.ids = new Uint32Array(count);
    this.ids.set(before);
    this.ids.set(added, before.length);
    const { object } = this.owner;
    const instanced = 'isInstancedMesh' in object;
    for (let i = before.length; i < count; i++) {
      objects.add({ id: this.ids[i], object, instanceId: instanced ? i : undefined, part: this });
    }
    sides.changed();
    return true;
  }

  #shrink(count: number): void {
    if (count === this.ids.length) return;
    const { service, objects, sides } = this.#context;
    for (const id of this.ids.subarray(count)) {
      service.removeObject(id);
      objects.remove(id);
    }
    this.ids = this.ids.slice(0, count);
    sides.changed();
  }
}

function isOpen({ name, type }: Mesh): CollisionError {
  return new CollisionError(
    'INVALID_ARGUMENT',
    `trackScene: the triangles of ${type} '${name}' are open, expected closed ones as it shall be solid`,
  );
}
