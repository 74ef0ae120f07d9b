import type { SceneIntersection, SceneTracker } from 'collision-worker/three';
import { BufferGeometry, Color, MOUSE, Points, PointsMaterial, TOUCH, Vector3 } from 'three';
import { grouped } from '../format.js';
import type { Exhibit, LivePage } from '../live-page.js';
import { Marquee, type MarqueeEvents, type MarqueeSettings, type Outline, updatedSelection } from '../marquee.js';
import { element, showError } from '../panel.js';
import { RadiusCircle } from '../radius-circle.js';
import { SelectionList } from '../selection-list.js';
import type { Village } from './village.js';

type Thing = Village['things'][number];

const DEFAULT_COLOR = new Color(1, 1, 1);
const HIGHLIGHT_COLOR = new Color(1.7, 1.6, 0.7);
const SELECTED_COLOR = new Color(1.9, 0.85, 0.4);

/** The village: the point under the pointer is named and highlighted, and objects are selected by rectangle and lasso. */
export class PointsExhibit implements Exhibit, MarqueeEvents {
  readonly settings: MarqueeSettings = { lasso: false, mode: 'by direction', change: 'replace' };
  readonly root;
  readonly marks;
  readonly box;
  readonly from = new Vector3(0.5, 0.62, 1);
  readonly threshold = 0.05;
  radius = 6;
  selected: ReadonlySet<Thing> = new Set();
  readonly #village: Village;
  readonly #tracker: SceneTracker;
  readonly #list = new SelectionList('things');
  readonly #circle = new RadiusCircle();
  readonly #dot = new Points(
    new BufferGeometry().setFromPoints([new Vector3()]),
    new PointsMaterial({ color: 0xffe14d, size: 9, sizeAttenuation: false, depthTest: false, transparent: true }),
  );
  #previousSelection: ReadonlySet<Thing> = this.selected;
  #page: LivePage | null = null;
  #highlighted: Thing | null = null;

  constructor(village: Village, tracker: SceneTracker) {
    this.#village = village;
    this.#tracker = tracker;
    this.root = village.root;
    this.box = village.box;
    this.marks = [this.#dot];
    this.#dot.visible = false;
    this.#dot.frustumCulled = false;
  }

  /** The left button, or one finger, selects; the right button, or two fingers, orbit. */
  attach(page: LivePage, canvas: HTMLCanvasElement): void {
    this.#page = page;
    page.controls.mouseButtons = { LEFT: null, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.ROTATE };
    page.controls.touches = { ONE: null, TWO: TOUCH.DOLLY_ROTATE };
    new Marquee(canvas, element('outline').querySelector('polygon')!, this.settings, this);
    canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      this.#circle.show({ x: offsetX, y: offsetY }, this.radius);
    });
    canvas.addEventListener('pointerleave', () => this.#circle.show(null, this.radius));
    this.select(this.selected);
  }

  nameOf({ object }: SceneIntersection): string {
    return object.name;
  }

  detailOf({ index, distance }: SceneIntersection): string {
    return `point ${grouped(index!)}, ${distance.toFixed(2)} m away`;
  }

  light(hit: SceneIntersection | null): void {
    this.#highlighted = hit && (hit.object as Thing);
    this.#dot.visible = hit !== null;
    if (hit !== null) {
      const { object, index } = hit;
      this.#dot.position.fromBufferAttribute((object as Thing).geometry.attributes.position, index!);
    }
    this.#paint();
  }

  figures(): Record<string, string> {
    return { points: grouped(this.#village.count), things: String(this.#village.things.length) };
  }

  select(selected: ReadonlySet<Thing>): void {
    this.selected = selected;
    this.#list.show(selected, this.#village.things);
    this.#paint();
    this.#page?.changed();
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
      const hit = await this.#tracker.pick(x, y, { radius: this.radius });
      this.select(updatedSelection(this.#previousSelection, hit === null ? [] : [hit.object as Thing], change));
      // #endregion
    } catch (error) {
      showError(error);
    }
  }

  // #region code
  async #selectIn({ region, mode, change }: Outline, latest: boolean): Promise<void> {
    try {
      const hits = await this.#tracker.pickRegion(region, { mode, latest });
      this.select(updatedSelection(this.#previousSelection, hits as Thing[], change));
    } catch (error) {
      showError(error);
    }
  }
  // #endregion

  #paint(): void {
    for (const thing of this.#village.things) {
      thing.material.color.copy(
        this.selected.has(thing) ? SELECTED_COLOR : thing === this.#highlighted ? HIGHLIGHT_COLOR : DEFAULT_COLOR,
      );
    }
  }
}
