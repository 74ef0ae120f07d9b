import { askWorker } from './ask-worker.js';

/** How much the picture may cost: `?quality=low` or `high`, else low where WebGL runs in software. */
export type Quality = 'low' | 'high';

/** As scripts/headless.mjs knows them. */
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
/** Where the name of what draws is kept while the tab is open: asking takes a driver's start. */
const KEY = 'renderer';

/** Nothing moves by itself for who wants less motion; the controls let it. */
export function movesByItself(): boolean {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

export async function chooseQuality(): Promise<Quality> {
  const wish = new URLSearchParams(location.search).get('quality');
  if (wish === 'low' || wish === 'high') return wish;
  const known = sessionStorage.getItem(KEY);
  const name = known ?? (await rendererName());
  sessionStorage.setItem(KEY, name);
  return SOFTWARE.test(name) ? 'low' : 'high';
}

/** Asks in a worker: the first context of WebGL starts the driver, which takes longer than a frame. */
async function rendererName(): Promise<string> {
  const worker = new Worker(new URL('./quality-worker.ts', import.meta.url), { type: 'module' });
  const name = await askWorker<string | null>(worker, 'asks what draws');
  if (name === null) throw new Error('This browser has no WebGL 2, or it is switched off.');
  return name;
}
