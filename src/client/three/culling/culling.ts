import { type Camera, type Object3D, type Scene, Vector3 } from 'three';
import type { FrameResult } from '../../../shared/types.js';
import type { ClippingRenderer } from '../track/clip-sets.js';
import type { CullingOptions } from '../track-options.js';
import type { SceneView, SceneViewOptions } from '../view/scene-views.js';
import { type Culled, NOTHING_CULLED } from './culled.js';
import type { CullingContext } from './culling-context.js';
import { CullingPass, ViewCache } from './culling-pass.js';
import { CullingSettings } from './culling-settings.js';
import { frustumFilter } from './frustum-filter.js';
import { enterPass } from './frustum-tests.js';
import { type DrawnView, readsInstanceIds } from './instance-culling.js';
import { OcclusionAnswer } from './occlusion-answer.js';
import { listenToRenders, sceneOf } from './scene-hooks.js';
import { SeenObjects } from './seen-objects.js';
import { isContained, type ViewVolume } from './view-volume.js';

/** Either of three's renderers. Only WebGPURenderer has these members. */
interface AnyRenderer extends ClippingRenderer {
  /** Whether it draws opaque objects. */
  readonly opaque?: boolean;
  /** Returns the function that draws objects in place of the renderer's own. */
  getRenderObjectFunction?(): unknown;
  /** Returns what is drawn into several targets at once. */
  getMRT?(): { has(name: string): boolean } | null;
}

/** A question to the service: the number of the newest `update` that joined it, and the views at that time. */
export interface FrameRequest {
  update: number;
  views: ReadonlyMap<string, SceneView>;
}

/** What is kept of a view. */
interface ViewState {
  readonly seen: SeenObjects;
  /** What nearer objects hide; null if that was not asked. */
  occlusion: OcclusionAnswer | null;
  /** Each view has its own: one may be drawn while another is being drawn. */
  readonly cache: ViewCache;
}

/**
 * Leaves out of three's pictures what the views of a tracker do not see.
 *
 * The answers are one frame old when a picture is drawn. So they are only hints of which objects to check again: an object is
 * left out only if it is certainly outside of what is drawn now, where it is now. An answer is trusted without that check only if
 * it has seen all instances of a mesh as they are (`wasSeenAsItIs`) and the camera draws nothing that was not asked about
 * (`isContained`): a still scene costs no more than its draw list. So not a pixel differs, whatever moves or jumps; and as long
 * as there is no answer, everything is drawn.
 *
 * three tests objects against frusta before it draws them, and there Meshes are left out (frustum-tests.ts). In place of an
 * InstancedMesh, a mesh with only the instances in view is drawn (drawn-instances.ts): it is among the mesh's children while the
 * renderer collects what it draws. Shadows and other cameras are not affected.
 */
export class Culling {
  readonly #context: CullingContext;
  readonly #root: Object3D;
  readonly #options: CullingOptions;
  /** The views that were answered, by name. */
  readonly #views = new Map<string, ViewState>();
  /** The position of each camera when it was last asked about. */
  readonly #eyePositions = new WeakMap<Camera, Vector3>();
  #passes: CullingPass[] = [];
  readonly #settings: CullingSettings;
  #scene: Scene | null = null;
  #stopListening: (() => void) | null = null;
  #culled = NOTHING_CULLED;

  constructor(context: CullingContext, root: Object3D, options: CullingOptions) {
    this.#context = context;
    this.#root = root;
    this.#options = options;
    this.#settings = new CullingSettings(options);
    frustumFilter(); // loads it before the first picture, if possible
  }

  /** Returns what was left out when a camera of the tracker was drawn last. */
  get culled(): Culled {
    return this.#culled;
  }

  /** Begins an `update`: cleans up after a render that has thrown, and finds the scene that is drawn. */
  refresh(): void {
    this.#endPasses();
    const scene = sceneOf(this.#root);
    if (scene === this.#scene) return;
    this.#stopListening?.();
    this.#scene = scene;
    this.#stopListening =
      scene &&
      listenToRenders(scene, {
        begin: (camera, renderer) => this.#beginPass(camera, renderer as AnyRenderer),
        end: (camera) => this.#endPasses(camera),
      });
  }

  /** Returns the options of a view: the given ones, completed by the culling's own, except for its margin. */
  optionsFor(camera: Camera, given: SceneViewOptions): SceneViewOptions {
    const { minPixels = 0, occlusion = false } = this.#options;
    const options = { ...given, minPixels: given.minPixels ?? minPixels };
    if (!(given.occlusion ?? occlusion)) return options;
    return { ...options, occlusion: true, occlusionMargin: given.occlusionMargin ?? 2 * this.#eyeMotion(camera) };
  }

  /** Returns how far a camera has moved since the last call; turning does not count. */
  #eyeMotion(camera: Camera): number {
    if (camera?.isCamera !== true) return 0; // reported where the view is set
    const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    const previous = this.#eyePositions.get(camera);
    this.#eyePositions.set(camera, eye);
    const motion = previous?.distanceTo(eye);
    return Number.isFinite(motion) ? motion! : 0;
  }

  /** Notes where the objects are that may be hidden, just before the update of that number is sent. */
  asking(update: number): void {
    for (const { occlusion } of this.#views.values()) occlusion?.ask(update, this.#context.service);
  }

  /** Takes over what the views see from a frame's answer. */
  answered({ views }: FrameResult, { update, views: requestedViews }: FrameRequest): void {
    const { objects, instanced } = this.#context;
    for (const [name, view] of requestedViews) {
      const visible = views.get(name);
      if (visible === undefined) continue;
      let state = this.#views.get(name);
      if (state === undefined) {
        state = { seen: new SeenObjects(view), occlusion: null, cache: new ViewCache() };
        this.#views.set(name, state);
      }
      if (state.seen.update >= update) continue;
      state.seen.set(view, update, visible.ids, objects);
      state.occlusion = view.options.occlusion === true ? (state.occlusion ?? new OcclusionAnswer()) : null;
      state.occlusion?.set(visible, objects);
    }
    for (const [name, { cache }] of this.#views) {
      if (requestedViews.has(name)) cache.keep(instanced);
      else {
        this.#views.delete(name);
        cache.dispose();
      }
    }
  }

  /** Releases the scene, and the memory on the graphics card. */
  dispose(): void {
    this.#endPasses();
    this.#stopListening?.();
    this.#scene = null;
    for (const { cache } of this.#views.values()) cache.dispose();
    this.#views.clear();
    this.#culled = NOTHING_CULLED;
  }

  #beginPass(camera: Camera, renderer: AnyRenderer): void {
    // One that is still open has thrown, or draws this one in its midst.
    const isOpen = this.#passes.some((pass) => pass.camera === camera);
    this.#endPasses(camera);
    for (const pass of this.#passes) pass.suspend();
    // three draws shadows in this way, of other objects than a picture has, and outlines, which are larger than their objects.
    if (renderer.getRenderObjectFunction?.() != null) return;
    const state = this.#stateOf(camera);
    if (state === null || state.seen.view.layers !== camera.layers.mask >>> 0) return;
    // three tests against other frusta for an ArrayCamera, and draws its parts one by one.
    if ('isArrayCamera' in camera) return;
    const { seen, occlusion: asked, cache } = state;
    if (isOpen) cache.dispose(); // the open pass, which has ended, has yet to draw its instances
    const volume = cache.volume.set(camera);
    const { update, view } = seen;
    const scene = this.#scene!;
    const isTrue =
      // Geometry that the renderer clips, or does not draw, hides nothing.
      !renderer.clippingPlanes?.length &&
      renderer.opaque !== false &&
      asked?.holds(camera, volume, scene, update, view, this.#context.service, this.#settings) === true;
    // Motion vectors are found by the matrix that had the same number in the picture before.
    const readsNumbers = readsInstanceIds(scene.overrideMaterial) || renderer.getMRT?.()?.has('velocity') === true;
    const drawnView = new PassView(volume, seen, asked, isTrue ? asked : null, readsNumbers);
    const pass = new CullingPass(this.#context, drawnView, cache, this.#settings);
    this.#passes.push(pass);
    enterPass(pass);
    // A render is over by then. One that has thrown, and `compileAsync`, do not report their end.
    queueMicrotask(() => this.#endPasses());
  }

  /** Returns the state of a camera's view; null if there is no answer, or only to a view without pixels, which sees nothing. */
  #stateOf(camera: Camera): ViewState | null {
    for (const state of this.#views.values()) {
      const { view } = state.seen;
      const { width, height } = view.options.viewport;
      if (view.camera === camera && width * height > 0) return state;
    }
    return null;
  }

  /** Ends the passes that are under way: of a camera, or all. */
  #endPasses(camera?: Camera): void {
    this.#passes = this.#passes.filter((pass) => {
      if (camera && pass.camera !== camera) return true;
      pass.end();
      this.#culled = pass.culled;
      return false;
    });
  }
}

/**
 * What a pass draws. A class of its own, because code that reads object literals with a getter meets another hidden class in each
 * picture.
 */
class PassView implements DrawnView {
  declare readonly camera: Camera;
  declare readonly volume: ViewVolume;
  declare readonly seen: SeenObjects;
  declare readonly asked: OcclusionAnswer | null;
  declare readonly occlusion: OcclusionAnswer | null;
  declare readonly pixels: number;
  declare readonly minPixels: number;
  declare readonly readsNumbers: boolean;
  #isContained: boolean | null = null;

  constructor(
    volume: ViewVolume,
    seen: SeenObjects,
    asked: OcclusionAnswer | null,
    occlusion: OcclusionAnswer | null,
    readsNumbers: boolean,
  ) {
    const { camera, options } = seen.view;
    const { viewport, minPixels = 0 } = options;
    const projection = camera.projectionMatrix.elements;
    this.camera = camera;
    this.volume = volume;
    this.seen = seen;
    this.asked = asked;
    this.occlusion = occlusion;
    this.pixels = Math.max(Math.abs(projection[0]) * viewport.width, Math.abs(projection[5]) * viewport.height) / 2;
    this.minPixels = minPixels;
    this.readsNumbers = readsNumbers;
  }

  /** Computed on demand, for objects that have not moved: where everything moves, nobody asks. */
  get isContained(): boolean {
    this.#isContained ??= isContained(this.camera, this.seen.view.options);
    return this.#isContained;
  }
}
