import { element } from '../panel.js';
import type { Filter } from './filters.js';
import type { Change, TouchingPair } from './touching.js';

const MAX_EVENTS = 150;
/** Weight of the latest time in the moving average that is shown. */
const AVERAGE_WEIGHT = 0.1;

/** Counts, selectable filters, the pairs that touch, and the contacts that began and ended. */
export class ContactsPanel {
  readonly #figures = new Map<string, HTMLElement>();
  readonly #filters: ReadonlyMap<Filter, HTMLButtonElement>;
  readonly #touching = element('touching');
  readonly #events = element('events');
  #selectedFilter: Filter;
  #touchingText = '';
  #milliseconds: number | null = null;

  constructor(filters: readonly Filter[], onChoose: (filter: Filter) => void) {
    this.#filters = new Map(
      filters.map((filter) => [filter, filterButton(filter, () => this.#selectFilter(filter, onChoose))]),
    );
    this.#selectedFilter = filters[0];
    element('filters').replaceChildren(...this.#filters.values());
    this.#selectFilter(filters[0], onChoose);
  }

  /** Shows the pairs and points of the whole frame, and the worker's milliseconds for its contacts. */
  showFigures(seconds: number, pairs: number, points: number, milliseconds: number): void {
    this.#milliseconds ??= milliseconds;
    this.#milliseconds += AVERAGE_WEIGHT * (milliseconds - this.#milliseconds);
    this.#set('time', `${seconds.toFixed(2)} s`);
    this.#set('pairs', String(pairs));
    this.#set('points', String(points));
    this.#set('in the worker', `${this.#milliseconds.toFixed(2)} ms`);
  }

  showFound(filter: Filter, pairs: number): void {
    setText(this.#filters.get(filter)!.lastElementChild!, String(pairs));
  }

  showTouching(pairs: readonly TouchingPair[]): void {
    const shown = pairs.filter(({ filters }) => filters.includes(this.#selectedFilter.name));
    const text = shown.map(({ a, b }) => `${a} – ${b}`).join('\n');
    if (text === this.#touchingText) return;
    this.#touchingText = text;
    this.#touching.replaceChildren(...shown.map((pair) => pairItem(pair)));
  }

  /** Adds changes to the log, newest first. */
  addChanges(changes: readonly Change[], frame: number, seconds: number): void {
    for (const { kind, pair } of changes) {
      const item = pairItem(pair);
      item.className = kind;
      item.append(` ${kind}`);
      Object.assign(item.dataset, { event: kind, frame, seconds, filters: pair.filters.join(' ') });
      item.hidden = !pair.filters.includes(this.#selectedFilter.name);
      this.#events.prepend(item);
    }
    while (this.#events.childElementCount > MAX_EVENTS) this.#events.lastElementChild!.remove();
  }

  #selectFilter(filter: Filter, onChoose: (filter: Filter) => void): void {
    this.#selectedFilter = filter;
    for (const [each, button] of this.#filters) button.ariaPressed = String(each === filter);
    for (const item of this.#events.children as HTMLCollectionOf<HTMLElement>) {
      item.hidden = !item.dataset.filters!.split(' ').includes(filter.name);
    }
    onChoose(filter);
  }

  #set(name: string, value: string): void {
    let cell = this.#figures.get(name);
    if (cell === undefined) {
      cell = document.createElement('dd');
      cell.dataset.figure = name;
      const head = document.createElement('dt');
      head.textContent = name;
      const figure = document.createElement('div');
      figure.append(cell, head);
      element('counts').append(figure);
      this.#figures.set(name, cell);
    }
    setText(cell, value);
  }
}

function filterButton({ name, title }: Filter, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.dataset.filter = name;
  button.append(title, document.createElement('span'));
  button.addEventListener('click', onClick);
  return button;
}

function pairItem({ a, b }: TouchingPair): HTMLElement {
  const item = document.createElement('li');
  item.textContent = `${a} – ${b}`;
  Object.assign(item.dataset, { a, b });
  return item;
}

function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
