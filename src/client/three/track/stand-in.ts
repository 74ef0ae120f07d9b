import type { BufferGeometry, Mesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { MeshInfo, ObjectOptions, Shape } from '../../../shared/types.js';
import type { MixedObjectOptions, Side } from '../../scene/object-description.js';
import { whatIsOpen } from '../../scene/open-mesh.js';
import type { CollisionService } from '../../service.js';
import type { BuiltMesh, MeshPool, SharedMesh } from '../geometry/mesh-pool.js';
import { type StandInPlan, sidesOfRuns } from './material-plan.js';
import type { MovedTransforms } from './moved-transforms.js';
import type { Placed, PlacedOwner, SceneObjects } from './scene-objects.js';
import type { UnchangedRuns } from './unchanged-runs.js';

/** What all tracked objects of a tracker share. */
export interface TrackerContext {
  readonly service: CollisionService;
  readonly meshes: MeshPool;
  readonly objects: SceneObjects;
  readonly unchanged: UnchangedRuns;
  readonly moved: MovedTransforms;
}

/** A `side` goes before those of the materials. */
export type StandInOptions = Omit<ObjectOptions, 'shape'>;

/** The object that a stand-in stands for. */
export interface StandInOwner extends PlacedOwner {
  readonly object: Mesh;
}

const NO_IDS = new Uint32Array(0);
const NO_PAST: readonly { standing: BuiltMesh | null; asked: number }[] = [];

/** What stands for an object in the service: an id for each of its instances, or one. */
export class StandIn implements Placed {
  readonly owner: StandInOwner;
  plan: StandInPlan;
  /** Others in another array: none is written after it is here. */
  ids: Uint32Array = NO_IDS;

  readonly #context: TrackerContext;
  #mesh: SharedMesh | null = null;
  /** Takes over from `#mesh` when it is built. */
  #next: SharedMesh | null = null;
  #nextPlan: StandInPlan;
  /** The shape that the caller wishes instead of triangles. */
  #given: Shape | null = null;

  // As the service knows it.
  #shape: Shape | null = null;
  #standing: BuiltMesh | null = null;
  #pickable: boolean | undefined;
  #cullable: boolean | undefined;
  /** Whose sides it knows. */
  #sidesOf: StandInPlan | null = null;
  /** It shall be solid and is open. */
  #refusal: CollisionError | null = null;
  /** What stood before, with the newest query that may have seen it. */
  #past = NO_PAST;

  constructor(context: TrackerContext, owner: StandInOwner, plan: StandInPlan) {
    this.#context = context;
    this.owner = owner;
    this.plan = plan;
    this.#nextPlan = plan;
  }

  /** Answers why it does not stand. */
  get error(): CollisionError | null {
    return this.#mesh?.error ?? this.#refusal;
  }

  /** Tells whether what it shall be is still being built. */
  get pending(): boolean {
    const mesh = this.#mesh;
    if (this.#next !== null || (mesh !== null && mesh.building !== null)) return true;
    return mesh !== null && mesh.built !== this.#standing && this.#refusal === null;
  }

  /** Tells whether what it was retargeted to last can stand now, or never will. */
  get isReady(): boolean {
    const next = this.#next;
    return this.#given !== null || next === null || next.built !== null || next.error !== null;
  }

  seenBy(query: number): BuiltMesh | null {
    const past = this.#past.find(({ asked }) => query <= asked);
    return past === undefined ? this.#standing : past.standing;
  }

  /** Sets what it shall be: `shape`, or else the plan's groups of `geometry`. It is the old one until `advance`. */
  retarget(plan: StandInPlan, geometry: BufferGeometry, shape: Shape | null, weld: number): void {
    const { meshes } = this.#context;
    this.#nextPlan = plan;
    this.#given = shape;
    const target = this.#next ?? this.#mesh;
    if (shape === null && target?.geometry === geometry && target.groups?.join() === plan.groups?.join()) return;
    const next = shape === null ? meshes.acquire(geometry, plan.groups, weld) : null;
    if (this.#next !== null) meshes.release(this.#next);
    this.#next = next;
  }

  /** Lets what it was retargeted to take over, once it is ready. */
  advance(): void {
    this.plan = this.#nextPlan;
    if (this.#given === null && this.#next === null) return;
    if (this.#mesh !== null) this.#context.meshes.release(this.#mesh);
    this.#mesh = this.#next;
    this.#next = null;
  }

  /** Brings the service's objects in line with what is built; true if there are new ones, not yet in their places. */
  reconcile(count: number, options: StandInOptions, isSolid: boolean): boolean {
    const { service } = this.#context;
    const built = this.#mesh?.built ?? null;
    const info = isSolid && built !== null ? service.meshInfo(built.id) : null;
    this.#refusal = info !== null && !info.closed ? isOpen(this.owner.object, info) : null;
    if (this.#refusal !== null) this.#setShape(null, null);
    else
      this.#setShape(built, this.#given ?? (built === null ? null : { type: 'mesh', mesh: built.id, solid: isSolid }));
    this.#setOptions(options);
    return this.#resize(this.#shape === null ? 0 : count, { ...options, ...this.#sides(options.side) });
  }

  /** Removes it from the service. What it was stays known, for the answers that are on their way. */
  remove(): void {
    const { meshes } = this.#context;
    this.#shrink(0);
    if (this.#mesh !== null) meshes.release(this.#mesh);
    if (this.#next !== null) meshes.release(this.#next);
  }

  #setShape(built: BuiltMesh | null, shape: Shape | null): void {
    if (built === this.#standing && (built !== null || shape === this.#shape)) return;
    const { objects } = this.#context;
    if (shape !== null) this.#set({ shape });
    this.#sidesOf = null; // those of faces went with the shape
    if (this.ids.length > 0) {
      const past = this.#past.filter(({ asked }) => asked >= objects.oldestQuery);
      this.#past = [...past, { standing: this.#standing, asked: objects.newestQuery }];
    }
    this.#standing = built;
    this.#shape = shape;
  }

  #setOptions({ pickable = true, cullable = true, side }: StandInOptions): void {
    if (pickable === this.#pickable && cullable === this.#cullable && this.plan === this.#sidesOf) return;
    this.#set({ pickable, cullable, ...this.#sides(side) });
    this.#pickable = pickable;
    this.#cullable = cullable;
    this.#sidesOf = this.plan;
  }

  #sides(side: Side | undefined): Pick<MixedObjectOptions, 'side' | 'faceSides'> {
    const { plan } = this;
    const isOwn = side === undefined && this.#standing !== null;
    return isOwn ? sidesOfRuns(plan, this.#standing!.runs) : { side: side ?? plan.side, faceSides: null };
  }

  #set(options: Partial<MixedObjectOptions>): void {
    for (const id of this.ids) this.#context.service.setObject(id, options);
  }

  #resize(count: number, options: Omit<MixedObjectOptions, 'shape'>): boolean {
    const { service, objects } = this.#context;
    const before = this.ids;
    if (count <= before.length || this.#shape === null) {
      this.#shrink(count);
      return false;
    }
    const described: MixedObjectOptions = { ...options, shape: this.#shape };
    const added = service.addInstances(described, count - before.length);
    this.ids = before.length === 0 ? added : joined(before, added);
    const { object } = this.owner;
    const instanced = 'isInstancedMesh' in object;
    for (let i = before.length; i < count; i++) {
      objects.add({ id: this.ids[i], object, instanceId: instanced ? i : undefined, standIn: this });
    }
    return true;
  }

  #shrink(count: number): void {
    if (count === this.ids.length) return;
    const { service, objects } = this.#context;
    for (const id of this.ids.subarray(count)) {
      service.removeObject(id);
      objects.remove(id);
    }
    this.ids = this.ids.slice(0, count);
  }
}

function joined(first: Uint32Array, second: Uint32Array): Uint32Array {
  const all = new Uint32Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function isOpen({ name, type }: Mesh, info: Readonly<MeshInfo>): CollisionError {
  return new CollisionError(
    'INVALID_ARGUMENT',
    `trackScene: the triangles of ${type} '${name}' are open, expected closed ones as it shall be solid: ${whatIsOpen(info)}`,
  );
}
