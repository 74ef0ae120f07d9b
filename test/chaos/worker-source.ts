import type { Start } from './chaos-worker.js';

/** What runs in a worker that starts badly, or whose core can have no more than so many pages of memory. */
export function sourceOf(start: Start, pages: number | undefined, script: string, limitMemory: object): string {
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
 * What lets the clock of a worker jump ahead by more than a slice at one of so many looks at it, by chance: a slice may end
 * wherever the clock is looked at, and not only where one that takes its time does.
 */
export function shortSlices(looks: number, seed: number): string {
  return `
    const clock = performance.now.bind(performance);
    let ahead = 0;
    let state = ${seed} | 0;
    performance.now = () => {
      state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0;
      if ((state >>> 8) % ${looks} === 0) ahead += 16;
      return clock() + ahead;
    };
  `;
}
