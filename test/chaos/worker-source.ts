import type { StartMode } from './chaos-worker.js';

/** The source of a worker that starts badly, or whose core is limited to `pages` pages of memory. */
export function sourceOf(start: StartMode, pages: number | undefined, script: string, limitMemory: object): string {
  if (start === 'silent') return 'setInterval(() => {}, 1000)';
  if (start === 'no wasm') {
    return `
      WebAssembly.instantiate = () => Promise.reject(new WebAssembly.CompileError('none today'));
      import(${JSON.stringify(script)});
    `;
  }
  const load = `import(${JSON.stringify(script)});`;
  if (pages === undefined) return load;
  return `
    const limitMemory = ${limitMemory};
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (bytes, imports) => instantiate(limitMemory(bytes, ${pages}), imports);
    ${load}
  `;
}

/**
 * The source that makes the clock of a worker jump ahead by more than a slice at random, at one in `interval` readings: so a
 * slice may end wherever the clock is read, and not only where a slow one would end.
 */
export function shortSlices(interval: number, seed: number): string {
  return `
    const clock = performance.now.bind(performance);
    let ahead = 0;
    let state = ${seed} | 0;
    performance.now = () => {
      state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0;
      if ((state >>> 8) % ${interval} === 0) ahead += 16;
      return clock() + ahead;
    };
  `;
}
