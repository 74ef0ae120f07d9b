import { errorToWire } from '../shared/failure.js';

/** Wraps a method so that its errors have the form in which they keep their code on the way. */
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
