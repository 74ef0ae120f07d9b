import { type SceneIntersection, type SceneTracker, SectionHelper } from 'collision-worker/three';
import { type Object3D, Vector3 } from 'three';
import { grouped } from '../format.js';
import type { Exhibit, LivePage } from '../live-page.js';
import { IS_LIGHT } from '../scenery.js';
import type { BuildingPart } from './building.js';
import type { BuildingModel } from './building-model.js';
import { CutHandle } from './cut-handle.js';

const COLORS = IS_LIGHT ? { outline: 0x18202c, cap: 0x53627a } : { outline: 0xf1f5fb, cap: 0x8a3f33 };
/** Metres between the section plane and the clipping plane, so that rounding cuts nothing away. */
const OFFSET = 0.002;
/** Number of answers to wait for after the plane has moved: one may be under way for its previous position. */
const ANSWERS = 2;
/** The first frames are drawn even though nothing has changed: for the first one, the worker has not reported visibility yet. */
const FIRST_FRAMES = 3;

/** The building, the part under the pointer, and the cut. */
export class BuildingExhibit implements Exhibit {
  readonly root: Object3D;
  readonly marks: Object3D[];
  readonly box: BuildingModel['box'];
  readonly from = new Vector3(0.5, 0.42, 1);
  readonly #model: BuildingModel;
  readonly #tracker: SceneTracker;
  #section: SectionHelper | null = null;
  #lastSection: SectionHelper['section'] = null;
  #answers = 0;
  #page: LivePage | null = null;
  #frames = 0;

  constructor(model: BuildingModel, tracker: SceneTracker) {
    this.#model = model;
    this.#tracker = tracker;
    this.root = model.root;
    this.box = model.box;
    this.marks = [model.mark, ...model.clashMarks];
  }

  /** Called once there is a page. Cuts the building at the handle while the handle is shown. */
  attach(page: LivePage, canvas: HTMLElement): CutHandle {
    this.#page = page;
    const handle = new CutHandle(this.box, page, canvas);
    const { plane } = handle;
    const tracker = this.#tracker;
    // #region code
    const section = new SectionHelper(tracker, plane, {
      color: COLORS.outline,
      capColor: COLORS.cap,
      offset: OFFSET,
    });
    page.scene.add(section);
    handle.onMove = () => {
      this.#model.cut(handle.isShown ? plane : null); // material.clippingPlanes
      if (section.visible !== handle.isShown) tracker.changed(this.root); // it is static
      section.visible = handle.isShown;
      this.#answers = ANSWERS;
      page.changed();
    };
    // #endregion
    section.visible = false; // until the handle sets the plane
    this.#section = section;
    const watch = (): void => {
      requestAnimationFrame(watch);
      if (section.section === this.#lastSection) return;
      this.#lastSection = section.section;
      if (this.#answers-- > 0) page.changed();
    };
    watch();
    return handle;
  }

  nameOf(hit: SceneIntersection): string {
    return this.#model.partOf(hit).name;
  }

  detailOf(hit: SceneIntersection): string {
    return `${this.#model.partOf(hit).layer}, ${hit.distance.toFixed(1)} m away`;
  }

  light(hit: SceneIntersection | null): void {
    this.#model.light(hit && this.#model.partOf(hit));
  }

  /** Returns the part of the object that was hit. */
  partOf(hit: SceneIntersection): BuildingPart {
    return this.#model.partOf(hit);
  }

  read(): void {
    if (this.#frames++ < FIRST_FRAMES) this.#page?.changed();
  }

  figures(): Record<string, string> {
    const number = grouped;
    const { instances, occluded, triangles } = this.#tracker.culled;
    const cut = this.#section?.visible === true ? this.#section.section : null;
    return {
      parts: number(this.#model.parts.length),
      triangles: number(this.#model.triangles),
      'parts left out of the picture': number(instances),
      'of them hidden by others': number(occluded),
      'triangles spared': number(triangles),
      'outlines of the cut': cut === null ? '–' : number(cut.closed.length),
      'worker: the cut, with caps': cut === null ? '–' : `${cut.ms.toFixed(1)} ms`,
    };
  }
}
