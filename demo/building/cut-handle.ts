import { type Box3, Plane, Ray, Vector2, Vector3 } from 'three';
import type { LivePage } from '../live-page.js';
import { element } from '../panel.js';

/** Cuts of the building: the axis of the plane, and the side that the camera looks from. */
export const CUTS = {
  'from above': { axis: 'y', about: ['x', 'z'] },
  'from the front': { axis: 'z', about: ['x', 'y'] },
  'from the side': { axis: 'x', about: ['z', 'y'] },
} as const;
export type Cut = keyof typeof CUTS;

/** Metres that an arrow key moves the plane, without and with Shift. */
const STEP = { small: 0.1, large: 1 };
/** Half the size of the handle, in CSS pixels: all of it stays in the picture. */
const HALF_SIZE = 22;

/** A plane across a box, with a handle that is dragged by mouse, finger or keys. */
export class CutHandle {
  /** Everything beyond the plane along its axis is cut away. */
  readonly plane = new Plane();
  onMove: (() => void) | null = null;
  readonly #handle = element('plane');
  readonly #box: Box3;
  readonly #page: LivePage;
  readonly #canvas: HTMLElement;
  #cut: Cut = 'from the front';
  #position = 0;

  constructor(box: Box3, page: LivePage, canvas: HTMLElement) {
    this.#box = box;
    this.#page = page;
    this.#canvas = canvas;
    const handle = this.#handle;
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault(); // prevents text selection
      handle.focus();
    });
    handle.addEventListener('pointermove', (event) => {
      if (event.buttons !== 0) this.position = this.#positionUnder(event.clientX, event.clientY);
    });
    handle.addEventListener('keydown', (event) => this.#onKey(event));
    page.controls.addEventListener('change', () => this.follow());
    addEventListener('resize', () => this.follow());
  }

  get axis(): 'x' | 'y' | 'z' {
    return CUTS[this.#cut].axis;
  }

  get isShown(): boolean {
    return !this.#handle.hidden;
  }

  set isShown(isShown: boolean) {
    this.#handle.hidden = !isShown;
    this.follow();
  }

  get position(): number {
    return this.#position;
  }

  /** Metres along the axis. */
  set position(position: number) {
    const { min, max } = this.#box;
    this.#position = Math.min(max[this.axis], Math.max(min[this.axis], position));
    this.plane.normal.set(0, 0, 0)[this.axis] = -1;
    this.plane.constant = this.#position;
    Object.assign(this.#handle, {
      ariaValueMin: min[this.axis].toFixed(1),
      ariaValueMax: max[this.axis].toFixed(1),
      ariaValueNow: this.#position.toFixed(1),
      ariaValueText: `${this.#position.toFixed(1)} m`,
    });
    this.follow();
    this.onMove?.();
  }

  /** Switches to another axis; `fraction` is the position as a fraction of the box. */
  turn(cut: Cut, fraction: number): void {
    this.#cut = cut;
    this.#handle.dataset.axis = this.axis;
    const { min, max } = this.#box;
    this.position = min[this.axis] + fraction * (max[this.axis] - min[this.axis]);
  }

  /** Moves the handle to its projected position on the screen. */
  follow(): void {
    if (this.#handle.hidden) return;
    const { camera } = this.#page;
    camera.updateMatrixWorld();
    const { x, y } = this.#anchor().project(camera);
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const clamp = (position: number, length: number): number =>
      Math.min(length - HALF_SIZE - 8, Math.max(HALF_SIZE + 8, position));
    this.#handle.style.translate = `${clamp(((x + 1) / 2) * width, width) - HALF_SIZE}px ${clamp(((1 - y) / 2) * height, height) - HALF_SIZE}px`;
  }

  /** The corner of the plane that is nearest to a viewer at the front right. */
  #anchor(): Vector3 {
    const corner = this.#box.max.clone();
    if (this.axis === 'y') corner.y = this.#position;
    else corner[this.axis] = this.#position;
    return corner;
  }

  /** The position on the handle's line that is nearest to the ray through a pixel. */
  #positionUnder(x: number, y: number): number {
    const { camera } = this.#page;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const pointer = new Vector2((2 * x) / width - 1, 1 - (2 * y) / height);
    const ray = new Ray().set(
      camera.position,
      new Vector3(pointer.x, pointer.y, 0.5).unproject(camera).sub(camera.position),
    );
    ray.direction.normalize();
    const [from, to] = [this.#anchor(), this.#anchor()];
    from[this.axis] = this.#box.min[this.axis];
    to[this.axis] = this.#box.max[this.axis];
    const nearest = new Vector3();
    ray.distanceSqToSegment(from, to, undefined, nearest);
    return nearest[this.axis];
  }

  #onKey(event: KeyboardEvent): void {
    const step = event.shiftKey ? STEP.large : STEP.small;
    const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    const { min, max } = this.#box;
    if (steps !== undefined) this.position += steps * step;
    else if (event.key === 'Home') this.position = min[this.axis];
    else if (event.key === 'End') this.position = max[this.axis];
    else return;
    event.preventDefault();
  }
}
