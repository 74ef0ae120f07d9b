/** Sends one question to a worker, returns its answer, and terminates the worker. `task` names the task in error messages. */
export async function askWorker<Answer>(worker: Worker, task: string, question?: unknown): Promise<Answer> {
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`the worker that ${task} failed: ${message}`));
      worker.postMessage(question);
    });
  } finally {
    worker.terminate();
  }
}
