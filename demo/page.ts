import { type SceneTracker, StatsOverlay } from 'collision-worker/three';
import GUI from 'lil-gui';
import { KeyboardPointer } from './keyboard.js';
import { nextTurn } from './next-turn.js';
import { PAGES } from './pages.js';
import { element, Progress, showError } from './panel.js';

/** Milliseconds for which the button confirms that it has copied. */
const COPIED_MS = 1500;

/** Runs a page, and shows all errors on it, whether `start` throws them or they occur later. */
export async function runPage(start: (progress: Progress) => Promise<void>): Promise<void> {
  addEventListener('error', ({ error, message }) => showError(error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => showError(reason));
  try {
    await nextTurn();
    linkPages();
    addCopying();
    addSheet();
    new KeyboardPointer();
    const progress = new Progress();
    await start(progress);
    progress.end();
  } catch (error) {
    showError(error);
  }
}

/** Creates the controls, folded on screens where they would cover the picture. */
export function createControls(container: string, width: number): GUI {
  const gui = new GUI({ container: element(container), title: 'Controls', width });
  return gui.open(!matchMedia('(max-width: 700px)').matches);
}

/** Shows the library's own statistics as one of the texts. */
export function showStats(tracker: SceneTracker): void {
  const { element: figures } = new StatsOverlay(tracker);
  figures.removeAttribute('style');
  element('stats').replaceChildren(figures);
}

/** On a phone, toggles the height of the sheet of texts (style.css). */
function addSheet(): void {
  const side = element('side');
  const button = document.createElement('button');
  Object.assign(button, { id: 'sheet', type: 'button', ariaLabel: 'More of the texts', ariaExpanded: 'false' });
  button.addEventListener('click', () => {
    button.ariaExpanded = String(side.classList.toggle('tall'));
  });
  side.prepend(button);
}

/** Adds the copy button below the code (scripts/shown-code.mjs). */
function addCopying(): void {
  const button = document.getElementById('copy');
  button?.addEventListener('click', async () => {
    const parts = [...document.querySelectorAll('#code pre')].map(({ textContent }) => textContent.trim());
    try {
      await navigator.clipboard.writeText(`${parts.join('\n\n')}\n`);
      button.textContent = 'Copied';
    } catch {
      // The browser denies access to the clipboard, for example on plain HTTP.
      getSelection()?.selectAllChildren(button.parentElement!);
      button.textContent = 'Selected, to be copied';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
}

function linkPages(): void {
  const current = location.pathname.split('/').at(-1) || PAGES[0][0];
  const links = PAGES.map(([file, title]) => {
    const link = document.createElement('a');
    link.href = `./${file}${location.search}`;
    link.textContent = title;
    if (file === current) link.setAttribute('aria-current', 'page');
    return link;
  });
  element('pages').replaceChildren(...links);
  links.find((link) => link.hasAttribute('aria-current'))?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
