/** Sends one question to a worker, returns its answer, and terminates the worker. `what` names the task in error messages. */
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
