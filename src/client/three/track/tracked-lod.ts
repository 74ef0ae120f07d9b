import { BufferGeometry, type LOD, Material, type Mesh, type Object3D } from 'three';
import type { Shape } from '../../../shared/types.js';
import { areSameDeformers, type Deformers, deformersOf } from '../geometry/deformers.js';
import type { MeshUse, MeshUser } from '../geometry/shared-mesh.js';
import { isDrawable } from './is-drawable.js';
import { planStandIn } from './material-plan.js';
import { isAboutOneObject, type ObjectWishes } from './object-wishes.js';
import type { TrackerContext } from './stand-in.js';
import { TrackedObject } from './tracked-object.js';

const NO_GEOMETRY = new BufferGeometry();
const NO_MATERIAL = new Material();

/** A level that draws a single Mesh: itself or one of its descendants. */
interface Level {
  readonly object: Object3D;
  readonly mesh: Mesh;
}

const NO_LEVELS: readonly Level[] = [];

/** The mesh of a level, held while the level is not shown, so that it need not be built again when it is. */
interface HeldMesh {
  readonly geometry: BufferGeometry;
  readonly groups: string | undefined;
  readonly deformers: Deformers;
  readonly use: MeshUse;
}

/**
 * A LOD in the service: one object, whose shape is that of the level that three shows. Its contacts persist when it shows
 * another level. This holds if each level draws a single Mesh, posed or not, or if the caller gave a shape. Any other LOD is
 * not an object of the service (it `owns` nothing), and the contents of its levels are tracked apart: several Meshes of a level
 * can move, hide and be ignored one by one, which one id with a copy of all their triangles could not, and that copy would be
 * rebuilt whenever one of them moves within the level.
 */
export class TrackedLod extends TrackedObject {
  declare readonly object: LOD;
  readonly #context: TrackerContext;
  /** What is tracked if a shape represents the LOD. */
  readonly #facade: Mesh;
  readonly #wish: { shape: Shape | null };
  readonly #wishes: ObjectWishes;
  readonly #held = new Map<Mesh, HeldMesh>();
  /** The levels that belong to it; null if a shape represents everything below it. */
  #owned: readonly Level[] | null = NO_LEVELS;
  /** Whether a descendant was added, removed or got another parent since the levels were last searched. */
  #isRearranged = true;
  #isOther = false;
  /** Whether its levels are tracked apart, and it is not an object of the service. */
  #isApart = false;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, lod: LOD, wishes: ObjectWishes) {
    const wish = { shape: wishes.shape(lod) };
    super(context, lod, { ...wishes, shape: () => wish.shape, options: () => wishes.options(lod) }, facadeOf(lod));
    this.#context = context;
    this.#facade = this.drawn;
    this.#wish = wish;
    this.#wishes = wishes;
  }

  /** Returns whether a descendant has no entry of its own. */
  owns(object: Object3D): boolean {
    if (this.#owned === null) return true;
    if (this.#owned.length === 0) return false;
    let child = object;
    while (child.parent !== null && child.parent !== this.object) child = child.parent;
    return this.#owned.some((level) => level.object === child);
  }

  /** Returns whether it owns other objects than at the last call. */
  takeChange(): boolean {
    const isOther = this.#isOther;
    this.#isOther = false;
    return isOther;
  }

  /** Makes the next `update` search its levels again for what they draw. */
  rearrange(): void {
    this.#isRearranged = true;
  }

  protected override look(visible: boolean): void {
    const owned = this.#wish.shape === null ? this.#findLevels() : null;
    if (!areSame(owned, this.#owned)) {
      this.#isOther = true;
      this.#owned = owned;
    }
    if (owned !== null && owned.length === 0) {
      if (!this.#isApart) this.withdraw();
      this.#context.lods.add(this.object);
      this.#isApart = true;
      if (!this.object.autoUpdate) this.#watch(); // it may show a single level again
      return;
    }
    this.#context.lods.add(this.object);
    this.#isApart = false;
    const level = owned === null ? null : this.#choose(owned);
    if (level === null) this.drawn = this.#facade;
    this.#hold(owned ?? NO_LEVELS);
    const isShown = this.#isDrawnVisible();
    super.look(visible && isShown);
    // Whether the Mesh that is checked tells nothing of its level, or of the others.
    const isBlind = level !== null && (!isShown || !this.object.autoUpdate || level.object !== level.mesh);
    if (isBlind) this.#watch();
  }

  override show(visible: boolean): void {
    super.show(visible && this.#isDrawnVisible());
  }

  override askAgain(): void {
    this.#wish.shape = this.#wishes.shape(this.object);
    this.rearrange();
    for (const { geometry } of this.#held.values()) this.#context.meshes.review(geometry);
    super.askAgain();
  }

  override remove(): boolean {
    this.#release();
    this.#context.always.delete(this);
    this.#context.lods.delete(this.object);
    return super.remove();
  }

  drawnWith(geometry: BufferGeometry): Object3D {
    if (this.drawn.geometry === geometry) return this.drawn;
    return this.#owned?.find(({ mesh }) => mesh.geometry === geometry)?.mesh ?? this.drawn;
  }

  /** Lists the levels that can be one object; none if they are tracked apart. */
  #findLevels(): readonly Level[] {
    const owned = this.#owned ?? NO_LEVELS;
    if (!isOneShown(this.object)) return NO_LEVELS;
    if (!this.#isRearranged && areThere(owned, this.object)) return owned;
    this.#isRearranged = false;
    return levelsOf(this.object);
  }

  /** Follows the level that three shows: the first that is visible. */
  #choose(levels: readonly Level[]): Level {
    const shown =
      levels.find(({ object }) => object.visible) ?? levels.find(({ mesh }) => mesh === this.drawn) ?? levels[0];
    if (shown.mesh !== this.drawn) {
      this.drawn = shown.mesh;
      // Meshes that are not shown are checked in turn.
      this.#context.meshes.review(shown.mesh.geometry);
    }
    return shown;
  }

  /** Returns whether the Mesh that is checked is visible, and so is each object between it and the LOD. */
  #isDrawnVisible(): boolean {
    if (this.drawn === this.#facade) return this.drawn.visible;
    for (let each: Object3D | null = this.drawn; each !== null && each !== this.object; each = each.parent) {
      if (!each.visible) return false;
    }
    return true;
  }

  #watch(): void {
    if (!this.isStatic) this.#context.always.add(this);
  }

  #hold(levels: readonly Level[]): void {
    const { meshes } = this.#context;
    for (const [mesh, { use }] of this.#held) {
      if (levels.some((level) => level.mesh === mesh)) continue;
      this.#held.delete(mesh);
      meshes.release(use);
    }
    for (const { mesh } of levels) {
      const { geometry, material } = mesh;
      const known = this.#held.get(mesh);
      try {
        const { groups } = planStandIn(geometry, material);
        const key = groups?.join();
        const deformers = deformersOf(mesh);
        const isSame = known?.geometry === geometry && known.groups === key;
        if (isSame && areSameDeformers(known.deformers, deformers)) continue;
        const use = meshes.acquire(geometry, groups, this.weld, HOLDER, 'triangles', deformers);
        this.#held.set(mesh, { geometry, groups: key, deformers, use });
      } catch (error) {
        if (!isAboutOneObject(error) && !(error instanceof TypeError)) throw error;
        this.#held.delete(mesh); // reported once it is shown
      }
      if (known !== undefined) meshes.release(known.use);
    }
  }

  #release(): void {
    for (const { use } of this.#held.values()) this.#context.meshes.release(use);
    this.#held.clear();
  }
}

/** Holds meshes that are no object's shape. */
const HOLDER: MeshUser = { isStatic: true, onMeshChange() {} };

/** Returns whether three shows at most one level of a LOD. */
function isOneShown({ levels, autoUpdate }: LOD): boolean {
  return autoUpdate || levels.filter(({ object }) => object.visible).length <= 1;
}

/** Lists the levels of a LOD if they can be one object, because each draws a single Mesh; else none. */
function levelsOf(lod: LOD): readonly Level[] {
  const found: Level[] = [];
  for (const { object } of lod.levels) {
    const mesh = object.parent === lod ? onlyMeshOf(object) : null;
    if (mesh === null) return NO_LEVELS;
    found.push({ object, mesh });
  }
  return found;
}

/** Returns whether a LOD still has exactly these levels. */
function areThere(levels: readonly Level[], lod: LOD): boolean {
  const isSame = levels.length > 0 && levels.length === lod.levels.length;
  return isSame && levels.every(({ object }, i) => object === lod.levels[i].object && object.parent === lod);
}

/** Returns the Mesh that is all that an object and its descendants draw; null if there is no such Mesh. */
function onlyMeshOf(object: Object3D): Mesh | null {
  let found: Mesh | null = null;
  const left = [object];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (isDrawable(each)) {
      if (found !== null || !isPlain(each as Mesh)) return null;
      found = each as Mesh;
    }
    for (const child of each.children) left.push(child); // one by one: there may be too many for the arguments of a call
  }
  return found;
}

function isPlain({ isMesh, isInstancedMesh, isBatchedMesh, isLineSegments2 }: Kinds): boolean {
  return isMesh === true && isInstancedMesh !== true && isBatchedMesh !== true && isLineSegments2 !== true;
}

interface Kinds {
  readonly isMesh?: boolean;
  readonly isInstancedMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isLineSegments2?: boolean;
}

/** Makes a facade of a LOD that can be tracked as a Mesh, at the LOD's place, if a shape represents it. */
function facadeOf(lod: LOD): Mesh {
  return Object.create(lod, { geometry: { value: NO_GEOMETRY }, material: { value: NO_MATERIAL } });
}

function areSame(a: readonly Level[] | null, b: readonly Level[] | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return a.every(({ object, mesh }, i) => object === b[i].object && mesh === b[i].mesh);
}
