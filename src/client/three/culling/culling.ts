import {
  type BatchedMesh,
  type Camera,
  type Frustum,
  type InstancedMesh,
  type Mesh,
  type Object3D,
  type PerspectiveCamera,
  type Scene,
  Vector3,
} from 'three';
import type { FrameResult } from '../../../shared/types.js';
import type { ClippingRenderer } from '../track/clip-sets.js';
import { canBeHidden } from '../track/opacity.js';
import type { SceneEntry } from '../track/scene-entry.js';
import type { SceneObjects } from '../track/scene-objects.js';
import type { CullableObject } from '../track/stand-in.js';
import type { CullingOptions } from '../track-options.js';
import type { SceneView, SceneViewOptions } from '../view/scene-views.js';
import { BatchDraws } from './batch-draws.js';
import { DrawnInstances } from './drawn-instances.js';
import { enter, leave, type RenderPass } from './frustum-tests.js';
import { boundsOf } from './geometry-bounds.js';
import { InstanceTest } from './instance-test.js';
import { OcclusionAnswer, type Places } from './occlusion-answer.js';
import { listenToRenders, sceneOf } from './scene-hooks.js';
import { SeenObjects } from './seen-objects.js';
import { isContained, ViewVolume } from './view-volume.js';

/** What was left out of a picture, beside what three itself leaves out. */
export interface Culled {
  /** Meshes of which nothing was drawn, an InstancedMesh as one. */
  readonly objects: number;
  readonly instances: number;
  /** Those of these objects and instances. */
  readonly triangles: number;
  /** How many of these objects and instances were left out as nearer objects hide them. */
  readonly occluded: number;
}

/** What culling knows of a tracker. */
export interface CullingContext {
  readonly objects: SceneObjects;
  readonly instanced: ReadonlySet<CullableObject>;
  readonly service: Places;
  entryOf(object: Object3D): SceneEntry | undefined;
}

/** What was asked of the service: the number of the newest `update` that joined it, and the views as they were then. */
export interface Asked {
  update: number;
  views: ReadonlyMap<string, SceneView>;
}

export const NOTHING_CULLED: Culled = { objects: 0, instances: 0, triangles: 0, occluded: 0 };

/**
 * Leaves out of three's pictures what the views of a tracker do not see.
 *
 * The answers are one frame old when a picture is drawn. So they are taken as hints, of what is to be looked at once more:
 * nothing is left out that is not certainly outside of what is drawn now, where it is now. What an answer says is trusted
 * alone where it has seen all instances of a mesh as they are (`wasSeenAsItIs`), and where the camera draws nothing that was not
 * asked about (`isContained`): a still scene costs no more than its draw list. So not a pixel differs, whatever moves or
 * jumps; and where no answer comes, everything is drawn.
 *
 * three asks frusta about what it draws, which is where Meshes are left out (frustum-tests.ts). In place of an InstancedMesh
 * something is drawn that has the instances in view (drawn-instances.ts): it is among the mesh's children for as long as the
 * renderer lists what it draws. Shadows and other cameras are as they were.
 */
export class Culling {
  readonly #context: CullingContext;
  readonly #root: Object3D;
  readonly #options: CullingOptions;
  readonly #seen = new Map<string, SeenObjects>();
  readonly #occlusion = new Map<SeenObjects, OcclusionAnswer>();
  /** Where each camera was when it was asked about last. */
  readonly #eyes = new WeakMap<Camera, Vector3>();
  readonly #passes: CullingPass[] = [];
  readonly #kept: Kept = { instances: new Map(), batches: new Map() };
  #scene: Scene | null = null;
  #ignore: () => void = () => {};
  #culled = NOTHING_CULLED;

  constructor(context: CullingContext, root: Object3D, options: CullingOptions) {
    this.#context = context;
    this.#root = root;
    this.#options = options;
  }

  /** Answers what was left out when a camera of the tracker was drawn last. */
  get culled(): Culled {
    return this.#culled;
  }

  /** Begins an `update`: puts right what a render has left that has thrown, and finds the scene that is drawn. */
  refresh(): void {
    while (this.#passes.length > 0) this.#end(this.#passes[this.#passes.length - 1]);
    const scene = sceneOf(this.#root);
    if (scene === this.#scene) return;
    this.#ignore();
    this.#scene = scene;
    this.#ignore =
      scene === null
        ? () => {}
        : listenToRenders(scene, {
            begin: (camera, renderer) => this.#begin(camera, renderer),
            end: (camera) => this.#endOf(camera),
          });
  }

  /** Answers the options of a view: those that are given, and the culling's own. */
  optionsFor(camera: Camera, given: SceneViewOptions): SceneViewOptions {
    // Where the far plane is at infinity, its corners move infinitely far.
    const motion = Number.isFinite((camera as PerspectiveCamera).far) ? ('motion' as const) : 0;
    const { margin = motion, minPixels = 0, occlusion = false } = this.#options;
    const options = { ...given, margin: given.margin ?? margin, minPixels: given.minPixels ?? minPixels };
    if (!(given.occlusion ?? occlusion)) return options;
    return { ...options, occlusion: true, occlusionMargin: given.occlusionMargin ?? 2 * this.#eyeMotion(camera) };
  }

  /** Answers how far a camera has moved since this was asked last; one that turns does not move. */
  #eyeMotion(camera: Camera): number {
    const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    const before = this.#eyes.get(camera);
    this.#eyes.set(camera, eye);
    const motion = before?.distanceTo(eye) ?? 0;
    return Number.isFinite(motion) ? motion : 0;
  }

  /** Notes where objects are that may be hidden, when the update of that number is about to be sent. */
  asking(update: number): void {
    for (const answer of this.#occlusion.values()) answer.ask(update, this.#context.service);
  }

  /** Takes over what the views see by a frame's answer. */
  answered({ views }: FrameResult, { update, views: asked }: Asked): void {
    for (const [name, view] of asked) {
      const visible = views.get(name);
      if (visible === undefined) continue;
      let seen = this.#seen.get(name);
      if (seen === undefined) {
        seen = new SeenObjects(view);
        this.#seen.set(name, seen);
      }
      if (seen.update >= update) continue;
      seen.set(view, update, visible.ids, this.#context.objects);
      let occlusion = this.#occlusion.get(seen);
      if (view.options.occlusion !== true) {
        this.#occlusion.delete(seen);
        continue;
      }
      if (occlusion === undefined) {
        occlusion = new OcclusionAnswer();
        this.#occlusion.set(seen, occlusion);
      }
      occlusion.set(visible, this.#context.objects);
    }
    for (const [name, seen] of this.#seen) {
      if (asked.has(name)) continue;
      this.#seen.delete(name);
      this.#occlusion.delete(seen);
    }
    const { instances, batches } = this.#kept;
    for (const [object, { drawn }] of instances) {
      if (this.#context.instanced.has(object)) continue;
      drawn.dispose();
      instances.delete(object);
    }
    for (const object of batches.keys()) if (!this.#context.instanced.has(object)) batches.delete(object);
  }

  /** Lets go of the scene, and of the memory on the graphics card. */
  dispose(): void {
    while (this.#passes.length > 0) this.#end(this.#passes[this.#passes.length - 1]);
    this.#ignore();
    this.#ignore = () => {};
    this.#scene = null;
    this.#seen.clear();
    this.#occlusion.clear();
    for (const { drawn } of this.#kept.instances.values()) drawn.dispose();
    this.#kept.instances.clear();
    this.#kept.batches.clear();
  }

  #begin(camera: Camera, renderer: ClippingRenderer): void {
    // No picture is drawn within itself: the one before has thrown.
    this.#endOf(camera);
    const seen = [...this.#seen.values()].find(({ view }) => view.camera === camera);
    if (seen === undefined || seen.view.layers !== camera.layers.mask >>> 0) return;
    // What the renderer cuts away hides nothing.
    const isCut = (renderer.clippingPlanes?.length ?? 0) > 0;
    const pass = new CullingPass(
      this.#context,
      seen,
      camera,
      this.#kept,
      this.#occlusion.get(seen) ?? null,
      isCut ? null : this.#scene,
    );
    this.#passes.push(pass);
    enter(pass);
  }

  #endOf(camera: Camera): void {
    const pass = this.#passes.findLast((each) => each.camera === camera);
    if (pass !== undefined) this.#end(pass);
  }

  #end(pass: CullingPass): void {
    this.#passes.splice(this.#passes.indexOf(pass), 1);
    leave(pass);
    pass.end();
    this.#culled = pass.culled;
  }
}

/** What it takes to draw some instances of a mesh. */
interface InstanceCulling {
  readonly drawn: DrawnInstances;
  readonly test: InstanceTest;
  list: Uint32Array;
}

/** The same of a BatchedMesh. */
interface BatchCulling {
  readonly draws: BatchDraws;
  readonly test: InstanceTest;
}

/** What is kept from picture to picture. */
interface Kept {
  readonly instances: Map<CullableObject, InstanceCulling>;
  readonly batches: Map<CullableObject, BatchCulling>;
}

/** One render of a camera. */
class CullingPass implements RenderPass {
  readonly camera: Camera;
  readonly #context: CullingContext;
  readonly #seen: SeenObjects;
  readonly #kept: Kept;
  readonly #volume: ViewVolume;
  readonly #isContained: boolean;
  /** Pixels of a unit where clip w is 1. */
  readonly #pixels: number;
  readonly #minPixels: number;
  /** What is drawn in the place of others; null for nothing. */
  readonly #stands = new Map<InstancedMesh, InstancedMesh | null>();
  /** Those of them that are `frustumCulled` in this render alone. */
  readonly #forced = new Set<Object3D>();
  /** They write their draw lists by what is seen. */
  readonly #batches: BatchedMesh[] = [];
  readonly #occlusion: OcclusionAnswer | null;
  /** Whether what it says is hidden is left out. */
  readonly #isOcclusionTrue: boolean;
  #occluded = 0;
  #objects = 0;
  #hidden = 0;
  #triangles = 0;

  constructor(
    context: CullingContext,
    seen: SeenObjects,
    camera: Camera,
    kept: Kept,
    occlusion: OcclusionAnswer | null,
    scene: Scene | null,
  ) {
    this.#context = context;
    this.#seen = seen;
    this.camera = camera;
    this.#kept = kept;
    this.#volume = new ViewVolume().set(camera);
    const { viewport, minPixels = 0 } = seen.view.options;
    const scales = camera.projectionMatrix.elements;
    this.#pixels = Math.max(Math.abs(scales[0]) * viewport.width, Math.abs(scales[5]) * viewport.height) / 2;
    this.#minPixels = minPixels;
    this.#isContained = isContained(camera, seen.view.options);
    this.#occlusion = occlusion;
    this.#isOcclusionTrue =
      scene !== null && (occlusion?.holds(camera, scene, seen.update, seen.view, context.service) ?? false);
    // The app has to say that what nobody asks frusta about may be left out.
    for (const entry of context.instanced) {
      const mesh = entry.object as InstancedMesh & { isBatchedMesh?: boolean };
      if (mesh.frustumCulled || entry.cullable !== true) continue;
      if (mesh.isBatchedMesh === true) this.#takeOver(mesh as unknown as BatchedMesh, entry);
      else this.#replace(mesh, entry);
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
    return this.#volume.isSame(frustum);
  }

  isForced(object: Object3D): boolean {
    return this.#forced.size > 0 && this.#forced.has(object);
  }

  isLeftOut(object: Object3D): boolean {
    const mesh = object as InstancedMesh & { isSkinnedMesh?: boolean; isBatchedMesh?: boolean };
    if (mesh.isMesh !== true || mesh.isSkinnedMesh === true) return false;
    if (this.#stands.has(mesh)) return true;
    const entry = this.#context.entryOf(object) as (SceneEntry & Partial<CullableObject>) | undefined;
    if (entry === undefined || entry.isRigid !== true || entry.cullable === false) return false;
    if (mesh.isBatchedMesh === true) {
      this.#takeOver(mesh as unknown as BatchedMesh, entry as CullableObject);
      return false; // it leaves out its instances when it is drawn
    }
    if (mesh.isInstancedMesh === true) return entry.object === object && this.#replace(mesh, entry as CullableObject);
    if (entry.count !== 1 || this.#seen.has(entry.idAt(0))) return false;
    return this.#isHidden(mesh, entry as CullableObject) || this.#isOutside(mesh);
  }

  /** Takes out what it has put into the scene. */
  end(): void {
    for (const mesh of this.#forced) mesh.frustumCulled = false;
    this.#forced.clear();
    for (const [mesh, stand] of this.#stands) {
      if (stand === null) continue;
      const at = mesh.children.indexOf(stand);
      if (at >= 0) mesh.children.splice(at, 1);
    }
    this.#stands.clear();
    for (const batch of this.#batches) delete (batch as Partial<BatchedMesh>).onBeforeRender;
    this.#batches.length = 0;
  }

  /** Has a BatchedMesh write its draw list by what is seen, while this render lasts. */
  #takeOver(batch: BatchedMesh, entry: CullableObject): void {
    // What the app has there draws what it likes; three's own is in the prototype.
    if (Object.hasOwn(batch, 'onBeforeRender')) return;
    if (!batch.perObjectFrustumCulled && entry.cullable !== true) return;
    let known = this.#kept.batches.get(entry);
    if (known === undefined) {
      known = { draws: new BatchDraws(batch), test: new InstanceTest() };
      this.#kept.batches.set(entry, known);
    }
    const { draws, test } = known;
    let isCounted = false; // it may be drawn twice, for what shines through it
    batch.onBeforeRender = (renderer, scene, camera, geometry, material, group) => {
      const isOurs = camera === this.camera && (renderer as { isWebGLRenderer?: boolean }).isWebGLRenderer === true;
      if (!isOurs || !draws.canDraw(material)) {
        const { onBeforeRender } = Object.getPrototypeOf(batch) as BatchedMesh;
        onBeforeRender.call(batch, renderer, scene, camera, geometry, material, group);
        return;
      }
      test.begin(this.#volume, batch.matrixWorld, draws.count, this.#pixels, this.#minPixels);
      const seen = this.#seen.instancesOf(entry);
      const { hidden, triangles } = draws.write(seen, test, camera, geometry, material);
      if (isCounted) return;
      isCounted = true;
      this.#hidden += hidden;
      this.#triangles += triangles;
    };
    this.#batches.push(batch);
  }

  /** Tells whether nearer objects hide a Mesh, where it is and as it is. */
  #isHidden(mesh: Mesh, entry: CullableObject): boolean {
    if (!this.#isOcclusionTrue || entry.object !== mesh) return false;
    if (!this.#occlusion!.hides(entry, mesh, this.#seen.update, this.#seen.view.layers)) return false;
    this.#occluded++;
    this.#objects++;
    this.#triangles += trianglesOf(mesh.geometry);
    return true;
  }

  #isOutside({ geometry, matrixWorld }: Mesh): boolean {
    const bounds = boundsOf(geometry);
    if (bounds === null) return false;
    const isOutside =
      this.#volume.isOutside(bounds.box, matrixWorld) ||
      (this.#minPixels > 0 && this.#volume.isSmall(bounds.sphere, matrixWorld, this.#pixels, this.#minPixels));
    if (!isOutside) return false;
    this.#objects++;
    this.#triangles += trianglesOf(geometry);
    return true;
  }

  /** Has the instances in view drawn in place of all; answers false where these are all, or cannot be told apart. */
  #replace(mesh: InstancedMesh, entry: CullableObject): boolean {
    const total = Math.min(mesh.count, mesh.instanceMatrix.count);
    if (total === 0 || mesh.morphTexture != null || hasOwnAttributes(mesh)) return false;
    const bounds = boundsOf(mesh.geometry);
    if (bounds === null) return false;
    let known = this.#kept.instances.get(entry);
    if (known === undefined) {
      known = { drawn: new DrawnInstances(mesh), test: new InstanceTest(), list: new Uint32Array(total) };
      this.#kept.instances.set(entry, known);
    }
    if (known.list.length < total) known.list = new Uint32Array(total);
    const { list, test, drawn } = known;
    const seen = this.#seen.instancesOf(entry);
    let count = 0;
    const { array } = mesh.instanceMatrix;
    test.begin(this.#volume, mesh.matrixWorld, total, this.#pixels, this.#minPixels);
    const { update, view } = this.#seen;
    if (this.#isContained && entry.wasSeenAsItIs(update, view.layers)) {
      // What is seen within the margin need not be in the picture.
      for (let n = 0; n < seen.count && seen.numbers[n] < total; n++) {
        if (test.maySee(array, seen.numbers[n], bounds.sphere)) list[count++] = seen.numbers[n];
      }
      const occluded = this.#occlusion?.instancesOf(entry) ?? null;
      if (occluded !== null && this.#isOcclusionTrue && canBeHidden(mesh)) this.#occluded += occluded.count;
      else if (occluded !== null) {
        const before = count;
        for (let n = 0; n < occluded.count && occluded.numbers[n] < total; n++) {
          if (test.maySee(array, occluded.numbers[n], bounds.sphere)) list[count++] = occluded.numbers[n];
        }
        if (count > before) list.subarray(0, count).sort();
      }
    } else {
      for (let i = 0; i < total; i++) if (test.maySee(array, i, bounds.sphere)) list[count++] = i;
    }
    if (count === total) return false;
    const stand = count === 0 ? null : drawn.show(list, count);
    this.#stands.set(mesh, stand);
    if (stand !== null) stand.frustumCulled = mesh.frustumCulled;
    if (!mesh.frustumCulled) {
      mesh.frustumCulled = true; // so that the renderer asks
      this.#forced.add(mesh);
    }
    if (stand !== null) {
      mesh.children.unshift(stand);
    } else this.#objects++;
    this.#hidden += total - count;
    this.#triangles += (total - count) * trianglesOf(mesh.geometry);
    return true;
  }
}

/** Tells whether its geometry says something of each instance, by the instance's number. */
function hasOwnAttributes({ geometry }: InstancedMesh): boolean {
  if ('isInstancedBufferGeometry' in geometry) return true;
  for (const name in geometry.attributes) {
    const attribute = geometry.attributes[name];
    if ('isInstancedBufferAttribute' in attribute) return true;
    if ('isInterleavedBufferAttribute' in attribute && 'isInstancedInterleavedBuffer' in attribute.data) return true;
  }
  return false;
}

function trianglesOf({ index, attributes, drawRange }: Mesh['geometry']): number {
  const all = index?.count ?? attributes.position?.count ?? 0;
  return Math.floor(Math.max(0, Math.min(all - drawRange.start, drawRange.count)) / 3);
}
