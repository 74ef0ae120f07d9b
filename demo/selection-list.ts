import { element } from './panel.js';

/** The count and the names of the selected objects, in scene order. */
export class SelectionList {
  readonly #count = element('count');
  readonly #names = element('names');
  readonly #kind: string;

  /** `kind` is the plural noun for them, such as 'parts'. */
  constructor(kind: string) {
    this.#kind = kind;
  }

  show<T extends { readonly name: string }>(selected: ReadonlySet<T>, all: readonly T[]): void {
    const names = all.filter((each) => selected.has(each)).map(({ name }) => name);
    this.#count.textContent = names.length === 0 ? 'nothing' : `${names.length} of ${all.length} ${this.#kind}`;
    this.#names.replaceChildren(
      ...names.map((name) => {
        const item = document.createElement('li');
        item.textContent = name;
        return item;
      }),
    );
  }
}
