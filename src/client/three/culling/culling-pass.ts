import type { BatchedMesh, BufferGeometry, Camera, Frustum, InstancedMesh, LOD, Material, Mesh, Object3D } from 'three';
import { isDrawnUnmodified } from '../track/opacity.js';
import type { SceneEntry } from '../track/scene-entry.js';
import type { CullableObject } from '../track/stand-in.js';
import { BatchDraws } from './batch-draws.js';
import type { Culled } from './culled.js';
import type { CullingContext } from './culling-context.js';
import type { CullingSettings } from './culling-settings.js';
import { leavePass, type RenderPass } from './frustum-tests.js';
import { boundsOf, drawnTriangleCount } from './geometry-bounds.js';
import { type DrawnView, InstanceCulling } from './instance-culling.js';
import { LodLevels } from './lod-levels.js';
import { ViewVolume } from './view-volume.js';

/** What is kept of a view from picture to picture. */
export class ViewCache {
  /** The volume that its camera draws, during a render. */
  readonly volume = new ViewVolume();
  readonly instances = new Map<CullableObject, InstanceCulling>();
  readonly batches = new WeakMap<CullableObject, BatchDraws>();
  readonly lods = new LodLevels();

  /** Forgets objects that no longer exist. */
  keep(existing: ReadonlySet<CullableObject>): void {
    for (const [object, instances] of this.instances) {
      if (existing.has(object)) continue;
      instances.dispose();
      this.instances.delete(object);
    }
  }

  /** Frees the memory on the graphics card. Renders that have begun may still draw with it, and later ones allocate it anew. */
  dispose(): void {
    for (const each of this.instances.values()) each.dispose();
  }
}

type Methods = Record<string, (...args: unknown[]) => void>;

/** One render of a camera. */
export class CullingPass implements RenderPass {
  readonly camera: Camera;
  readonly #context: CullingContext;
  readonly #view: DrawnView;
  readonly #cache: ViewCache;
  readonly #settings: CullingSettings;
  /** The meshes that are drawn in place of each InstancedMesh: an empty list if nothing is drawn. */
  readonly #replacements = new Map<InstancedMesh, readonly InstancedMesh[]>();
  /** True for the replacements, false for meshes that are `frustumCulled` in this render alone. */
  readonly #owned = new Map<Object3D, boolean>();
  /** Functions that restore the replaced methods of BatchedMeshes; and methods of LODs and `frustumCulled`, before other renders. */
  readonly #restorers: (() => void)[] = [];
  readonly #sceneRestorers: (() => void)[] = [];
  /** The renderer's frustum. */
  #frustum: Frustum | null = null;
  #occludedCount = 0;
  #objectCount = 0;
  #hiddenCount = 0;
  #triangleCount = 0;

  constructor(context: CullingContext, view: DrawnView, cache: ViewCache, settings: CullingSettings) {
    this.#context = context;
    this.#view = view;
    this.camera = view.camera;
    this.#cache = cache;
    this.#settings = settings;
    // Objects that three does not test against frusta are left out only if the app allows it. Then the renderer tests them, unless
    // it records them for other pictures, too.
    for (const { object, cullable } of context.instanced) {
      try {
        if (object.frustumCulled || cullable !== true) continue;
        this.#owned.set(object, false);
        object.frustumCulled = true;
        this.#sceneRestorers.push(() => {
          object.frustumCulled = false;
        });
      } catch (cause) {
        this.#drawAsItIs(object, cause);
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
      objects: this.#objectCount,
      instances: this.#hiddenCount,
      triangles: this.#triangleCount,
      occluded: this.#occludedCount,
    };
  }

  isOf(frustum: Frustum): boolean {
    if (!this.#view.volume.isSame(frustum)) return false;
    // The picture is collected first; then three draws shadows, maybe from the same place, with a frustum of their own.
    this.#frustum ??= frustum;
    return this.#frustum === frustum;
  }

  isOwn(object: Object3D): boolean | undefined {
    return this.#owned.get(object);
  }

  isLeftOut(object: Object3D): boolean {
    try {
      return this.#shouldLeaveOut(object);
    } catch (cause) {
      return this.#drawAsItIs(object, cause);
    }
  }

  #shouldLeaveOut(object: Object3D): boolean {
    const mesh = object as InstancedMesh & { isSkinnedMesh?: boolean; isBatchedMesh?: boolean };
    if (mesh.isMesh !== true || mesh.isSkinnedMesh === true) return false;
    if (this.#replacements.has(mesh)) return true;
    const entry = this.#context.entryOf(object) as (SceneEntry & Partial<CullableObject>) | undefined;
    if (entry === undefined || entry.cullable === false) return false;
    if (mesh.isInstancedMesh === true)
      return entry.object === object && this.#replaceInstances(mesh, entry as CullableObject);
    if (entry.isRigid !== true) return false;
    if (mesh.isBatchedMesh === true) {
      this.#replaceDrawList(mesh as unknown as BatchedMesh, entry as CullableObject);
      return false; // its instances are left out when it is drawn
    }
    if (entry.count !== 1 || this.#view.seen.has(entry.idAt!(0))) return false;
    if (entry.cullable !== true && !isDrawnUnmodified(mesh)) return false;
    return this.#isOccluded(mesh, entry as CullableObject) || this.#isOutside(mesh);
  }

  /**
   * Removes what the pass has added to the scene, and to LODs: other renders begin once this one has collected what it draws.
   */
  suspend(): void {
    leavePass(this); // another camera may draw the same frustum
    for (const mesh of this.#replacements.keys()) this.#putBack(mesh);
    for (const restore of this.#sceneRestorers.splice(0)) attempt(restore);
  }

  /** Restores the scene as it was. */
  end(): void {
    this.suspend();
    for (const restore of this.#restorers.splice(0)) attempt(restore);
  }

  /** Lets three draw an object as it is if it cannot be read: if that throws once more, the error is three's. */
  #drawAsItIs(object: Object3D, cause: unknown): false {
    this.#putBack(object as InstancedMesh);
    this.#settings.drawAsItIs(object, cause);
    return false;
  }

  #putBack(mesh: InstancedMesh): void {
    attempt(() => {
      for (const replacement of this.#replacements.get(mesh) ?? []) {
        const index = mesh.children.indexOf(replacement);
        if (index >= 0) mesh.children.splice(index, 1);
      }
    });
    this.#replacements.delete(mesh);
  }

  /** Makes a BatchedMesh write its draw list by what is seen, for the duration of this render. */
  #replaceDrawList(batch: BatchedMesh, entry: CullableObject): void {
    if (!batch.perObjectFrustumCulled && entry.cullable !== true) return;
    const draws = this.#cache.batches.get(entry) ?? new BatchDraws(batch, entry);
    this.#cache.batches.set(entry, draws);
    let isCounted = false; // it may be drawn twice, for transmission
    const write = (camera: Camera, geometry: BufferGeometry, material: Material, format?: string): boolean => {
      if (camera !== this.camera) return false;
      try {
        if (!draws.canDraw(material)) return false;
        const { hidden, occluded, triangles } = draws.write(this.#view, geometry, material, format === 'merged');
        if (isCounted) return true;
        isCounted = true;
        this.#hiddenCount += hidden;
        this.#occludedCount += occluded;
        this.#triangleCount += triangles;
        return true;
      } catch (cause) {
        draws.leave();
        return this.#drawAsItIs(batch, cause);
      }
    };
    const internals = batch as unknown as Methods;
    // three has the other method from about r180 on.
    const hasNoDrawMethod = typeof internals._updateDrawParameters !== 'function';
    const key = hasNoDrawMethod ? 'onBeforeRender' : '_updateDrawParameters';
    this.#replaceMethod(this.#restorers, internals, key, (...args) => {
      const isSupported = !hasNoDrawMethod || (args[0] as { isWebGLRenderer?: boolean }).isWebGLRenderer === true;
      if (isSupported && write(...((hasNoDrawMethod ? args.slice(2, 5) : args) as Parameters<typeof write>))) return;
      batch.constructor.prototype[key].apply(batch, args);
    });
  }

  /** Replaces a method of three's prototype on one object for the duration of this render. A method of the app's own is kept. */
  #replaceMethod(restorers: (() => void)[], object: Methods, key: string, method: Methods[string]): void {
    if (Object.hasOwn(object, key)) return;
    object[key] = method;
    restorers.push(() => {
      delete object[key];
    });
  }

  /** Makes a LOD show the level that its size in pixels chooses, if the app wishes that. */
  #chooseLevel(lod: LOD): void {
    if (!lod.autoUpdate) return;
    const levels = this.#settings.levelsOf(lod);
    if (levels === null) return;
    const { camera, volume, pixels } = this.#view;
    this.#replaceMethod(this.#sceneRestorers, lod as unknown as Methods, 'update', (drawingCamera) => {
      try {
        if (drawingCamera === camera) return this.#cache.lods.choose(lod, levels, volume, pixels);
      } catch (cause) {
        this.#drawAsItIs(lod, cause);
      }
      lod.constructor.prototype.update.call(lod, drawingCamera);
    });
  }

  /** Returns whether nearer objects hide a Mesh at its present place and in its present shape. */
  #isOccluded(mesh: Mesh, entry: CullableObject): boolean {
    const { occlusion, seen } = this.#view;
    if (occlusion === null) return false;
    if (!occlusion.hides(entry, mesh, seen.update, seen.view.layers)) return false;
    this.#occludedCount++;
    this.#objectCount++;
    this.#triangleCount += drawnTriangleCount(mesh.geometry);
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
    this.#objectCount++;
    this.#triangleCount += drawnTriangleCount(geometry);
    return true;
  }

  /** Makes the instances in view be drawn in place of all; returns false if the mesh is drawn as it is. */
  #replaceInstances(mesh: InstancedMesh, entry: CullableObject): boolean {
    if (entry.isRigid !== true && mesh.morphTexture == null) return false;
    let culling = this.#cache.instances.get(entry);
    if (culling === undefined) {
      culling = new InstanceCulling(mesh, entry, this.#settings.orderOf(mesh), this.#settings.levelsOf(mesh));
      this.#cache.instances.set(entry, culling);
    }
    const part = culling.draw(this.#view);
    if (part === null) return false;
    const { stands, hidden, occluded, triangles } = part;
    for (const replacement of stands) this.#owned.set(replacement, true);
    mesh.children.unshift(...stands); // an error up to here has left everything as it was
    this.#replacements.set(mesh, stands);
    if (stands.length === 0) this.#objectCount++;
    this.#hiddenCount += hidden;
    this.#occludedCount += occluded;
    this.#triangleCount += triangles;
    return true;
  }
}

/** Restores one thing, and ignores errors, so that the others are restored too. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {}
}
