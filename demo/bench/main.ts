// Runs the rows of `npm run bench` in the visitor's own browser. The rows come from the bench; this file displays them.

import { type ContenderResult, measure, type Row, type RowResult } from '../../test/bench/harness.js';
import { formatDigits, formatQuartiles } from '../../test/bench/report/table.js';
import { FULL_ANYWHERE, rowsAnywhere } from '../../test/bench/rows/anywhere.js';
import { dragon, fetchDragon } from '../../test/bench/visitor/dragon.js';
import { element } from '../panel.js';

/** The rows selected initially; they take about a minute. */
const DEFAULT_ROWS = ['rays-48k', 'boxes-10k', 'manifolds-10k', 'rays-boxes', 'frustum-100k', 'pick-idle'];
/** Rounds per row, and milliseconds of warm-up for each contender: fewer than in Node, since a visitor is waiting. */
const DEFAULT_RUN = { rounds: 5, warmUp: 300 };
/** The lengths for `?short`, which checks that the rows work, not how fast they are. */
const SHORT_RUN = { rounds: 1, warmUp: 0 };

const parameters = new URLSearchParams(location.search);
const isShort = parameters.has('short');
const rows = rowsAnywhere(dragon, FULL_ANYWHERE);
const run = element('run') as HTMLButtonElement;
const stop = element('stop') as HTMLButtonElement;
const copy = element('copy') as HTMLButtonElement;
const bar = element('progress') as HTMLProgressElement;
const results: RowResult[] = [];
let isStopped = false;

listRows(parameters.get('rows')?.split(',') ?? DEFAULT_ROWS);
element('clock').hidden = crossOriginIsolated;
element('all').addEventListener('click', () => listRows(rows.map(({ name }) => name)));
element('few').addEventListener('click', () => listRows(DEFAULT_ROWS));
element('choice').addEventListener('submit', (event) => {
  event.preventDefault();
  runRows(selectedRows());
});
stop.addEventListener('click', () => {
  isStopped = true;
});
copy.addEventListener('click', async () => {
  await navigator.clipboard.writeText(reportText(results));
  showStatus('Copied.');
});
try {
  await fetchDragon();
  run.disabled = false;
  showStatus('');
} catch (error) {
  showStatus(`The dragon could not be loaded: ${error}`);
}

function showStatus(text: string): void {
  element('said').textContent = text;
}

function listRows(checked: readonly string[]): void {
  const labels = rows.map(({ name, work }) => {
    const label = document.createElement('label');
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', value: name });
    box.checked = checked.includes(name);
    const text = document.createElement('span');
    text.append(name, createNote(work));
    label.append(box, text);
    return label;
  });
  element('rows').replaceChildren(...labels);
}

function selectedRows(): Row[] {
  const names = [...element('rows').querySelectorAll('input')]
    .filter(({ checked }) => checked)
    .map(({ value }) => value);
  return rows.filter(({ name }) => names.includes(name));
}

async function runRows(rowsToRun: readonly Row[]): Promise<void> {
  run.disabled = true;
  stop.hidden = bar.hidden = false;
  copy.hidden = true;
  isStopped = false;
  results.length = 0;
  element('results').replaceChildren();
  for (const [i, row] of rowsToRun.entries()) {
    if (isStopped) break;
    bar.value = i / rowsToRun.length;
    showStatus(`Running ${row.name}: ${row.work}…`);
    await waitForPaint();
    try {
      const result = await measure(row, { native: false, isShort }, isShort ? SHORT_RUN : DEFAULT_RUN);
      results.push(result);
      element('results').append(sectionOf(result));
    } catch (error) {
      element('results').append(failureSection(row, error));
    }
  }
  const faultyResults = results.filter(({ faults }) => faults.length > 0);
  const verdict =
    faultyResults.length === 0
      ? 'All answers agree.'
      : `Different answers in ${faultyResults.map(({ name }) => name).join(', ')}.`;
  showStatus(
    results.length === 0 ? 'Nothing was run.' : `${results.length} of ${rowsToRun.length} rows are done. ${verdict}`,
  );
  run.disabled = false;
  stop.hidden = bar.hidden = true;
  copy.hidden = results.length === 0;
}

/** Waits until the text has been painted: the work that follows may block the page. */
async function waitForPaint(): Promise<void> {
  await new Promise(requestAnimationFrame);
  await new Promise((resolve) => setTimeout(resolve));
}

function sectionOf({ name, work, contenders, faults }: RowResult): HTMLElement {
  const section = createSection(name, work);
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const text of ['', 'median (quartiles), ms', 'ratio (quartiles)']) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = text;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const [i, contender] of contenders.entries()) body.append(createRow(contender, i === 0));
  section.append(table);
  for (const fault of faults) section.append(paragraph(`Different answers: ${fault}`));
  return section;
}

function createRow({ name, note, ms, ratio }: ContenderResult, isOurs: boolean): HTMLElement {
  const line = document.createElement('tr');
  if (isOurs) line.className = 'ours';
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = name;
  if (note) head.append(createNote(note));
  line.append(head);
  const ratios = isOurs ? [] : [`${formatDigits(ratio.median)} ×`, formatQuartiles(ratio)];
  for (const [value = '', spread = ''] of [[formatDigits(ms.median), formatQuartiles(ms)], ratios]) {
    const cell = line.insertCell();
    cell.append(value, createNote(spread));
  }
  return line;
}

function createNote(text: string): HTMLElement {
  return Object.assign(document.createElement('span'), { className: 'note', textContent: text });
}

function failureSection({ name, work }: Row, error: unknown): HTMLElement {
  const section = createSection(name, work);
  section.append(paragraph(`It failed: ${error instanceof Error ? error.message : String(error)}`));
  return section;
}

function createSection(name: string, work: string): HTMLElement {
  const section = document.createElement('section');
  section.id = `row-${name}`;
  const head = document.createElement('h2');
  head.textContent = name;
  const text = document.createElement('p');
  text.textContent = work;
  section.append(head, text);
  return section;
}

function paragraph(text: string): HTMLElement {
  return Object.assign(document.createElement('p'), { className: 'wrong', textContent: text });
}

function reportText(rowResults: readonly RowResult[]): string {
  const lines = rowResults.flatMap(({ name, work, contenders }) => [
    `${name}: ${work}`,
    ...contenders.map(
      ({ name: contenderName, ms, ratio }) =>
        `  ${contenderName}: ${formatDigits(ms.median)} ms (${formatQuartiles(ms)}), ratio ${formatDigits(ratio.median)} (${formatQuartiles(ratio)})`,
    ),
  ]);
  return [navigator.userAgent, ...lines, ''].join('\n');
}
