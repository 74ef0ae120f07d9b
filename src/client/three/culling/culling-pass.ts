import type { BatchedMesh, BufferGeometry, Camera, Frustum, InstancedMesh, LOD, Material, Mesh, Object3D } from 'three';
import { isDrawnAsItIs } from '../track/opacity.js';
import type { SceneEntry } from '../track/scene-entry.js';
import type { CullableObject } from '../track/stand-in.js';
import { BatchDraws } from './batch-draws.js';
import type { Culled } from './culled.js';
import type { CullingContext } from './culling-context.js';
import type { CullingWishes } from './culling-wishes.js';
import type { RenderPass } from './frustum-tests.js';
import { boundsOf, trianglesOf } from './geometry-bounds.js';
import { type DrawnView, InstanceCulling } from './instance-culling.js';
import { LodLevels } from './lod-levels.js';
import { ViewVolume } from './view-volume.js';

/** What is kept of a view from picture to picture. */
export class KeptParts {
  /** What its camera draws, while it does. */
  readonly volume = new ViewVolume();
  readonly instances = new Map<CullableObject, InstanceCulling>();
  readonly batches = new WeakMap<CullableObject, BatchDraws>();
  readonly lods = new LodLevels();

  /** Forgets what is not there any more. */
  keep(there: ReadonlySet<CullableObject>): void {
    for (const [object, instances] of this.instances) {
      if (there.has(object)) continue;
      instances.dispose();
      this.instances.delete(object);
    }
  }

  dispose(): void {
    this.keep(new Set());
  }
}

type Methods = Record<string, (...args: unknown[]) => void>;

/** One render of a camera. */
export class CullingPass implements RenderPass {
  readonly camera: Camera;
  readonly #context: CullingContext;
  readonly #view: DrawnView;
  readonly #kept: KeptParts;
  readonly #wishes: CullingWishes;
  /** What is drawn in the place of others: nothing where there is none. */
  readonly #stands = new Map<InstancedMesh, readonly InstancedMesh[]>();
  /** Those of them that are `frustumCulled` in this render alone. */
  readonly #forced = new Set<Object3D>();
  /** They put back what they have taken over. */
  readonly #ends: (() => void)[] = [];
  #occluded = 0;
  #objects = 0;
  #hidden = 0;
  #triangles = 0;

  constructor(context: CullingContext, view: DrawnView, kept: KeptParts, wishes: CullingWishes) {
    this.#context = context;
    this.#view = view;
    this.camera = view.camera;
    this.#kept = kept;
    this.#wishes = wishes;
    // The app has to say that what nobody asks frusta about may be left out.
    for (const entry of context.instanced) {
      const mesh = entry.object as InstancedMesh & { isBatchedMesh?: boolean };
      try {
        if (mesh.frustumCulled || entry.cullable !== true) continue;
        if (mesh.isBatchedMesh === true) this.#takeOver(mesh as unknown as BatchedMesh, entry);
        else this.#replace(mesh, entry);
      } catch (cause) {
        this.#drawAsItIs(mesh, cause);
      }
    }
    for (const lod of context.lods) {
      try {
        this.#chooseLevel(lod);
      } catch (cause) {
        this.#drawAsItIs(lod, cause);
      }
    }
  }

  get culled(): Culled {
    return {
      objects: this.#objects,
      instances: this.#hidden,
      triangles: this.#triangles,
      occluded: this.#occluded,
    };
  }

  isOf(frustum: Frustum): boolean {
    return this.#view.volume.isSame(frustum);
  }

  isForced(object: Object3D): boolean {
    return this.#forced.has(object);
  }

  isLeftOut(object: Object3D): boolean {
    try {
      return this.#leavesOut(object);
    } catch (cause) {
      return this.#drawAsItIs(object, cause);
    }
  }

  #leavesOut(object: Object3D): boolean {
    const mesh = object as InstancedMesh & { isSkinnedMesh?: boolean; isBatchedMesh?: boolean };
    if (mesh.isMesh !== true || mesh.isSkinnedMesh === true) return false;
    if (this.#stands.has(mesh)) return true;
    const entry = this.#context.entryOf(object) as (SceneEntry & Partial<CullableObject>) | undefined;
    if (entry === undefined || entry.cullable === false) return false;
    if (mesh.isInstancedMesh === true) return entry.object === object && this.#replace(mesh, entry as CullableObject);
    if (entry.isRigid !== true) return false;
    if (mesh.isBatchedMesh === true) {
      this.#takeOver(mesh as unknown as BatchedMesh, entry as CullableObject);
      return false; // it leaves out its instances when it is drawn
    }
    if (entry.count !== 1 || this.#view.seen.has(entry.idAt!(0))) return false;
    if (entry.cullable !== true && !isDrawnAsItIs(mesh)) return false;
    return this.#isHidden(mesh, entry as CullableObject) || this.#isOutside(mesh);
  }

  /** Takes what it has put into the scene out of it: other renders begin once this one has listed what it draws. */
  suspend(): void {
    for (const mesh of this.#stands.keys()) this.#putBack(mesh);
  }

  /** Leaves the scene as it was. */
  end(): void {
    this.suspend();
    for (const end of this.#ends) attempt(end);
    this.#ends.length = 0;
  }

  /** Has three draw an object as it is of which something cannot be read: where that throws once more, it is three's error. */
  #drawAsItIs(object: Object3D, cause: unknown): false {
    this.#putBack(object as InstancedMesh);
    this.#wishes.drawAsItIs(object, cause);
    return false;
  }

  #putBack(mesh: InstancedMesh): void {
    attempt(() => {
      for (const stand of this.#stands.get(mesh) ?? []) {
        const at = mesh.children.indexOf(stand);
        if (at >= 0) mesh.children.splice(at, 1);
      }
    });
    this.#stands.delete(mesh);
    if (!this.#forced.delete(mesh)) return;
    attempt(() => {
      mesh.frustumCulled = false;
    });
  }

  /** Has a BatchedMesh write its draw list by what is seen, while this render lasts. */
  #takeOver(batch: BatchedMesh, entry: CullableObject): void {
    if (!batch.perObjectFrustumCulled && entry.cullable !== true) return;
    let draws = this.#kept.batches.get(entry);
    if (draws === undefined) {
      draws = new BatchDraws(batch, entry);
      this.#kept.batches.set(entry, draws);
    }
    const own = draws;
    let isCounted = false; // it may be drawn twice, for what shines through it
    const write = (camera: Camera, geometry: BufferGeometry, material: Material, format?: string): boolean => {
      if (camera !== this.camera) return false;
      try {
        if (!own.canDraw(material)) return false;
        const { hidden, occluded, triangles } = own.write(this.#view, geometry, material, format === 'merged');
        if (isCounted) return true;
        isCounted = true;
        this.#hidden += hidden;
        this.#occluded += occluded;
        this.#triangles += triangles;
        return true;
      } catch (cause) {
        own.leave();
        return this.#drawAsItIs(batch, cause);
      }
    };
    const insides = batch as unknown as Methods;
    // three has the other one from r180 or so on.
    const isOld = typeof insides._updateDrawParameters !== 'function';
    const key = isOld ? 'onBeforeRender' : '_updateDrawParameters';
    this.#replaceMethod(insides, key, (...args) => {
      const isOurs = !isOld || (args[0] as { isWebGLRenderer?: boolean }).isWebGLRenderer === true;
      if (isOurs && write(...((isOld ? args.slice(2, 5) : args) as Parameters<typeof write>))) return;
      batch.constructor.prototype[key].apply(batch, args);
    });
  }

  /** Puts a method in the place of three's, which is in the prototype, while this render lasts. What the app has there stays. */
  #replaceMethod(object: Methods, key: string, method: Methods[string]): void {
    if (Object.hasOwn(object, key)) return;
    object[key] = method;
    this.#ends.push(() => {
      delete object[key];
    });
  }

  /** Has a LOD show the level that its pixels choose, where the app wishes that. */
  #chooseLevel(lod: LOD): void {
    if (!lod.autoUpdate) return;
    const levels = this.#wishes.levelsOf(lod);
    if (levels === null) return;
    const { camera, volume, pixels } = this.#view;
    this.#replaceMethod(lod as unknown as Methods, 'update', (seenBy) => {
      try {
        if (seenBy === camera) return this.#kept.lods.choose(lod, levels, volume, pixels);
      } catch (cause) {
        this.#drawAsItIs(lod, cause);
      }
      lod.constructor.prototype.update.call(lod, seenBy);
    });
  }

  /** Tells whether nearer objects hide a Mesh, where it is and as it is. */
  #isHidden(mesh: Mesh, entry: CullableObject): boolean {
    const { occlusion, seen } = this.#view;
    if (occlusion === null) return false;
    if (!occlusion.hides(entry, mesh, seen.update, seen.view.layers)) return false;
    this.#occluded++;
    this.#objects++;
    this.#triangles += trianglesOf(mesh.geometry);
    return true;
  }

  #isOutside({ geometry, matrixWorld }: Mesh): boolean {
    const bounds = boundsOf(geometry);
    if (bounds === null) return false;
    const { volume, pixels, minPixels } = this.#view;
    const isOutside =
      volume.isOutside(bounds.box, matrixWorld) ||
      (minPixels > 0 && volume.pixelsOf(bounds.sphere.clone().applyMatrix4(matrixWorld), pixels) < minPixels);
    if (!isOutside) return false;
    this.#objects++;
    this.#triangles += trianglesOf(geometry);
    return true;
  }

  /** Has the instances in view drawn in place of all; answers false where the mesh is drawn as it is. */
  #replace(mesh: InstancedMesh, entry: CullableObject): boolean {
    if (entry.isRigid !== true && mesh.morphTexture == null) return false;
    let known = this.#kept.instances.get(entry);
    if (known === undefined) {
      known = new InstanceCulling(mesh, entry, this.#wishes.orderOf(mesh), this.#wishes.levelsOf(mesh));
      this.#kept.instances.set(entry, known);
    }
    const part = known.draw(this.#view);
    if (part === null) return false;
    const { stands, hidden, occluded, triangles } = part;
    for (const stand of stands) stand.frustumCulled = mesh.frustumCulled;
    mesh.children.unshift(...stands); // what fails here has left all as it was
    this.#stands.set(mesh, stands);
    if (!mesh.frustumCulled) {
      this.#forced.add(mesh);
      mesh.frustumCulled = true; // so that the renderer asks
    }
    if (stands.length === 0) this.#objects++;
    this.#hidden += hidden;
    this.#occluded += occluded;
    this.#triangles += triangles;
    return true;
  }
}

/** Does what is to be put right of one object; what cannot be is not, and the others are. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {}
}
