import { errorToWire } from '../shared/failure.js';

/** Wraps a method so that its errors have the form that keeps their code when they are sent. */
export function answering<A extends unknown[], R>(method: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      const answer = method(...args);
      if (!(answer instanceof Promise)) return answer;
      return answer.catch((error: unknown) => {
        throw errorToWire(error);
      }) as R;
    } catch (error) {
      throw errorToWire(error);
    }
  };
}
