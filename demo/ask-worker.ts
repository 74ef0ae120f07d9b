/** Puts one question to a worker, answers what it says, and ends it. `what` it does is said where it fails. */
export async function askWorker<Answer>(worker: Worker, what: string, question?: unknown): Promise<Answer> {
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`the worker that ${what} failed: ${message}`));
      worker.postMessage(question);
    });
  } finally {
    worker.terminate();
  }
}
