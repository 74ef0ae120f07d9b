import type { Rect } from 'collision-worker';

export type Mode = 'touch' | 'enclose';

/** The outline of a drag so far. */
export interface Outline {
  /** In CSS pixels of the canvas: a rectangle, or x0, y0, x1, y1, … of a lasso. */
  region: Rect | Float32Array;
  mode: Mode;
  /** Whether the objects inside are added to the selection, removed from it, or replace it. */
  change: 'add' | 'remove' | 'replace';
}

export interface MarqueeSettings {
  lasso: boolean;
  mode: 'by direction' | Mode;
  /** The change without Shift or Ctrl, which touch users cannot hold down. */
  change: Outline['change'];
}

/** The names in the controls. */
export const CHANGES: Record<string, Outline['change']> = { selects: 'replace', adds: 'add', removes: 'remove' };

export interface MarqueeEvents {
  onBegin(): void;
  onMove(outline: Outline): void;
  onEnd(outline: Outline): void;
  onClick(x: number, y: number, change: Outline['change']): void;
}

/** Minimum distance between two points, in CSS pixels; closer points are merged. */
const MIN_POINT_DISTANCE = 4;

/**
 * Drags with the left mouse button, drawn while they last: a rectangle or, with `lasso` or the Alt key held down, a freehand
 * outline. In the mode by direction, drags to the right enclose and drags to the left touch, as in CAD programs.
 */
export class Marquee {
  readonly #settings: MarqueeSettings;
  readonly #polygon: SVGPolygonElement;
  /** Path of the mouse since the button went down: x0, y0, x1, y1, … */
  #path: number[] = [];
  #isLasso = false;

  constructor(canvas: HTMLElement, polygon: SVGPolygonElement, settings: MarqueeSettings, events: MarqueeEvents) {
    this.#settings = settings;
    this.#polygon = polygon;
    canvas.addEventListener('pointerdown', (event) => {
      // A second finger rotates the view.
      if (!event.isPrimary) this.#stop();
      if (event.button !== 0 || !event.isPrimary) return;
      this.#path = [event.offsetX, event.offsetY];
      this.#isLasso = settings.lasso || event.altKey;
      canvas.setPointerCapture(event.pointerId);
      events.onBegin();
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.#path.length === 0 || !this.#extend(event)) return;
      const outline = this.#outline(event);
      this.#draw(outline.mode);
      if (this.#isRegion) events.onMove(outline);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (this.#path.length === 0 || event.button !== 0) return;
      const [x, y] = this.#path;
      if (this.#path.length === 2) events.onClick(x, y, this.#changeOf(event));
      else if (this.#isRegion) events.onEnd(this.#outline(event));
      this.#stop();
    });
    canvas.addEventListener('pointercancel', () => this.#stop());
  }

  /** A lasso needs at least three corners. */
  get #isRegion(): boolean {
    return this.#path.length >= (this.#isLasso ? 6 : 4);
  }

  /** Returns whether the path changed: a lasso grows, a rectangle only moves its end. */
  #extend({ offsetX, offsetY }: PointerEvent): boolean {
    const [x, y] = this.#path.slice(-2);
    const isClick = this.#path.length === 2;
    if (isClick || this.#isLasso) {
      if (Math.hypot(offsetX - x, offsetY - y) < MIN_POINT_DISTANCE) return false;
    } else {
      this.#path.length = 2;
    }
    this.#path.push(offsetX, offsetY);
    return true;
  }

  #outline(event: PointerEvent): Outline {
    const { mode } = this.#settings;
    const change = this.#changeOf(event);
    const [x, y, nextX] = this.#path;
    const [endX, endY] = this.#path.slice(-2);
    const isRightward = this.#isLasso ? nextX > x : endX > x;
    return {
      region: this.#isLasso ? new Float32Array(this.#path) : { x, y, width: endX - x, height: endY - y },
      mode: mode !== 'by direction' ? mode : isRightward ? 'enclose' : 'touch',
      change,
    };
  }

  #draw(mode: Mode): void {
    const [x, y, endX, endY] = this.#path;
    const corners = this.#isLasso ? this.#path : [x, y, endX, y, endX, endY, x, endY];
    this.#polygon.setAttribute('points', corners.join(' '));
    this.#polygon.setAttribute('class', mode);
  }

  /** Ctrl, or the Command key of a Mac. */
  #changeOf({ shiftKey, ctrlKey, metaKey }: PointerEvent): Outline['change'] {
    if (ctrlKey || metaKey) return 'remove';
    return shiftKey ? 'add' : this.#settings.change;
  }

  #stop(): void {
    this.#path = [];
    this.#polygon.setAttribute('points', '');
  }
}

/** Returns the new selection after a drag over `draggedOver`, given the selection before it. */
export function updatedSelection<T>(
  selection: ReadonlySet<T>,
  draggedOver: readonly T[],
  change: Outline['change'],
): ReadonlySet<T> {
  if (change === 'replace') return new Set(draggedOver);
  if (change === 'add') return new Set([...selection, ...draggedOver]);
  const removed = new Set(draggedOver);
  return new Set([...selection].filter((each) => !removed.has(each)));
}
