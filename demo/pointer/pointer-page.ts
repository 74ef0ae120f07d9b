import type { PointerEvent, PointerEventsMap } from '@pmndrs/pointer-events';
import { forwardPointerEvents } from 'collision-worker/pointer';
import type { SceneTracker, ViewSize } from 'collision-worker/three';
import {
  Box3,
  MathUtils,
  MOUSE,
  OrthographicCamera,
  PerspectiveCamera,
  Vector3,
  Vector4,
  type WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Meter, quantile } from '../meter.js';
import { element, Panel, showError } from '../panel.js';
import { movesByItself } from '../quality.js';
import { animate, createScene, fitToCanvas, showBox, textInsets } from '../scenery.js';
import { Drags } from './drags.js';
import { TABLE_RADIUS, type Toy, type ToyTable } from './table.js';

const REPORT_INTERVAL = 500;
const MAX_LISTED = 7;
/** Number of events over which the median is taken. */
const MAX_DELAYS = 100;
const LISTED_TYPES = ['pointerover', 'pointerout', 'pointerdown', 'pointerup', 'click', 'dblclick', 'wheel'] as const;
/** CSS pixels: the map's distance from the corner, and its maximum size. */
const MAP_LAYOUT = { gap: 14, size: 300, share: 0.34 };
const HIGHLIGHT_COLOR = 0x6a5a20;

declare global {
  interface Window {
    /** For tests. */
    pointerPage?: PointerPage;
  }
}

/** Toys that receive pointer events, in two views of one canvas. */
export class PointerPage {
  readonly settings = { move: movesByItself() };
  readonly camera = new PerspectiveCamera(36, 1, 1, 100);
  readonly mapCamera = new OrthographicCamera(-TABLE_RADIUS, TABLE_RADIUS, TABLE_RADIUS, -TABLE_RADIUS, 1, 20);
  mapRect: Required<ViewSize> = { x: 0, y: 0, width: 1, height: 1 };
  /** Number of events of each type, over all objects. */
  readonly heard: Record<string, number> = {};
  seconds = 0;
  readonly drags: Drags;
  readonly #renderer: WebGLRenderer;
  readonly #table: ToyTable;
  readonly #tracker: SceneTracker;
  readonly #controls: OrbitControls;
  readonly #scene = createScene();
  readonly #panel = new Panel();
  readonly #meter = new Meter();
  /** The pointers over each toy. */
  readonly #pointersOver = new Map<Toy, Set<number>>();
  #delays: number[] = [];
  #lastTime = 0;
  #lastReport = 0;

  constructor(renderer: WebGLRenderer, table: ToyTable, tracker: SceneTracker) {
    this.#renderer = renderer;
    this.#table = table;
    this.#tracker = tracker;
    const canvas = renderer.domElement;
    this.#scene.add(table.root);
    this.mapCamera.position.y = 10;
    this.mapCamera.up.set(0, 0, -1);
    this.mapCamera.lookAt(0, 0, 0);
    this.#controls = new OrbitControls(this.camera, canvas);
    this.#controls.mouseButtons = { LEFT: null, MIDDLE: null, RIGHT: MOUSE.ROTATE };
    this.#controls.touches = { ONE: null, TWO: null };
    this.#controls.enableZoom = false;
    this.#controls.maxPolarAngle = 0.45 * Math.PI;
    this.#fit();
    showBox(
      renderer,
      this.camera,
      new Box3(new Vector3(-TABLE_RADIUS, 0, -TABLE_RADIUS), new Vector3(TABLE_RADIUS, 0.6, TABLE_RADIUS)),
      VIEW_DIRECTION,
    );
    this.#controls.update();
    addEventListener('resize', () => this.#fit());
    this.drags = new Drags(table);
    this.#listen();
    // #region code
    forwardPointerEvents(tracker, canvas, {
      view: ['main', 'map'],
      // The wheel turns a toy instead of the page, and the right button the table.
      preventDefault: ({ type }, hit) => type === 'contextmenu' || (type === 'wheel' && hit !== null),
    });
    // #endregion
    renderer.setScissorTest(true);
    animate(renderer, this.#scene, this.camera, (time: number) => this.#frame(time)).catch(showError);
  }

  /** Rotates the table to an angle in degrees. */
  turn(degrees: number): void {
    const { target } = this.#controls;
    const offset = this.camera.position.clone().sub(target);
    offset.applyAxisAngle(this.camera.up, MathUtils.degToRad(degrees) - Math.atan2(offset.x, offset.z));
    this.camera.position.copy(target).add(offset);
    this.#controls.update();
  }

  get toys(): readonly Toy[] {
    return this.#table.toys;
  }

  #listen(): void {
    for (const toy of this.#table.toys) {
      const pointers = new Set<number>();
      this.#pointersOver.set(toy, pointers);
      const updateHighlight = (): void => {
        toy.material.emissive.setHex(pointers.size > 0 ? HIGHLIGHT_COLOR : 0);
      };
      toy.addEventListener('pointerenter', ({ pointerId }) => {
        pointers.add(pointerId);
        updateHighlight();
      });
      toy.addEventListener('pointerleave', ({ pointerId }) => {
        pointers.delete(pointerId);
        updateHighlight();
      });
      // #region code
      toy.addEventListener('click', () => this.#table.paint(toy));
      toy.addEventListener('wheel', ({ deltaY }) => {
        toy.rotation.y += Math.sign(deltaY) * 0.3;
      });
      // #endregion
    }
    const { root } = this.#table;
    root.addEventListener('pointermove', (event) => this.#show(event));
    root.addEventListener('pointerover', (event) => this.#show(event));
    root.addEventListener('pointerout', () => this.#panel.showName(null, ''));
    for (const type of LISTED_TYPES)
      root.addEventListener(type, (event) => this.#listEvent(type, event as PointerEvent));
  }

  /** Shows the object under a pointer. */
  #show({ object, point, pointerType, camera }: PointerEvent): void {
    if (object.isVoidObject === true) return;
    const coordinates = point.toArray().map((value) => value.toFixed(2));
    this.#panel.showName(
      object.name,
      `${pointerType.replace('screen-', '')}, ${this.#viewOf(camera)}, at ${coordinates.join(' ')}`,
    );
  }

  #viewOf(camera: unknown): string {
    return camera === this.mapCamera ? 'on the map' : 'on the table';
  }

  #listEvent(type: keyof PointerEventsMap, { object, camera, timeStamp }: PointerEvent): void {
    if (object.isVoidObject === true) return;
    this.heard[type] = (this.heard[type] ?? 0) + 1;
    // For pointers at rest, these events carry the time of an old event.
    if (type !== 'pointerover' && type !== 'pointerout') {
      this.#delays = [...this.#delays.slice(1 - MAX_DELAYS), performance.now() - timeStamp];
    }
    const line = document.createElement('li');
    line.textContent = `${type} · ${object.name}, ${this.#viewOf(camera)}`;
    const list = element('events');
    list.prepend(line);
    if (list.children.length > MAX_LISTED) list.lastElementChild!.remove();
  }

  #frame(time: number): void {
    // After its tab was hidden, the scene continues where it was.
    if (this.settings.move) this.seconds += Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    this.#meter.begin();
    this.#table.pose(this.seconds);
    this.#draw();
    this.#meter
      .measure('collide', () => {
        const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
        this.#tracker.setView(this.mapCamera, this.mapRect, 'map');
        return this.#tracker.update(this.camera, { width, height });
      })
      .catch(showError);
    if (time - this.#lastReport < REPORT_INTERVAL) return;
    this.#lastReport = time;
    const medianMs = (values: number[]): string => (values.length > 0 ? `${quantile(values, 0.5).toFixed(2)} ms` : '–');
    this.#panel.showFigures({
      toys: String(this.#table.toys.length),
      'toys that are dragged': String(this.drags.count),
      'events heard': String(Object.values(this.heard).reduce((a, b) => a + b, 0)),
      'from event to listener': medianMs(this.#delays),
      'main thread: collision work': medianMs(this.#meter.frames.map(({ collide }) => collide)),
    });
  }

  #draw(): void {
    const { clientWidth, clientHeight } = this.#renderer.domElement;
    const { x, y, width, height } = this.mapRect;
    const map = new Vector4(x, clientHeight - y - height, width, height);
    for (const [camera, rect] of [
      [this.camera, new Vector4(0, 0, clientWidth, clientHeight)],
      [this.mapCamera, map],
    ] as const) {
      this.#renderer.setViewport(rect);
      this.#renderer.setScissor(rect);
      this.#renderer.render(this.#scene, camera);
    }
  }

  #fit(): void {
    fitToCanvas(this.#renderer, this.camera);
    const { clientWidth, clientHeight } = this.#renderer.domElement;
    const { below } = textInsets(clientWidth);
    const size = Math.round(Math.min(MAP_LAYOUT.size, MAP_LAYOUT.share * Math.min(clientWidth, clientHeight - below)));
    // Above a sheet, the links are across the top.
    const above = below > 0 ? element('pages').offsetHeight : 0;
    this.mapRect = { x: clientWidth - MAP_LAYOUT.gap - size, y: above + MAP_LAYOUT.gap, width: size, height: size };
    const { style } = element('map');
    Object.assign(style, {
      left: `${this.mapRect.x}px`,
      top: `${this.mapRect.y}px`,
      width: `${size}px`,
      height: `${size}px`,
    });
  }
}

const VIEW_DIRECTION = new Vector3(0, 0.85, 1);
