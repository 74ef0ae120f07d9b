import { BufferGeometry, type LOD, Material, type Mesh, type Object3D } from 'three';
import type { Shape } from '../../../shared/types.js';
import { isDeformedBy, RIGID } from '../geometry/deformers.js';
import type { MeshUse, MeshUser } from '../geometry/mesh-pool.js';
import { planStandIn } from './material-plan.js';
import type { TrackerContext } from './stand-in.js';
import { isAboutOneObject, type ObjectWishes, TrackedObject } from './tracked-object.js';

const NO_GEOMETRY = new BufferGeometry();
const NO_MATERIAL = new Material();
const NO_LEVELS: readonly Object3D[] = [];

/** The mesh of a level, held while the level is not shown: to come back, it need not be built again. */
interface HeldMesh {
  readonly geometry: BufferGeometry;
  readonly groups: string | undefined;
  readonly use: MeshUse;
}

/**
 * A LOD in the service: one object, whose shape is that of the level that three shows. What touches it goes on touching it
 * when it shows another. That is so where each level is a single Mesh, and where the caller gave a shape; any other LOD is
 * nothing by itself (`owns` nothing), and what is in its levels is tracked apart.
 */
export class TrackedLod extends TrackedObject {
  declare readonly object: LOD;
  readonly #context: TrackerContext;
  /** Stands for the LOD where a shape does. */
  readonly #facade: Mesh;
  readonly #wish: { shape: Shape | null };
  readonly #wishes: ObjectWishes;
  readonly #held = new Map<Object3D, HeldMesh>();
  /** The levels that are its own; null where a shape stands for all that is below it. */
  #owned: readonly Object3D[] | null = NO_LEVELS;
  #isOther = false;
  /** It is nothing by itself. */
  #isApart = false;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, lod: LOD, wishes: ObjectWishes) {
    const wish = { shape: wishes.shape(lod) };
    super(context, lod, { ...wishes, shape: () => wish.shape, options: () => wishes.options(lod) }, facadeOf(lod));
    this.#facade = this.drawn;
    this.#context = context;
    this.#wish = wish;
    this.#wishes = wishes;
  }

  /** Tells whether an object below it has no entry of its own. */
  owns(object: Object3D): boolean {
    return this.#owned === null || this.#owned.includes(object);
  }

  /** Tells whether it owns others than at the last call. */
  takeChange(): boolean {
    const isOther = this.#isOther;
    this.#isOther = false;
    return isOther;
  }

  override update(visible: boolean): void {
    const owned = this.#wish.shape === null ? levelsOf(this.object) : null;
    if (!areSame(owned, this.#owned)) {
      this.#isOther = true;
      this.#owned = owned;
    }
    if (owned !== null && owned.length === 0) {
      if (!this.#isApart) this.withdraw();
      this.#isApart = true;
      if (!this.object.autoUpdate) this.#watch(); // it may be one level again
      return;
    }
    this.#isApart = false;
    if (owned === null) this.drawn = this.#facade;
    else this.#choose(owned as Mesh[]);
    this.#hold(owned ?? NO_LEVELS);
    super.update(visible && this.drawn.visible);
    // Where the level that is looked at tells nothing of the others.
    const isBlind = owned !== null && (!this.drawn.visible || !this.object.autoUpdate);
    if (isBlind) this.#watch();
  }

  override show(visible: boolean): void {
    super.show(visible && this.drawn.visible);
  }

  override askAgain(): void {
    this.#wish.shape = this.#wishes.shape(this.object);
    super.askAgain();
  }

  override remove(): boolean {
    this.#release();
    this.#context.always.delete(this);
    return super.remove();
  }

  drawnWith(geometry: BufferGeometry): Object3D {
    if (this.drawn.geometry === geometry) return this.drawn;
    return this.#owned?.find((level) => (level as Mesh).geometry === geometry) ?? this.drawn;
  }

  /** Follows the level that three shows: the first that is visible. */
  #choose(levels: readonly Mesh[]): void {
    const shown = levels.find(({ visible }) => visible);
    if (shown !== undefined) this.drawn = shown;
    else if (!levels.includes(this.drawn)) this.drawn = levels[0];
  }

  #watch(): void {
    if (!this.isStatic) this.#context.always.add(this);
  }

  #hold(levels: readonly Object3D[]): void {
    const { meshes } = this.#context;
    for (const [level, { use }] of this.#held) {
      if (levels.includes(level)) continue;
      this.#held.delete(level);
      meshes.release(use);
    }
    for (const level of levels) {
      const { geometry, material } = level as Mesh;
      const known = this.#held.get(level);
      try {
        const { groups } = planStandIn(geometry, material);
        const key = groups?.join();
        if (known !== undefined && known.geometry === geometry && known.groups === key) continue;
        const use = meshes.acquire(geometry, groups, this.weld, HOLDER);
        this.#held.set(level, { geometry, groups: key, use });
      } catch (error) {
        if (!isAboutOneObject(error) && !(error instanceof TypeError)) throw error;
        this.#held.delete(level); // said once it is shown
      }
      if (known !== undefined) meshes.release(known.use);
    }
  }

  #release(): void {
    for (const { use } of this.#held.values()) this.#context.meshes.release(use);
    this.#held.clear();
  }
}

/** Holds meshes that nobody stands on. */
const HOLDER: MeshUser = { isStatic: true, onMeshChange() {} };

/** Lists the levels of a LOD that can be one object: each a Mesh alone, of which three shows one at a time; else none. */
function levelsOf(lod: LOD): readonly Object3D[] {
  const { levels, autoUpdate } = lod;
  const objects = levels.map(({ object }) => object);
  if (!objects.every((object) => object.parent === lod && object.children.length === 0 && isPlain(object as Mesh))) {
    return NO_LEVELS;
  }
  const isOneShown = autoUpdate || objects.filter(({ visible }) => visible).length <= 1;
  return isOneShown ? objects : NO_LEVELS;
}

function isPlain(object: Mesh & { isInstancedMesh?: boolean; isBatchedMesh?: boolean }): boolean {
  const { isMesh, isInstancedMesh, isBatchedMesh } = object;
  return isMesh === true && isInstancedMesh !== true && isBatchedMesh !== true && isDeformedBy(object, RIGID);
}

/** Makes of a LOD what can be looked at as a Mesh where a shape stands for it: it is where the LOD is. */
function facadeOf(lod: LOD): Mesh {
  return Object.create(lod, { geometry: { value: NO_GEOMETRY }, material: { value: NO_MATERIAL } });
}

function areSame(a: readonly Object3D[] | null, b: readonly Object3D[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((object, i) => object === b[i]);
}
