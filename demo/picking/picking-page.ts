import type { CollisionService, Hit } from 'collision-worker';
import type { SceneTracker } from 'collision-worker/three';
import { BufferGeometry, type Group, type Mesh, Points, PointsMaterial, type WebGLRenderer } from 'three';
import { SelectionMarker } from '../marker.js';
import { oneAtATime } from '../one-at-a-time.js';
import { element, showError, showSelected } from '../panel.js';
import { RadiusCircle } from '../radius-circle.js';
import { animate, createScene, textInsets } from '../scenery.js';
import { centresOf } from './centres.js';
import { MethodMarker } from './method-marker.js';
import { MethodTable } from './method-table.js';
import { METHODS } from './methods.js';
import { poseObjects } from './objects.js';
import { Pane, type PaneRect } from './pane.js';

/** Thirty objects in two views of one canvas, and five picking methods at one cursor. */
export class PickingPage {
  readonly settings = { radius: 20, clickBy: METHODS[0].title, bounds: true };
  readonly panes: readonly Pane[];
  seed = 1;
  /** One hit per method, from the latest answers. */
  hits: readonly (Hit | null)[] = METHODS.map(() => null);
  readonly #renderer: WebGLRenderer;
  readonly #scene = createScene();
  readonly #root: Group;
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #table = new MethodTable(element('methods'));
  readonly #markers = METHODS.map((method, i) => new MethodMarker(method, METHODS.length - i));
  readonly #selection = new SelectionMarker();
  readonly #centres = new Points(
    new BufferGeometry(),
    new PointsMaterial({ color: 0xff9a4a, size: 3, sizeAttenuation: false, depthTest: false, transparent: true }),
  );
  readonly #circle = new RadiusCircle();
  readonly #requestPicks = oneAtATime(() => this.#pickByAllMethods());
  #isStale = true;
  #isDrawn = false;

  constructor(renderer: WebGLRenderer, root: Group, service: CollisionService, tracker: SceneTracker) {
    this.#renderer = renderer;
    this.#root = root;
    this.#service = service;
    this.#tracker = tracker;
    this.panes = ['main', 'second'].map((name, i) => {
      return new Pane(name, element(`pane-${name}`), 1 + i, (x, y) => this.#click(name, x, y));
    });
    this.#placeCameras();
    this.#scene.add(root, this.#centres, this.#selection.root, ...this.#markers.map((marker) => marker.root));
    for (const pane of this.panes) {
      pane.addHelpers(this.#scene);
      pane.controls.addEventListener('change', this.changed);
      pane.pointer.onMove = this.changed;
    }
    this.pose(this.seed);
    addEventListener('resize', () => this.#layOut());
    renderer.setScissorTest(true);
    animate(renderer, this.#scene, this.panes[0].camera, () => this.#frame()).catch(showError);
  }

  /** Marks the picture and the hits as out of date. */
  readonly changed = (): void => {
    this.#isStale = true;
  };

  pose(seed: number): void {
    this.seed = seed;
    poseObjects(this.#root, seed);
    centresOf(this.#root, this.#centres.geometry);
    this.changed();
  }

  /** After a change, it picks first and then draws the picture with the result, once. */
  #frame(): void {
    if (this.#isStale) {
      this.#isStale = false;
      const [main, second] = this.panes;
      this.#tracker.update(main.camera, main.rect).catch(showError);
      this.#tracker.setView(second.camera, second.rect, second.name);
      this.#requestPicks();
    }
    if (this.#isDrawn) return;
    this.#isDrawn = true;
    this.#draw();
  }

  async #pickByAllMethods(): Promise<void> {
    const pane = this.panes.find(({ cursor }) => cursor !== null);
    const cursor = pane?.cursor;
    // #region code
    this.hits = await Promise.all(
      METHODS.map(({ options }) => {
        if (pane === undefined || !cursor) return null;
        const radius = options.method === 'screen' ? { radius: this.settings.radius } : {};
        return this.#service.pick(cursor.x, cursor.y, { ...options, ...radius, view: pane.name });
      }),
    );
    // #endregion
    this.hits.forEach((hit, i) => {
      const object = this.#objectOf(hit);
      this.#table.show(i, hit, object?.name ?? '');
      this.#markers[i].show(hit, object);
    });
    this.#isDrawn = false;
  }

  async #click(view: string, x: number, y: number): Promise<void> {
    const { clickBy, radius } = this.settings;
    const { options } = METHODS.find(({ title }) => title === clickBy) ?? METHODS[0];
    try {
      const object = this.#objectOf(await this.#service.pick(x, y, { ...options, radius, view }));
      this.#selection.select(object && { object });
      this.#selection.update();
      showSelected(object?.name ?? '');
      this.changed();
    } catch (error) {
      showError(error);
    }
  }

  #objectOf(hit: Hit | null): Mesh | null {
    return hit && (this.#tracker.objectOf(hit.object).object as Mesh);
  }

  #draw(): void {
    const { clientHeight } = this.#renderer.domElement;
    for (const marker of this.#markers) marker.bounds.visible = this.settings.bounds;
    for (const pane of this.panes) pane.updateHelpers();
    for (const { camera, rect } of this.panes) {
      const viewport: [number, number, number, number] = [
        rect.x,
        clientHeight - rect.y - rect.height,
        rect.width,
        rect.height,
      ];
      this.#renderer.setViewport(...viewport);
      this.#renderer.setScissor(...viewport);
      this.#renderer.render(this.#scene, camera);
    }
    // The radius that a screen pick searches.
    this.#circle.show(this.panes.find(({ cursor }) => cursor !== null)?.cursor ?? null, this.settings.radius);
  }

  /** The first camera sees the whole room, the second one all of that and the first camera. */
  #placeCameras(): void {
    this.#layOut();
    const [{ camera, controls }, second] = this.panes;
    const distance = 2.6 + 4.7 / (Math.tan((0.5 * camera.fov * Math.PI) / 180) * Math.min(camera.aspect, 1));
    camera.position.set(0, 0.1 * distance, distance);
    camera.near = 0.25 * distance;
    camera.far = distance + 7;
    camera.updateProjectionMatrix();
    second.camera.position.set(1.2 * distance, 0.6 * distance, 1.1 * distance);
    second.camera.near = 1;
    second.camera.far = 5 * distance;
    second.camera.updateProjectionMatrix();
    second.controls.target.set(0, 0, 0.14 * distance);
    second.showFrustum(false); // only that of the first camera
    camera.layers.enable(2);
    second.camera.layers.enable(1);
    controls.update();
    second.controls.update();
  }

  /**
   * Lays the panes out side by side, or on top of each other if that leaves them wider, in the area that the texts leave free.
   */
  #layOut(): void {
    const { clientWidth, clientHeight } = this.#renderer.domElement;
    this.#renderer.setSize(clientWidth, clientHeight, false);
    const { aside: left, below } = textInsets(clientWidth);
    const [width, height] = [clientWidth - left, clientHeight - below];
    const isWide = width > height;
    const firstRect: PaneRect = isWide
      ? { x: left, y: 0, width: Math.floor(width / 2), height }
      : { x: left, y: 0, width, height: Math.floor(height / 2) };
    this.panes[0].place(firstRect);
    this.panes[1].place(isWide ? { ...firstRect, x: left + firstRect.width } : { ...firstRect, y: firstRect.height });
    this.changed();
  }
}
