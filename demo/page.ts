import GUI from 'lil-gui';
import { element, Progress, showError } from './panel.js';

const PAGES: readonly [file: string, title: string][] = [
  ['index.html', 'Home'],
  ['model.html', 'Your model'],
  ['picking.html', 'Picking'],
  ['selection.html', 'Selection'],
  ['seeing.html', 'Seeing'],
  ['contacts.html', 'Contacts'],
  ['characters.html', 'Bones'],
  ['points.html', 'Points'],
  ['batch.html', 'Batch'],
  ['pointer.html', 'Events'],
  ['react.html', 'React'],
];

/** Runs a page: what `start` throws, and whatever goes wrong later, is shown on it. */
export async function runPage(start: (progress: Progress) => Promise<void>): Promise<void> {
  addEventListener('error', ({ error, message }) => showError(error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => showError(reason));
  try {
    linkPages();
    const progress = new Progress();
    await start(progress);
    progress.end();
  } catch (error) {
    showError(error);
  }
}

/** The controls, folded away where they would cover the picture. */
export function createControls(container: string, width: number): GUI {
  const gui = new GUI({ container: element(container), title: 'Controls', width });
  return gui.open(!matchMedia('(max-width: 700px)').matches);
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
}
