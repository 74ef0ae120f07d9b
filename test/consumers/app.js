// The app, bundled as it is, and run in Node and in a worker of the page, which makes the package's own worker one of a
// worker's.
import { CollisionError } from 'collision-worker';
import { pickBox } from './pick-box.js';

function answer(text) {
  if (globalThis.document) document.title = text;
  else if (globalThis.WorkerGlobalScope && !globalThis.Deno) postMessage(text);
  else console.log(text);
}

pickBox().then(answer, (error) => answer(`${error instanceof CollisionError} ${error.stack}`));
