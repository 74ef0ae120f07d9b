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
  return `
    const limitMemory = ${limitMemory};
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (bytes, imports) => instantiate(limitMemory(bytes, ${pages}), imports);
    import(${JSON.stringify(script)});
  `;
}
