import { askWorker } from './ask-worker.js';

/** Rendering quality: `?quality=low` or `high`, else low if WebGL runs in software. */
export type Quality = 'low' | 'high';

/** The same pattern as in scripts/headless.mjs. */
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
/** Session storage key of the renderer's name: querying it starts the driver. */
const KEY = 'renderer';

/** Returns whether scenes may move by themselves: not for users who prefer reduced motion, though the controls allow it. */
export function movesByItself(): boolean {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

export async function chooseQuality(): Promise<Quality> {
  const requested = new URLSearchParams(location.search).get('quality');
  if (requested === 'low' || requested === 'high') return requested;
  const cachedName = sessionStorage.getItem(KEY);
  const name = cachedName ?? (await rendererName());
  sessionStorage.setItem(KEY, name);
  return SOFTWARE.test(name) ? 'low' : 'high';
}

/** Queries the name in a worker: the first WebGL context starts the driver, which takes longer than a frame. */
async function rendererName(): Promise<string> {
  const worker = new Worker(new URL('./quality-worker.ts', import.meta.url), { type: 'module' });
  const name = await askWorker<string | null>(worker, 'asks what draws');
  if (name === null) throw new Error('This browser has no WebGL 2, or it is switched off.');
  return name;
}
