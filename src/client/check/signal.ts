import { guardRead, throwInvalid } from './validate.js';

/** Checks an AbortSignal, or none. */
export function checkSignal(operation: string, signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || guardRead(operation, 'signal', () => isSignal(signal))) return;
  throwInvalid(operation, 'signal', signal, 'an AbortSignal');
}

function isSignal(signal: unknown): signal is AbortSignal {
  const candidate = signal as Partial<AbortSignal> | null;
  return (
    typeof candidate?.aborted === 'boolean' &&
    typeof candidate.addEventListener === 'function' &&
    typeof candidate.removeEventListener === 'function'
  );
}
