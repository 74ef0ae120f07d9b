import type { BufferGeometry } from 'three';
import { element } from '../panel.js';
import { ENGINES, type EngineName, type Result, runBench } from './bench.js';

/** The benchmark table, with its buttons and its progress bar. */
export class BenchTable {
  /** Results by workload. */
  readonly results = new Map<string, Partial<Record<EngineName, Result>>>();
  readonly #body = element('bench').querySelector('tbody')!;
  readonly #run = element('run') as HTMLButtonElement;
  readonly #stop = element('stop') as HTMLButtonElement;
  readonly #progress = element('bench-progress') as HTMLProgressElement;
  readonly #status = element('bench-said');

  constructor(load: () => Promise<[BufferGeometry, BufferGeometry]>) {
    this.#run.addEventListener('click', () => this.#start(load));
  }

  async #start(load: () => Promise<[BufferGeometry, BufferGeometry]>): Promise<void> {
    const abortController = new AbortController();
    const cancel = (): void => abortController.abort();
    this.#stop.addEventListener('click', cancel);
    this.#run.disabled = true;
    this.#stop.hidden = this.#progress.hidden = false;
    this.results.clear();
    this.#body.replaceChildren();
    this.#status.textContent = 'Running: the rows of the main thread take some seconds.';
    try {
      const [dragon, smallDragon] = await load();
      await runBench(
        dragon,
        smallDragon,
        {
          onProgress: (fraction) => {
            this.#progress.value = fraction;
          },
          onResult: (work, engine, result) => this.#add(work, engine, result),
        },
        abortController.signal,
      );
      this.#status.textContent = this.#areEqual
        ? 'All three hit the same triangles.'
        : 'They do not hit the same triangles: please tell us which browser this is.';
    } catch (error) {
      this.#status.textContent = abortController.signal.aborted ? 'Cancelled.' : String(error);
    }
    this.#stop.removeEventListener('click', cancel);
    this.#run.disabled = false;
    this.#stop.hidden = this.#progress.hidden = true;
  }

  get #areEqual(): boolean {
    return [...this.results.values()].every(
      (row) => new Set(ENGINES.map((engine) => row[engine]?.checksum)).size === 1,
    );
  }

  #add(work: string, engine: EngineName, result: Result): void {
    this.results.set(work, { ...this.results.get(work), [engine]: result });
    const rows = [...this.results].map(([name, row]) => {
      const line = document.createElement('tr');
      const head = document.createElement('th');
      head.textContent = name;
      line.append(head, ...ENGINES.map((each) => cellOf(row[each])));
      return line;
    });
    this.#body.replaceChildren(...rows);
  }
}

function cellOf(result: Result | undefined): HTMLElement {
  const cell = document.createElement('td');
  cell.textContent = result === undefined ? '…' : result.microseconds.toFixed(result.microseconds < 100 ? 1 : 0);
  return cell;
}
