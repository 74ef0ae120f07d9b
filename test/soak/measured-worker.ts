import { MessageChannel, Worker } from 'node:worker_threads';

/** JavaScript memory of a thread, in megabytes. */
export interface ThreadMemory {
  heap: number;
  buffers: number;
}

/** The package's own worker, which can also report its JavaScript memory after a garbage collection. */
export function createMeasuredWorker() {
  const script = import.meta.resolve('collision-worker/worker');
  const source = `
    const { workerData: port } = require('node:worker_threads');
    require('node:v8').setFlagsFromString('--expose-gc');
    const collectGarbage = require('node:vm').runInNewContext('gc');
    port.on('message', () => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      port.postMessage({ heap: heapUsed / 2 ** 20, buffers: arrayBuffers / 2 ** 20 });
    });
    import(${JSON.stringify(script)});
  `;
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(source, { eval: true, workerData: port2, transferList: [port2] });
  const measure = () => {
    port1.postMessage(null);
    return new Promise<ThreadMemory>((resolve) => port1.once('message', resolve));
  };
  port1.unref();
  return { worker, measure, close: () => port1.close() };
}
