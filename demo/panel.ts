import type { Intersection } from 'three';

/** Readable name of the object that was hit. */
export function nameOf({ object, instanceId }: Pick<Intersection, 'object' | 'instanceId'>): string {
  return instanceId === undefined ? object.name : `${object.name} ${instanceId}`;
}

/** The texts next to the picture. */
export class Panel {
  readonly #name = element('hit-name');
  readonly #detail = element('hit-detail');
  readonly #figures = element('figures');

  showHit(hit: Intersection | null): void {
    const triangle = hit?.face ? `, triangle ${hit.faceIndex}` : '';
    this.showName(hit && nameOf(hit), hit === null ? '' : `distance ${hit.distance.toFixed(3)}${triangle}`);
  }

  /** null if nothing was hit. */
  showName(name: string | null, detail: string): void {
    this.#name.textContent = name ?? 'nothing';
    this.#detail.textContent = detail || '\u00a0';
  }

  showFigures(figures: Record<string, string>): void {
    fillTable(this.#figures, figures);
  }
}

/** '' for no selection. Also sets `data-selected` of the page. */
export function showSelected(name: string): void {
  element('selection').textContent = `selected: ${name || 'nothing'}`;
  document.body.dataset.selected = name;
}

/** The progress bar that covers the page while it loads. */
export class Progress {
  readonly #root = element('progress');
  readonly #text = element('progress-text');
  readonly #bar = element('progress-bar') as HTMLProgressElement;

  show(text: string, fraction: number): void {
    this.#text.textContent = text;
    this.#bar.value = fraction;
  }

  /** Shows the bar again, with a button that cancels the task. */
  begin(text: string, cancel: () => void): void {
    this.show(text, 0);
    this.#root.hidden = false;
    const button = element('cancel') as HTMLButtonElement;
    button.hidden = false;
    button.onclick = cancel;
  }

  end(): void {
    this.#root.hidden = true;
  }
}

/** Shows an error on the page, so that none is reported in the console only. */
export function showError(error: unknown): void {
  const box = element('error');
  // If the page failed to start, this reveals what is behind the bar.
  element('progress').hidden = true;
  box.hidden = false;
  box.textContent = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export function element(id: string): HTMLElement {
  const result = document.getElementById(id);
  if (result === null) throw new Error(`the page has no element "${id}"`);
  return result;
}

/** Adds a row for each name, with its value or values, to the table's body if it has one. */
export function fillTable(table: HTMLElement, values: Record<string, string | readonly string[]>): void {
  const rows = Object.entries(values).map(([name, value]) => {
    const row = document.createElement('tr');
    row.append(cell('th', name), ...[value].flat().map((text) => cell('td', text)));
    return row;
  });
  (table.querySelector('tbody') ?? table).replaceChildren(...rows);
}

function cell(tag: 'th' | 'td', text: string): HTMLElement {
  const result = document.createElement(tag);
  result.textContent = text;
  return result;
}
