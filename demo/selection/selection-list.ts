import type { Mesh } from 'three';
import { element } from '../panel.js';

/** What is selected, counted and by name, in the order of the model. */
export class SelectionList {
  readonly #count = element('count');
  readonly #names = element('names');

  show(selected: ReadonlySet<Mesh>, all: readonly Mesh[]): void {
    const names = all.filter((part) => selected.has(part)).map(({ name }) => name);
    this.#count.textContent = names.length === 0 ? 'nothing' : `${names.length} of ${all.length} parts`;
    this.#names.replaceChildren(
      ...names.map((name) => {
        const item = document.createElement('li');
        item.textContent = name;
        return item;
      }),
    );
  }
}
