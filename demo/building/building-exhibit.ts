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
const SECTION_OFFSET = 0.002;
/** Number of answers to wait for after the plane has moved: one may be under way for its previous position. */
const AWAITED_ANSWERS = 2;
/** The first frames are drawn even though nothing has changed: for the first one, the worker has not reported visibility yet. */
const INITIAL_FRAMES = 3;

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
  #awaitedAnswers = 0;
  #page: LivePage | null = null;
  #frameCount = 0;

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
      offset: SECTION_OFFSET,
    });
    page.scene.add(section);
    handle.onMove = () => {
      this.#model.cut(handle.isShown ? plane : null); // material.clippingPlanes
      if (section.visible !== handle.isShown) tracker.changed(this.root); // it is static
      section.visible = handle.isShown;
      this.#awaitedAnswers = AWAITED_ANSWERS;
      page.changed();
    };
    // #endregion
    section.visible = false; // until the handle sets the plane
    this.#section = section;
    const watch = (): void => {
      requestAnimationFrame(watch);
      if (section.section === this.#lastSection) return;
      this.#lastSection = section.section;
      if (this.#awaitedAnswers-- > 0) page.changed();
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
    if (this.#frameCount++ < INITIAL_FRAMES) this.#page?.changed();
  }

  figures(): Record<string, string> {
    const format = grouped;
    const { instances, occluded, triangles } = this.#tracker.culled;
    const cut = this.#section?.visible === true ? this.#section.section : null;
    return {
      parts: format(this.#model.parts.length),
      triangles: format(this.#model.triangles),
      'parts left out of the picture': format(instances),
      'of them hidden by others': format(occluded),
      'triangles spared': format(triangles),
      'outlines of the cut': cut === null ? '–' : format(cut.closed.length),
      'worker: the cut, with caps': cut === null ? '–' : `${cut.ms.toFixed(1)} ms`,
    };
  }
}
