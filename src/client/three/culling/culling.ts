import { type Camera, type Object3D, type Scene, Vector3 } from 'three';
import type { FrameResult } from '../../../shared/types.js';
import type { ClippingRenderer } from '../track/clip-sets.js';
import type { CullingOptions } from '../track-options.js';
import type { SceneView, SceneViewOptions } from '../view/scene-views.js';
import { type Culled, NOTHING_CULLED } from './culled.js';
import type { CullingContext } from './culling-context.js';
import { CullingPass, KeptParts } from './culling-pass.js';
import { CullingWishes } from './culling-wishes.js';
import { frustumFilter } from './frustum-filter.js';
import { enter, leave } from './frustum-tests.js';
import type { DrawnView } from './instance-culling.js';
import { OcclusionAnswer } from './occlusion-answer.js';
import { listenToRenders, sceneOf } from './scene-hooks.js';
import { SeenObjects } from './seen-objects.js';
import { isContained, type ViewVolume } from './view-volume.js';

/** What was asked of the service: the number of the newest `update` that joined it, and the views as they were then. */
export interface Asked {
  update: number;
  views: ReadonlyMap<string, SceneView>;
}

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
  /** Each view has its own: one may be drawn while another is. */
  readonly #kept = new Map<SeenObjects, KeptParts>();
  readonly #wishes: CullingWishes;
  #scene: Scene | null = null;
  #ignore: () => void = () => {};
  #culled = NOTHING_CULLED;

  constructor(context: CullingContext, root: Object3D, options: CullingOptions) {
    this.#context = context;
    this.#root = root;
    this.#options = options;
    this.#wishes = new CullingWishes(options);
    frustumFilter(); // it is there before the first picture, where it can be
  }

  /** Answers what was left out when a camera of the tracker was drawn last. */
  get culled(): Culled {
    return this.#culled;
  }

  /** Begins an `update`: puts right what a render has left that has thrown, and finds the scene that is drawn. */
  refresh(): void {
    this.#endAll();
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

  /** Answers the options of a view: those that are given, and the culling's own, but for its margin. */
  optionsFor(camera: Camera, given: SceneViewOptions): SceneViewOptions {
    const { minPixels = 0, occlusion = false } = this.#options;
    const options = { ...given, minPixels: given.minPixels ?? minPixels };
    if (!(given.occlusion ?? occlusion)) return options;
    return { ...options, occlusion: true, occlusionMargin: given.occlusionMargin ?? 2 * this.#eyeMotion(camera) };
  }

  /** Answers how far a camera has moved since this was asked last; one that turns does not move. */
  #eyeMotion(camera: Camera): number {
    if (camera?.isCamera !== true) return 0; // which is said where the view is set
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
      this.#kept.get(seen)?.dispose();
      this.#kept.delete(seen);
    }
    for (const parts of this.#kept.values()) parts.keep(this.#context.instanced);
  }

  /** Lets go of the scene, and of the memory on the graphics card. */
  dispose(): void {
    this.#endAll();
    this.#ignore();
    this.#ignore = () => {};
    this.#scene = null;
    this.#seen.clear();
    this.#occlusion.clear();
    for (const parts of this.#kept.values()) parts.dispose();
    this.#kept.clear();
    this.#culled = NOTHING_CULLED;
  }

  #begin(camera: Camera, renderer: ClippingRenderer): void {
    // No picture is drawn within itself: the one before has thrown.
    this.#endOf(camera);
    for (const pass of this.#passes) {
      leave(pass); // another camera may draw the same frustum
      pass.suspend();
    }
    const seen = this.#seenBy(camera);
    if (seen === null || seen.view.layers !== camera.layers.mask >>> 0) return;
    // three asks other frusta of an ArrayCamera, and draws by its parts.
    if ('isArrayCamera' in camera) return;
    let kept = this.#kept.get(seen);
    if (kept === undefined) {
      kept = new KeptParts();
      this.#kept.set(seen, kept);
    }
    const volume = kept.volume.set(camera);
    const asked = this.#occlusion.get(seen) ?? null;
    const occlusion = this.#isTrue(asked, seen, camera, volume, renderer) ? asked : null;
    const view = new PassView(volume, seen, asked, occlusion);
    const pass = new CullingPass(this.#context, view, kept, this.#wishes);
    this.#passes.push(pass);
    enter(pass);
  }

  /** Answers what the newest answer says of a camera's view; null where there is none. */
  #seenBy(camera: Camera): SeenObjects | null {
    for (const seen of this.#seen.values()) if (seen.view.camera === camera) return seen;
    return null;
  }

  /** Tells whether what is said to be hidden is, in what a camera draws now. */
  #isTrue(
    answer: OcclusionAnswer | null,
    { update, view }: SeenObjects,
    camera: Camera,
    volume: ViewVolume,
    renderer: ClippingRenderer,
  ): boolean {
    // What the renderer cuts away hides nothing.
    if (answer === null || this.#scene === null || renderer.clippingPlanes?.length) return false;
    return answer.holds(camera, volume, this.#scene, update, view, this.#context.service, this.#wishes);
  }

  #endOf(camera: Camera): void {
    const pass = this.#passes.findLast((each) => each.camera === camera);
    if (pass !== undefined) this.#end(pass);
  }

  #endAll(): void {
    for (const pass of [...this.#passes]) this.#end(pass);
  }

  #end(pass: CullingPass): void {
    this.#passes.splice(this.#passes.indexOf(pass), 1);
    leave(pass);
    pass.end();
    this.#culled = pass.culled;
  }
}

/** What a pass draws. It has a class of its own, as code that reads literals with a getter finds another kind of object in each picture. */
class PassView implements DrawnView {
  readonly camera: Camera;
  readonly volume: ViewVolume;
  readonly seen: SeenObjects;
  readonly asked: OcclusionAnswer | null;
  readonly occlusion: OcclusionAnswer | null;
  readonly pixels: number;
  readonly minPixels: number;
  #isContained: boolean | null = null;

  constructor(volume: ViewVolume, seen: SeenObjects, asked: OcclusionAnswer | null, occlusion: OcclusionAnswer | null) {
    const { camera, options } = seen.view;
    const { viewport, minPixels = 0 } = options;
    const scales = camera.projectionMatrix.elements;
    this.camera = camera;
    this.volume = volume;
    this.seen = seen;
    this.asked = asked;
    this.occlusion = occlusion;
    this.pixels = Math.max(Math.abs(scales[0]) * viewport.width, Math.abs(scales[5]) * viewport.height) / 2;
    this.minPixels = minPixels;
  }

  /** It is found where it is asked for, of what has not moved: where all moves, nobody asks. */
  get isContained(): boolean {
    this.#isContained ??= isContained(this.camera, this.seen.view.options);
    return this.#isContained;
  }
}
