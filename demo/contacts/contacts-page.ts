import type { CollisionService } from 'collision-worker';
import type { SceneContact, SceneFrame, SceneTracker } from 'collision-worker/three';
import { Box3, PerspectiveCamera, Vector3, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { ContactMarks } from '../contact-marks.js';
import { oneAtATime } from '../one-at-a-time.js';
import { showError } from '../panel.js';
import { movesByItself, type Quality } from '../quality.js';
import {
  addShadows,
  animate,
  createFloor,
  createScene,
  createShadowFloor,
  fitToCanvas,
  freeWidth,
} from '../scenery.js';
import { ThingDrag } from '../thing-drag.js';
import { ContactsPanel } from './contacts-panel.js';
import { type Filter, filtersOf } from './filters.js';
import type { Hall } from './hall.js';
import { Highlight } from './highlight.js';
import { Touching } from './touching.js';

/** The amount of detail computed for each pair. */
export type Detail = 'any' | 'manifold';

/** Seconds. */
const STEP_SECONDS = 0.05;
/** The region in which the knot can be dragged. */
const DRAG_BOUNDS = new Box3(new Vector3(-6, 0, -6), new Vector3(6, 6, 6));

/** A hall of robots and dragons: which of them touch, where, how deep, and since when. */
export class ContactsPage {
  readonly settings: { paused: boolean; speed: number; detail: Detail } = {
    paused: !movesByItself(),
    speed: 1,
    detail: 'manifold',
  };
  readonly camera = new PerspectiveCamera(36, 1, 1, 60);
  readonly hall: Hall;
  readonly marks = new ContactMarks();
  readonly drag: ThingDrag;
  /** The frame that the picture, the counts and the lists show. */
  shown: { seconds: number; frame: SceneFrame } | null = null;
  readonly #renderer: WebGLRenderer;
  readonly #scene = createScene();
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #controls: OrbitControls;
  readonly #filters: readonly Filter[];
  readonly #panel: ContactsPanel;

  readonly #highlight: Highlight;
  readonly #touching = new Touching();
  readonly #advance = oneAtATime(() => this.#frame());
  #filter!: Filter;
  #seconds = 0;
  #lastTime = 0;
  /** Changes so far, and the number of them that is on display. */
  #changeCount = 1;
  #shownChangeCount = 0;

  constructor(renderer: WebGLRenderer, hall: Hall, service: CollisionService, tracker: SceneTracker, quality: Quality) {
    this.#renderer = renderer;
    this.hall = hall;
    this.#service = service;
    this.#tracker = tracker;
    this.#highlight = new Highlight(hall);
    this.#filters = filtersOf(hall);
    this.#panel = new ContactsPanel(this.#filters, (filter) => {
      this.#filter = filter;
      this.changed();
    });
    this.#scene.add(createFloor(12), hall.root, this.marks.root);
    const box = new Box3().setFromObject(hall.root);
    addShadows(this.#scene, quality, hall.root, box);
    if (quality === 'high') this.#scene.add(createShadowFloor(box));
    fitToCanvas(renderer, this.camera);
    this.#controls = new OrbitControls(this.camera, renderer.domElement);
    this.#controls.target.set(0.95, 1.3, 0);
    this.camera.position.set(1.5, 5, 10.7).multiplyScalar(Math.max(1, 1.35 / freeWidth(renderer)));
    this.#controls.update();
    this.#controls.addEventListener('change', this.changed);
    const dragged = { things: new Map([[hall.knot, hall.knot]]), within: DRAG_BOUNDS };
    this.drag = new ThingDrag(renderer.domElement, this.camera, this.#controls, tracker, dragged, this.changed);
    addEventListener('resize', () => {
      fitToCanvas(renderer, this.camera);
      this.changed();
    });
    animate(renderer, this.#scene, this.camera, (time: number) => this.#tick(time)).catch(showError);
  }

  /** Marks the picture as out of date. */
  readonly changed = (): void => {
    this.#changeCount++;
  };

  /** Whether the picture includes all changes. */
  get isSettled(): boolean {
    return this.#changeCount === this.#shownChangeCount;
  }

  /** Advances a little, or goes back. */
  step(seconds = STEP_SECONDS): void {
    this.seek(this.#seconds + seconds);
  }

  /** Pauses at a time. */
  seek(seconds: number): void {
    this.settings.paused = true;
    this.#seconds = seconds;
    this.changed();
  }

  setDetail(detail: Detail): void {
    this.settings.detail = detail;
    this.changed();
    this.hall.root.traverse((object) => {
      for (const id of this.#tracker.idsOf(object)) this.#service.setObject(id, { contacts: detail });
    });
  }

  #tick(time: number): void {
    const { paused, speed } = this.settings;
    const seconds = Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    if (!paused) {
      this.#seconds += speed * seconds;
      this.changed();
    }
    if (!this.isSettled) this.#advance();
  }

  /** Computes the contacts before drawing, so that picture and contacts are of the same time. */
  async #frame(): Promise<void> {
    const changes = this.#changeCount;
    const seconds = this.#seconds;
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    this.hall.pose(seconds);
    const frame = await this.#tracker.update(this.camera, { width, height });
    this.#show(frame, seconds);
    this.#renderer.render(this.#scene, this.camera);
    this.shown = { seconds, frame };
    this.#shownChangeCount = changes;
  }

  #show(frame: SceneFrame, seconds: number): void {
    const { contacts, ms } = frame.result;
    const contactsByFilter = new Map(
      this.#filters.map((filter): [Filter, SceneContact[]] => [filter, filter.find(frame)]),
    );
    for (const [filter, { length }] of contactsByFilter) this.#panel.showFound(filter, length);
    this.#panel.addChanges(this.#touching.follow(frame, contactsByFilter), frame.frame, seconds);
    this.#panel.showTouching(this.#touching.pairs);
    this.#panel.showFigures(seconds, contacts.count, contacts.depths.length, ms.contacts);

    const filteredContacts = contactsByFilter.get(this.#filter)!;
    this.marks.clear(contacts.depths.length);
    for (const { index } of filteredContacts) this.marks.add(contacts, index);
    this.marks.show();
    this.#highlight.show(filteredContacts);
  }
}
