import type { BoxCheck } from 'collision-worker';
import { grouped } from '../format.js';
import { element, showError } from '../panel.js';
import type { BoxShape } from './box-shape.js';

/** The mode of the handles, as named by three's TransformControls. */
export type Mode = 'translate' | 'rotate' | 'scale';

/** The owner of the boxes, which carries out the edits. */
export interface BoxEditor {
  readonly shapes: readonly BoxShape[];
  readonly selected: BoxShape | null;
  mode: Mode;
  add(): void;
  select(shape: BoxShape | null): void;
  removeSelected(): void;
  /** Renames the box. Returns whether the name is free. */
  rename(name: string): boolean;
  /** Moves, rotates or scales a box by a key. Returns whether the key does that. */
  nudge(shape: BoxShape, event: KeyboardEvent): boolean;
  save(): Promise<void>;
}

/** The boxes as buttons, and the commands for the selected one. */
export class BoxList {
  readonly #page: BoxEditor;
  readonly #list = element('boxes');
  readonly #name = element('box-name') as HTMLInputElement;
  readonly #remove = element('remove') as HTMLButtonElement;
  readonly #modes = [...element('modes').querySelectorAll('button')];
  readonly #items = new Map<BoxShape, HTMLLIElement>();

  constructor(page: BoxEditor) {
    this.#page = page;
    for (const button of this.#modes) {
      button.addEventListener('click', () => {
        page.mode = button.dataset.mode as Mode;
      });
    }
    element('add').addEventListener('click', () => page.add());
    element('save').addEventListener('click', () => page.save().catch(showError));
    this.#remove.addEventListener('click', () => page.removeSelected());
    this.#name.addEventListener('input', () => {
      this.#name.setAttribute('aria-invalid', String(!page.rename(this.#name.value.trim())));
    });
    this.#name.addEventListener('blur', () => this.show());
  }

  show(): void {
    const { shapes, selected, mode } = this.#page;
    for (const [shape, item] of this.#items) {
      if (shapes.includes(shape)) continue;
      item.remove();
      this.#items.delete(shape);
    }
    for (const shape of shapes) {
      const item = this.#items.get(shape) ?? this.#add(shape);
      const button = item.firstElementChild as HTMLButtonElement;
      button.textContent = shape.name;
      button.setAttribute('aria-pressed', String(shape === selected));
    }
    for (const button of this.#modes) button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
    this.#remove.disabled = selected === null || shapes.length < 2;
    this.#name.disabled = selected === null;
    if (document.activeElement === this.#name) return;
    this.#name.value = selected?.name ?? '';
    this.#name.setAttribute('aria-invalid', 'false');
  }

  /** Shows whether the boxes enclose the whole mesh, and the share of its size by which it sticks out. */
  showCheck({ conservative, triangles }: BoxCheck, fraction: number): void {
    const answer = element('conservative');
    answer.textContent = conservative ? 'yes' : 'no';
    answer.dataset.conservative = String(conservative);
    element('uncovered').textContent = conservative
      ? 'The boxes hold every triangle.'
      : `${grouped(triangles)} triangles stick out, by up to ${(100 * fraction).toFixed(1)} % of the dragon.`;
  }

  #add(shape: BoxShape): HTMLLIElement {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.style.setProperty('--colour', shape.style);
    button.title = 'Arrow keys, page up and page down move, turn or scale it; with shift by less';
    button.addEventListener('click', () => this.#page.select(shape));
    button.addEventListener('keydown', (event) => {
      if (this.#page.nudge(shape, event)) event.preventDefault();
    });
    item.append(button);
    this.#list.append(item);
    this.#items.set(shape, item);
    return item;
  }
}
