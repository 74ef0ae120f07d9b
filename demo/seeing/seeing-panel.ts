import { element } from '../panel.js';
import type { Heist } from './heist.js';
import { STATES, type State } from './states.js';

const MAX_EVENTS = 40;
const NAMES = Object.keys(STATES) as State[];

/** Counts of the states, and the latest changes. */
export class SeeingPanel {
  readonly #events = element('events');
  readonly #heist = element('heist');
  readonly #counts: HTMLElement[];

  constructor() {
    this.#counts = NAMES.map(() => document.createElement('td'));
    const rows = NAMES.map((name, i) => {
      const { title, color } = STATES[name];
      const row = document.createElement('tr');
      const head = document.createElement('th');
      row.id = `state-${name}`;
      row.style.setProperty('--color', `#${color.toString(16)}`);
      head.className = 'swatch';
      head.textContent = title;
      row.append(head, this.#counts[i]);
      return row;
    });
    element('states').replaceChildren(...rows);
  }

  count(states: readonly State[]): void {
    NAMES.forEach((name, i) => {
      const text = String(states.filter((state) => state === name).length);
      if (this.#counts[i].textContent !== text) this.#counts[i].textContent = text;
    });
  }

  showHeist({ taken, all, caught }: Heist): void {
    const text = `${taken} of ${all} jewels, seen ${caught} ${caught === 1 ? 'time' : 'times'}`;
    if (this.#heist.textContent !== text) this.#heist.textContent = text;
  }

  /** Adds an event to the log, newest first. */
  addEvent(event: string): void {
    const item = document.createElement('li');
    item.textContent = event;
    this.#events.prepend(item);
    if (this.#events.childElementCount > MAX_EVENTS) this.#events.lastElementChild!.remove();
  }
}
