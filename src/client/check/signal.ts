import { invalid, reading } from './validate.js';

/** Checks an AbortSignal, or none. */
export function checkSignal(operation: string, signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || reading(operation, 'signal', () => isSignal(signal))) return;
  invalid(operation, 'signal', signal, 'an AbortSignal');
}

function isSignal(signal: unknown): signal is AbortSignal {
  const candidate = signal as Partial<AbortSignal> | null;
  return (
    typeof candidate?.aborted === 'boolean' &&
    typeof candidate.addEventListener === 'function' &&
    typeof candidate.removeEventListener === 'function'
  );
}
