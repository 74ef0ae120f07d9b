import type { Remote } from '../../shared/calls.js';
import type { WorkerApi } from '../../shared/protocol.js';
import { abortable } from '../link/abort.js';
import type { WorkerLink } from '../link/worker-link.js';
import type { FramePump } from './frame-pump.js';

/** Sends a query in order with the frames. If the worker is lost, the next one is asked, once. `invoke` must change nothing. */
export function askInOrder<T>(
  link: WorkerLink,
  pump: FramePump,
  operation: string,
  signal: AbortSignal | undefined,
  invoke: (api: Remote<WorkerApi>) => Promise<T>,
): Promise<T> {
  const answer = link.deferQuestion<T>(operation);
  const ask = async () => {
    if (answer.settled) return;
    await link.answerWith(answer, operation, invoke);
    if (!answer.settled) pump.enqueue(ask); // the worker was lost
  };
  pump.enqueue(ask);
  return abortable(operation, signal, answer);
}
