import type { CollisionService } from 'collision-worker';
import type { SceneFrame, SceneIntersection, SceneTracker } from 'collision-worker/three';
import { type Box3, type Object3D, PerspectiveCamera, type Vector3, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { costOf, Meter, quantile } from './meter.js';
import { Panel, showError } from './panel.js';
import { movesByItself } from './quality.js';
import { timeOfRay } from './ray-probe.js';
import { animate, createScene, fitToCanvas, showBox } from './scenery.js';

/** Milliseconds between two updates of the figures. */
const REPORT_INTERVAL = 500;

/** The content of a page, and its reactions to the pointer. */
export interface Exhibit {
  /** The tracked objects. */
  readonly root: Object3D;
  /** Objects that are drawn but not tracked. */
  readonly marks: readonly Object3D[];
  /** The camera shows this whole box, from the direction `from`. */
  readonly box: Box3;
  readonly from: Vector3;
  /** Radius in pixels within which points are picked. */
  readonly radius?: number;
  /** World units, for the rays that are timed. */
  readonly threshold?: number;
  /** Poses everything for a time. Without it nothing moves, and the page draws only after changes. */
  pose?(seconds: number): void;
  nameOf(hit: SceneIntersection): string;
  detailOf(hit: SceneIntersection): string;
  /** Highlights the object under the pointer. */
  light(hit: SceneIntersection | null): void;
  read?(frame: SceneFrame): void;
  figures(): Record<string, string>;
  /** Called with rejections; by default they are shown on the page. */
  onError?(error: unknown): void;
}

declare global {
  interface Window {
    /** For tests. */
    livePage?: LivePage;
  }
}

/** A scene that is tracked as in any app: rendered, then `update`; `hover` reports the object under the pointer. */
export class LivePage {
  readonly settings = { move: movesByItself() };
  readonly camera = new PerspectiveCamera(36, 1, 1, 100);
  readonly controls: OrbitControls;
  /** Time of the animation. */
  seconds = 0;
  hit: SceneIntersection | null = null;
  readonly #renderer: WebGLRenderer;
  readonly #exhibit: Exhibit;
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly scene = createScene();
  readonly #meter = new Meter();
  readonly #panel = new Panel();
  #endHover = (): void => {};
  #isStale = true;
  #lastTime = 0;
  #lastReport = 0;
  /** Time per ray in the worker (µs), and from a pick's request to its answer (ms). */
  #timings = { ray: Number.NaN, pick: Number.NaN };
  #isMeasuring = false;

  constructor(renderer: WebGLRenderer, exhibit: Exhibit, service: CollisionService, tracker: SceneTracker) {
    this.#renderer = renderer;
    this.#exhibit = exhibit;
    this.#service = service;
    this.#tracker = tracker;
    this.scene.add(exhibit.root, ...exhibit.marks);
    this.controls = new OrbitControls(this.camera, renderer.domElement);
    exhibit.box.getCenter(this.controls.target);
    this.#fit();
    // A flat exhibit is viewed from higher up in a portrait picture, so that it fills it.
    const from = exhibit.from.clone();
    if (this.camera.aspect < 1) from.y *= 1.9;
    showBox(renderer, this.camera, exhibit.box, from);
    this.controls.maxDistance = 3 * this.controls.getDistance();
    this.controls.maxPolarAngle = 0.49 * Math.PI;
    this.controls.update();
    this.controls.addEventListener('change', this.changed);
    addEventListener('resize', () => this.#fit());
    this.follow();
    animate(renderer, this.scene, this.camera, (time: number) => this.#frame(time)).catch(showError);
  }

  /** Marks the picture as out of date. */
  readonly changed = (): void => {
    this.#isStale = true;
  };

  /** Restarts hovering, with the exhibit's current radius. */
  follow(): void {
    this.#endHover();
    const { radius } = this.#exhibit;
    // #region code
    this.#endHover = this.#tracker.hover(this.#renderer.domElement, (hit) => this.#show(hit), {
      every: true,
      ...(radius !== undefined && { radius }),
    });
    // #endregion
  }

  readonly #fail = (error: unknown): void => {
    if (this.#exhibit.onError === undefined) showError(error);
    else this.#exhibit.onError(error);
  };

  #show(hit: SceneIntersection | null): void {
    this.hit = hit;
    this.#exhibit.light(hit);
    this.#panel.showName(hit && this.#exhibit.nameOf(hit), hit === null ? '' : this.#exhibit.detailOf(hit));
    this.changed();
  }

  #frame(time: number): void {
    const exhibit = this.#exhibit;
    const isMoving = exhibit.pose !== undefined;
    // After its tab was hidden, the scene continues where it was.
    if (isMoving && this.settings.move) this.seconds += Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    if (isMoving || this.#isStale) {
      this.#isStale = false;
      this.#draw();
    }
    if (time - this.#lastReport < REPORT_INTERVAL) return;
    this.#lastReport = time;
    this.#measure();
    this.#report();
  }

  #draw(): void {
    const { domElement } = this.#renderer;
    const size = { width: domElement.clientWidth, height: domElement.clientHeight };
    this.#meter.begin();
    this.#meter.measure('simulate', () => this.#exhibit.pose?.(this.seconds));
    this.#meter.measure('draw', () => this.#renderer.render(this.scene, this.camera));
    // #region code
    const answer = this.#meter.measure('collide', () => this.#tracker.update(this.camera, size));
    // #endregion
    answer.then((frame) => this.#meter.measure('collide', () => this.#exhibit.read?.(frame))).catch(this.#fail);
  }

  /** Takes one measurement at a time, so that they cause no load. */
  async #measure(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const { clientWidth, clientHeight } = this.#renderer.domElement;
    try {
      const start = performance.now();
      await this.#tracker.pick(clientWidth / 2, clientHeight / 2);
      const pick = performance.now() - start;
      const ray = await timeOfRay(this.#service, this.camera, this.#exhibit.threshold ?? 0);
      this.#timings = { ray, pick };
    } catch (error) {
      this.#fail(error);
    }
    this.#isMeasuring = false;
  }

  #report(): void {
    const { frames } = this.#meter;
    const ms = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(2)} ms`);
    const median = (values: number[]): string => ms(quantile(values, 0.5));
    const { ray, pick } = this.#timings;
    this.#panel.showFigures({
      ...this.#exhibit.figures(),
      'main thread: collision work': median(frames.map(({ collide }) => collide)),
      'main thread: all work': median(frames.map(costOf)),
      'worker: a frame': ms(this.#service.stats.ms.total),
      'worker: a ray': Number.isNaN(ray) ? '–' : `${ray.toFixed(1)} µs`,
      'from asking to knowing': ms(pick),
    });
  }

  #fit(): void {
    fitToCanvas(this.#renderer, this.camera);
    this.changed();
  }
}
