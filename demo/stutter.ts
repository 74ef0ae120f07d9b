import { element } from './panel.js';

/** Radians per second. */
const SPEED = 4;

/** A ring at the cursor and a spinner, both animated in the page's own frames: they stutter when the main thread does. */
export class Stutter {
  readonly #ring = element('ring');
  readonly #spinner = element('spinner');

  /** `position` is in CSS pixels of the window; null for no ring. */
  move(seconds: number, position: { x: number; y: number } | null): void {
    this.#spinner.style.transform = `rotate(${(seconds * SPEED) % (2 * Math.PI)}rad)`;
    this.#ring.hidden = position === null;
    if (position !== null) this.#ring.style.transform = `translate(${position.x}px, ${position.y}px)`;
  }
}
