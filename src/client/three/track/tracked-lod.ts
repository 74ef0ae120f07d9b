import { BufferGeometry, type LOD, Material, type Mesh, type Object3D } from 'three';
import type { Shape } from '../../../shared/types.js';
import { areSameDeformers, type Deformers, deformersOf } from '../geometry/deformers.js';
import type { MeshUse, MeshUser } from '../geometry/shared-mesh.js';
import { isDrawable } from './is-drawable.js';
import { planStandIn } from './material-plan.js';
import { isAboutOneObject, type ObjectSettings } from './object-settings.js';
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
  readonly #replacement: { shape: Shape | null };
  readonly #settings: ObjectSettings;
  readonly #heldMeshes = new Map<Mesh, HeldMesh>();
  /** The levels that belong to it; null if a shape represents everything below it. */
  #ownedLevels: readonly Level[] | null = NO_LEVELS;
  /** Whether a descendant was added, removed or got another parent since the levels were last searched. */
  #isRearranged = true;
  #hasChangedLevels = false;
  /** Whether its levels are tracked apart, and it is not an object of the service. */
  #areLevelsSeparate = false;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, lod: LOD, settings: ObjectSettings) {
    const replacement = { shape: settings.shape(lod) };
    super(
      context,
      lod,
      { ...settings, shape: () => replacement.shape, options: () => settings.options(lod) },
      facadeOf(lod),
    );
    this.#context = context;
    this.#facade = this.drawn;
    this.#replacement = replacement;
    this.#settings = settings;
  }

  /** Returns whether a descendant has no entry of its own. */
  owns(object: Object3D): boolean {
    if (this.#ownedLevels === null) return true;
    if (this.#ownedLevels.length === 0) return false;
    let child = object;
    while (child.parent !== null && child.parent !== this.object) child = child.parent;
    return this.#ownedLevels.some((level) => level.object === child);
  }

  /** Returns whether it owns other objects than at the last call. */
  takeChange(): boolean {
    const hasChangedLevels = this.#hasChangedLevels;
    this.#hasChangedLevels = false;
    return hasChangedLevels;
  }

  /** Makes the next `update` search its levels again for what they draw. */
  rearrange(): void {
    this.#isRearranged = true;
  }

  protected override look(visible: boolean): void {
    const ownedLevels = this.#replacement.shape === null ? this.#findLevels() : null;
    if (!areSameLevels(ownedLevels, this.#ownedLevels)) {
      this.#hasChangedLevels = true;
      this.#ownedLevels = ownedLevels;
    }
    if (ownedLevels !== null && ownedLevels.length === 0) {
      if (!this.#areLevelsSeparate) this.withdraw();
      this.#context.lods.add(this.object);
      this.#areLevelsSeparate = true;
      if (!this.object.autoUpdate) this.#watch(); // it may show a single level again
      return;
    }
    this.#context.lods.add(this.object);
    this.#areLevelsSeparate = false;
    const level = ownedLevels === null ? null : this.#followShownLevel(ownedLevels);
    if (level === null) this.drawn = this.#facade;
    this.#hold(ownedLevels ?? NO_LEVELS);
    const isShown = this.#isDrawnVisible();
    super.look(visible && isShown);
    // Whether the Mesh that is checked tells nothing of its level, or of the others.
    const mustWatch = level !== null && (!isShown || !this.object.autoUpdate || level.object !== level.mesh);
    if (mustWatch) this.#watch();
  }

  override show(visible: boolean): void {
    super.show(visible && this.#isDrawnVisible());
  }

  override askAgain(): void {
    this.#replacement.shape = this.#settings.shape(this.object);
    this.rearrange();
    for (const { geometry } of this.#heldMeshes.values()) this.#context.meshes.review(geometry);
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
    return this.#ownedLevels?.find(({ mesh }) => mesh.geometry === geometry)?.mesh ?? this.drawn;
  }

  /** Lists the levels that can be one object; none if they are tracked apart. */
  #findLevels(): readonly Level[] {
    const ownedLevels = this.#ownedLevels ?? NO_LEVELS;
    if (!showsAtMostOneLevel(this.object)) return NO_LEVELS;
    if (!this.#isRearranged && areCurrentLevels(ownedLevels, this.object)) return ownedLevels;
    this.#isRearranged = false;
    return levelsOf(this.object);
  }

  /** Follows the level that three shows: the first that is visible. */
  #followShownLevel(levels: readonly Level[]): Level {
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
    for (const [mesh, { use }] of this.#heldMeshes) {
      if (levels.some((level) => level.mesh === mesh)) continue;
      this.#heldMeshes.delete(mesh);
      meshes.release(use);
    }
    for (const { mesh } of levels) {
      const { geometry, material } = mesh;
      const heldMesh = this.#heldMeshes.get(mesh);
      try {
        const { groups } = planStandIn(geometry, material);
        const key = groups?.join();
        const deformers = deformersOf(mesh);
        const isSame = heldMesh?.geometry === geometry && heldMesh.groups === key;
        if (isSame && areSameDeformers(heldMesh.deformers, deformers)) continue;
        const use = meshes.acquire(geometry, groups, this.weld, HOLDER, 'triangles', deformers);
        this.#heldMeshes.set(mesh, { geometry, groups: key, deformers, use });
      } catch (error) {
        if (!isAboutOneObject(error) && !(error instanceof TypeError)) throw error;
        this.#heldMeshes.delete(mesh); // reported once it is shown
      }
      if (heldMesh !== undefined) meshes.release(heldMesh.use);
    }
  }

  #release(): void {
    for (const { use } of this.#heldMeshes.values()) this.#context.meshes.release(use);
    this.#heldMeshes.clear();
  }
}

/** Holds meshes that are no object's shape. */
const HOLDER: MeshUser = { isStatic: true, onMeshChange() {} };

/** Returns whether three shows at most one level of a LOD. */
function showsAtMostOneLevel({ levels, autoUpdate }: LOD): boolean {
  return autoUpdate || levels.filter(({ object }) => object.visible).length <= 1;
}

/** Lists the levels of a LOD if they can be one object, because each draws a single Mesh; else none. */
function levelsOf(lod: LOD): readonly Level[] {
  const levels: Level[] = [];
  for (const { object } of lod.levels) {
    const mesh = object.parent === lod ? onlyMeshOf(object) : null;
    if (mesh === null) return NO_LEVELS;
    levels.push({ object, mesh });
  }
  return levels;
}

/** Returns whether a LOD still has exactly these levels. */
function areCurrentLevels(levels: readonly Level[], lod: LOD): boolean {
  const isSame = levels.length > 0 && levels.length === lod.levels.length;
  return isSame && levels.every(({ object }, i) => object === lod.levels[i].object && object.parent === lod);
}

/** Returns the Mesh that is all that an object and its descendants draw; null if there is no such Mesh. */
function onlyMeshOf(object: Object3D): Mesh | null {
  let onlyMesh: Mesh | null = null;
  const stack = [object];
  for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
    if (isDrawable(each)) {
      if (onlyMesh !== null || !isSingleMesh(each as Mesh)) return null;
      onlyMesh = each as Mesh;
    }
    for (const child of each.children) stack.push(child); // one by one: there may be too many for the arguments of a call
  }
  return onlyMesh;
}

function isSingleMesh({ isMesh, isInstancedMesh, isBatchedMesh, isLineSegments2 }: ClassFlags): boolean {
  return isMesh === true && isInstancedMesh !== true && isBatchedMesh !== true && isLineSegments2 !== true;
}

interface ClassFlags {
  readonly isMesh?: boolean;
  readonly isInstancedMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isLineSegments2?: boolean;
}

/** Makes a facade of a LOD that can be tracked as a Mesh, at the LOD's place, if a shape represents it. */
function facadeOf(lod: LOD): Mesh {
  return Object.create(lod, { geometry: { value: NO_GEOMETRY }, material: { value: NO_MATERIAL } });
}

function areSameLevels(a: readonly Level[] | null, b: readonly Level[] | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return a.every(({ object, mesh }, i) => object === b[i].object && mesh === b[i].mesh);
}
