import { element } from './panel.js';

/** The circle around the cursor within which objects are picked. */
export class RadiusCircle {
  readonly #root = element('circle');

  /** In CSS pixels. null if there is no cursor. */
  show(cursor: { x: number; y: number } | null, radius: number): void {
    this.#root.hidden = cursor === null;
    if (cursor === null) return;
    const { style } = this.#root;
    style.left = `${cursor.x}px`;
    style.top = `${cursor.y}px`;
    style.width = `${2 * radius}px`;
  }
}
