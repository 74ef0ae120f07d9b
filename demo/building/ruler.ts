import { measure, type SceneSnap, type SceneTracker } from 'collision-worker/three';
import { BufferGeometry, Group, Line, LineBasicMaterial, Points, PointsMaterial } from 'three';
import { oneAtATime } from '../one-at-a-time.js';
import { element, showError } from '../panel.js';

const COLOR = 0xffe14d;
/** Drawn on top of everything: the measured feature may be behind a part. */
const ON_TOP = { color: COLOR, depthTest: false, transparent: true } as const;

/** A snapping cursor, and the distance between the features of two clicks. */
export class Ruler {
  readonly root = new Group();
  readonly #tracker: SceneTracker;
  readonly #cursor = new Points(
    new BufferGeometry(),
    new PointsMaterial({ ...ON_TOP, size: 11, sizeAttenuation: false }),
  );
  readonly #line = new Line(new BufferGeometry(), new LineBasicMaterial(ON_TOP));
  readonly #onChange: () => void;
  /** Makes its own picks: with `latest`, the hover picks, which do not snap, would answer them. */
  readonly #follow = oneAtATime(async () => {
    const snap = await this.#snapAt(this.#pointer.x, this.#pointer.y, true);
    this.#cursor.visible = snap !== null;
    if (snap !== null) this.#cursor.geometry.setFromPoints([snap.point]);
    element('snapped').textContent = snap?.kind ?? 'nothing';
    this.#onChange();
  });
  #pointer = { x: 0, y: 0 };
  #firstSnap: SceneSnap | null = null;

  constructor(tracker: SceneTracker, onChange: () => void) {
    this.#tracker = tracker;
    this.#onChange = onChange;
    this.#cursor.frustumCulled = this.#line.frustumCulled = false;
    this.#cursor.renderOrder = this.#line.renderOrder = 1000;
    this.root.add(this.#cursor, this.#line);
    this.root.visible = false;
  }

  /** Returns the visible feature near a pixel; null if none. */
  async #snapAt(x: number, y: number, latest: boolean): Promise<SceneSnap | null> {
    // #region code
    const hit = await this.#tracker.pick(x, y, {
      snap: ['vertex', 'midpoint', 'center', 'edge', 'face'],
      latest, // as the pointer moves; a click needs the answer for its own position
    });
    // #endregion
    return hit?.snap ?? null;
  }

  /** Moves the cursor to the feature near a pixel. */
  point(x: number, y: number): void {
    this.#pointer = { x, y };
    this.#follow();
  }

  /** Takes the feature at a pixel as the first or the second end of the measurement. */
  async addPoint(x: number, y: number): Promise<void> {
    try {
      const snap = await this.#snapAt(x, y, false);
      if (snap === null) return;
      const firstSnap = this.#firstSnap;
      this.#firstSnap = firstSnap === null ? snap : null;
      this.#line.visible = firstSnap !== null;
      this.#onChange();
      if (firstSnap === null) {
        element('measured').textContent = `from this ${snap.kind} …`;
        return;
      }
      // #region code
      const { distance, pointA, pointB, angle } = measure(firstSnap, snap);
      // #endregion
      this.#line.geometry.setFromPoints([pointA, pointB]);
      this.#onChange();
      const angleText = angle === null ? '' : `, ${((180 * angle) / Math.PI).toFixed(1)}°`;
      element('measured').textContent = `${distance.toFixed(3)} m${angleText}, ${firstSnap.kind} to ${snap.kind}`;
    } catch (error) {
      showError(error);
    }
  }
}
