import type { CollisionService } from 'collision-worker';
import type { SceneTracker } from 'collision-worker/three';
import { Box3, type Mesh, type MeshLambertMaterial, MOUSE, PerspectiveCamera, TOUCH, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { FrustumVolume } from '../frustum-volume.js';
import { oneAtATime } from '../one-at-a-time.js';
import { showError } from '../panel.js';
import { movesByItself, type Quality } from '../quality.js';
import {
  addShadows,
  animate,
  createFloor,
  createScene,
  createShadowFloor,
  FRUSTUM_COLOR,
  fitToCanvas,
  freeWidth,
} from '../scenery.js';
import type { Courtyard } from './courtyard.js';
import { FigureControl } from './figure-control.js';
import { SeeingPanel } from './seeing-panel.js';
import { SightLines } from './sight-lines.js';
import { STATES, type State, stateOf } from './states.js';

/** Picture size of the guard's view; only `minPixels` would need it. */
const GUARD_SIZE = { width: 240, height: 100 };

/** A courtyard from above, and the objects that its guard sees. */
export class SeeingPage {
  readonly settings = { walk: movesByItself(), turn: movesByItself(), margin: 0 };
  /** The far plane suffices for a picture five times as high as wide, which is viewed from farther away. */
  readonly camera = new PerspectiveCamera(38, 1, 1, 300);
  readonly courtyard: Courtyard;
  /** States of the visitors in the latest answer. */
  states: readonly State[] = [];
  /** Number of answers so far. */
  answers = 0;
  readonly #renderer: WebGLRenderer;
  readonly #scene = createScene();
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #panel = new SeeingPanel();
  readonly #fieldVolume = new FrustumVolume(FRUSTUM_COLOR, 0.07);
  readonly #marginVolume = new FrustumVolume(0x9fb4d0, 0);
  readonly #lines: SightLines;
  readonly #control: FigureControl;
  readonly #requestSight = oneAtATime(() => this.#updateSight());
  #lastTime = 0;

  constructor(
    renderer: WebGLRenderer,
    courtyard: Courtyard,
    service: CollisionService,
    tracker: SceneTracker,
    quality: Quality,
  ) {
    this.#renderer = renderer;
    this.courtyard = courtyard;
    this.#service = service;
    this.#tracker = tracker;
    const { root, watched, heist } = courtyard;
    this.#lines = new SightLines(watched.length);
    const floor = createFloor(12);
    this.#scene.add(floor, root, heist.marks, this.#fieldVolume.root, this.#marginVolume.root, this.#lines.root);
    const box = new Box3().setFromObject(root);
    addShadows(this.#scene, quality, root, box);
    if (quality === 'high') this.#scene.add(createShadowFloor(box));
    this.camera.position.set(0, 22, 17);
    fitToCanvas(renderer, this.camera);
    this.camera.position.multiplyScalar(Math.max(1, 1.55 / freeWidth(renderer)));
    const controls = new OrbitControls(this.camera, renderer.domElement);
    controls.mouseButtons = { LEFT: null, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.ROTATE };
    controls.touches = { ONE: null, TWO: TOUCH.DOLLY_ROTATE };
    controls.update();
    this.#control = new FigureControl(renderer.domElement, this.camera, tracker, courtyard);
    heist.listen();
    addEventListener('resize', () => fitToCanvas(renderer, this.camera));
    animate(renderer, this.#scene, this.camera, (time: number) => this.#frame(time)).catch(showError);
  }

  #frame(time: number): void {
    const { guard, visitors, watched, heist } = this.courtyard;
    const seconds = Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    if (this.settings.walk) visitors.walk(seconds);
    heist.walk(seconds);
    if (this.settings.turn && !this.#control.isHeld) guard.turn(seconds);
    this.#requestSight();
    this.#fieldVolume.update(guard.camera, 0);
    this.#marginVolume.update(guard.camera, this.settings.margin);
    this.#marginVolume.root.visible = this.settings.margin > 0;
    this.#lines.draw(guard.camera, watched, this.states);
    this.#renderer.render(this.#scene, this.camera);
  }

  /** The guard's field of view is a view like any other: the frame reports what is in it, and `sees` what no wall occludes. */
  async #updateSight(): Promise<void> {
    const { guard, watched, heist } = this.courtyard;
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    const ids = watched.map((mesh) => this.#tracker.idsOf(mesh)[0]);
    const guardIds = guard.parts.map((part) => this.#tracker.idsOf(part)[0]);
    // #region code
    this.#tracker.setView(guard.camera, GUARD_SIZE, 'guard', { margin: this.settings.margin });
    const [{ result }, sight] = await Promise.all([
      this.#tracker.update(this.camera, { width, height }),
      this.#service.sees('guard', ids, { ignore: guardIds }),
    ]);
    const { ids: inView, inside, entered, left } = result.views.get('guard')!;
    const seenIds = new Set(sight.ids);
    const insideIds = new Set(inView.subarray(0, inside));
    const crossingIds = new Set(inView.subarray(inside));
    // #endregion
    const nameOf = (id: number): string => this.#tracker.objectOf(id).object.name;
    for (const id of entered) this.#panel.addEvent(`${nameOf(id)} entered`);
    for (const id of left) this.#panel.addEvent(`${nameOf(id)} left`);
    this.states = ids.map((id) => stateOf(insideIds.has(id), crossingIds.has(id), seenIds.has(id)));
    this.answers++;
    this.#panel.count(this.states);
    watched.forEach((mesh, i) => {
      paint(mesh, this.states[i]);
    });
    const message = heist.judge(seenIds.has(ids[watched.indexOf(heist.thief)]));
    if (message !== null) this.#panel.addEvent(message);
    this.#panel.showHeist(heist);
  }
}

function paint({ material }: Mesh, state: State): void {
  (material as MeshLambertMaterial).color.set(STATES[state].color);
}
