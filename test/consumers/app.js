// The app, bundled as it is, and run in Node and in a worker
// of the page, where the package's own worker is a nested one.
import { CollisionError } from 'collision-worker';
import { pickBox } from './pick-box.js';

function answer(text) {
  if (globalThis.document) document.title = text;
  else if (globalThis.WorkerGlobalScope && !globalThis.Deno) postMessage(text);
  else console.log(text);
}

pickBox().then(answer, (error) => answer(`${error instanceof CollisionError} ${error.stack}`));
