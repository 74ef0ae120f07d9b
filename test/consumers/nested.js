// An app that leaves everything to a worker, like those that draw to an OffscreenCanvas.
const worker = new Worker(new URL('./app.js', import.meta.url), { type: 'module' });
worker.addEventListener('message', ({ data }) => {
  document.title = data;
});
worker.addEventListener('error', ({ message }) => {
  document.title = `the app's worker: ${message}`;
});
