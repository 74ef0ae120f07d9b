import type { SceneTracker } from 'collision-worker/three';
import { Box3, type Group, type Mesh, MOUSE, type Object3D, PerspectiveCamera, TOUCH, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { HullOutlines } from '../hull-outline.js';
import { Marquee, type MarqueeEvents, type MarqueeSettings, type Outline, updatedSelection } from '../marquee.js';
import { element, showError } from '../panel.js';
import type { Quality } from '../quality.js';
import { addShadows, animate, createScene, fitToCanvas, IS_LIGHT } from '../scenery.js';
import { SelectionList } from '../selection-list.js';
import { PartLook } from './part-look.js';

const OUTLINE_COLOR = IS_LIGHT ? 0x8a3300 : 0xffe0c2;
const NO_MESHES: ReadonlySet<Mesh> = new Set();

/** A model, an orbiting camera, and the selected parts. */
export class SelectionPage implements MarqueeEvents {
  readonly settings: MarqueeSettings & { seeThrough: boolean } = {
    lasso: false,
    mode: 'by direction',
    change: 'replace',
    seeThrough: false,
  };
  readonly camera = new PerspectiveCamera(34, 1, 1, 120);
  selected: ReadonlySet<Mesh> = new Set();
  readonly #renderer: WebGLRenderer;
  readonly #scene = createScene();
  readonly #tracker: SceneTracker;
  readonly #parts: readonly Mesh[];
  readonly #looks: readonly PartLook[];
  readonly outlines = new HullOutlines(OUTLINE_COLOR);
  readonly #list = new SelectionList('parts');
  /** The selection when the drag began. */
  #previousSelection: ReadonlySet<Mesh> = this.selected;
  #isStale = true;

  constructor(renderer: WebGLRenderer, root: Group, tracker: SceneTracker, quality: Quality) {
    this.#renderer = renderer;
    this.#tracker = tracker;

    this.#parts = root.children as Mesh[];
    this.#looks = this.#parts.map((part) => new PartLook(part));
    this.#scene.add(root, this.outlines.root);
    addShadows(this.#scene, quality, root, new Box3().setFromObject(root));
    this.camera.position.set(5.5, 3.2, 10.5);
    const canvas = renderer.domElement;
    const controls = new OrbitControls(this.camera, canvas);
    controls.mouseButtons = { LEFT: null, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.ROTATE };
    controls.touches = { ONE: null, TWO: TOUCH.DOLLY_ROTATE };
    controls.update();
    controls.addEventListener('change', this.changed);
    const polygon = element('outline').querySelector('polygon');
    new Marquee(canvas, polygon!, this.settings, this);
    fitToCanvas(renderer, this.camera);
    // In a portrait picture, the camera is farther away and shows the model at the same width.
    this.camera.position.multiplyScalar(Math.max(1, 0.9 / this.camera.aspect));
    addEventListener('resize', () => {
      fitToCanvas(renderer, this.camera);
      this.changed();
    });
    this.select(new Set());
    animate(renderer, this.#scene, this.camera, () => this.#frame()).catch(showError);
  }

  /** Marks the picture as out of date. */
  readonly changed = (): void => {
    this.#isStale = true;
  };

  select(selected: ReadonlySet<Mesh>): void {
    this.selected = selected;
    this.#list.show(selected, this.#parts);
    this.changed();
  }

  onBegin(): void {
    this.#previousSelection = this.selected;
  }

  /** During a drag, only the latest outline matters. */
  onMove(outline: Outline): void {
    this.#selectIn(outline, true);
  }

  onEnd(outline: Outline): void {
    this.#selectIn(outline, false);
  }

  async onClick(x: number, y: number, change: Outline['change']): Promise<void> {
    try {
      // #region code
      const hit = await this.#tracker.pick(x, y);
      this.#applyChange(hit === null ? [] : [hit.object], change);
      // #endregion
    } catch (error) {
      showError(error);
    }
  }

  // #region code
  async #selectIn({ region, mode, change }: Outline, latest: boolean): Promise<void> {
    try {
      this.#applyChange(await this.#tracker.pickRegion(region, { mode, latest, side: 'double' }), change);
    } catch (error) {
      showError(error);
    }
  }
  // #endregion

  #applyChange(objects: readonly Object3D[], change: Outline['change']): void {
    this.select(updatedSelection(this.#previousSelection, objects as Mesh[], change));
  }

  #frame(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    this.#tracker.update(this.camera, { width, height }).catch(showError);
    this.#parts.forEach((part, i) => {
      this.#looks[i].show(this.selected.has(part), this.settings.seeThrough);
    });
    // Behind see-through parts the outlines would be fully visible.
    this.outlines.show(this.settings.seeThrough ? NO_MESHES : this.selected, width, height);
    this.#renderer.render(this.#scene, this.camera);
  }
}
