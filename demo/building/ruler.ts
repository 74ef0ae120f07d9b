import { measure, type SceneSnap, type SceneTracker } from 'collision-worker/three';
import { BufferGeometry, Group, Line, LineBasicMaterial, Points, PointsMaterial } from 'three';
import { oneAtATime } from '../one-at-a-time.js';
import { element, showError } from '../panel.js';

const COLOR = 0xffe14d;
/** Over everything: what is measured may be behind a part. */
const ON_TOP = { color: COLOR, depthTest: false, transparent: true } as const;

/** A cursor that snaps, and what lies between the features of two clicks. */
export class Ruler {
  readonly root = new Group();
  readonly #tracker: SceneTracker;
  readonly #cursor = new Points(
    new BufferGeometry(),
    new PointsMaterial({ ...ON_TOP, size: 11, sizeAttenuation: false }),
  );
  readonly #line = new Line(new BufferGeometry(), new LineBasicMaterial(ON_TOP));
  readonly #onChange: () => void;
  /** It has picks of its own: with `latest`, those of who hovers without snapping would answer them. */
  readonly #follow = oneAtATime(async () => {
    const snap = await this.#snapAt(this.#place.x, this.#place.y, true);
    this.#cursor.visible = snap !== null;
    if (snap !== null) this.#cursor.geometry.setFromPoints([snap.point]);
    element('snapped').textContent = snap?.kind ?? 'nothing';
    this.#onChange();
  });
  #place = { x: 0, y: 0 };
  #first: SceneSnap | null = null;

  constructor(tracker: SceneTracker, onChange: () => void) {
    this.#tracker = tracker;
    this.#onChange = onChange;
    this.#cursor.frustumCulled = this.#line.frustumCulled = false;
    this.#cursor.renderOrder = this.#line.renderOrder = 1000;
    this.root.add(this.#cursor, this.#line);
    this.root.visible = false;
  }

  /** The feature that is drawn near a place of the picture; null for none. */
  async #snapAt(x: number, y: number, latest: boolean): Promise<SceneSnap | null> {
    // #region code
    const hit = await this.#tracker.pick(x, y, {
      snap: ['vertex', 'midpoint', 'center', 'edge', 'face'],
      latest, // as the pointer moves; a click is answered by its own place
    });
    // #endregion
    return hit?.snap ?? null;
  }

  /** Puts the cursor onto what it snaps to near a place of the picture. */
  point(x: number, y: number): void {
    this.#place = { x, y };
    this.#follow();
  }

  /** Takes the feature there: the first one, or the second. */
  async take(x: number, y: number): Promise<void> {
    try {
      const snap = await this.#snapAt(x, y, false);
      if (snap === null) return;
      const first = this.#first;
      this.#first = first === null ? snap : null;
      this.#line.visible = first !== null;
      this.#onChange();
      if (first === null) {
        element('measured').textContent = `from this ${snap.kind} …`;
        return;
      }
      // #region code
      const { distance, pointA, pointB, angle } = measure(first, snap);
      // #endregion
      this.#line.geometry.setFromPoints([pointA, pointB]);
      this.#onChange();
      const turned = angle === null ? '' : `, ${((180 * angle) / Math.PI).toFixed(1)}°`;
      element('measured').textContent = `${distance.toFixed(3)} m${turned}, ${first.kind} to ${snap.kind}`;
    } catch (error) {
      showError(error);
    }
  }
}
