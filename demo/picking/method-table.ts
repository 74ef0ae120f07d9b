import type { Hit } from 'collision-worker';
import { cssColor, METHODS } from './methods.js';

/** A row for each method with its result, in the method's colour. */
export class MethodTable {
  readonly #cells = METHODS.map(() => ({ name: document.createElement('td'), length: document.createElement('td') }));

  constructor(table: HTMLElement) {
    const rows = METHODS.map(({ id, title, color }, i) => {
      const row = document.createElement('tr');
      row.id = `method-${id}`;
      row.style.setProperty('--color', cssColor(color));
      const head = document.createElement('th');
      head.textContent = title;
      head.className = 'swatch';
      row.append(head, this.#cells[i].name, this.#cells[i].length);
      this.show(i, null, '');
      return row;
    });
    table.replaceChildren(...rows);
  }

  /** A screen pick shows the distance to the centre in pixels, the others the distance to the hit. */
  show(method: number, hit: Hit | null, objectName: string): void {
    const { name, length } = this.#cells[method];
    name.textContent = hit === null ? 'nothing' : objectName;
    name.classList.toggle('none', hit === null);
    if (hit === null) length.textContent = '';
    else length.textContent = hit.pixels === undefined ? hit.distance.toFixed(3) : `${hit.pixels.toFixed(1)} px`;
  }
}
