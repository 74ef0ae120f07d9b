/** Milliseconds of work before messages are served: half a frame at 60 Hz. */
export const SLICE_MS = 8;

const resumes: (() => void)[] = [];
let wakeUp: () => void;

const resumeNext = (): void => resumes.shift()!();

if (typeof setImmediate === 'function') {
  wakeUp = () => setImmediate(resumeNext);
} else {
  // Timers are slowed down to 4 ms when they nest; messages to oneself are not.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resumeNext;
  wakeUp = () => port2.postMessage(null);
}

/** Calls `resume` after the messages that wait now were served. */
export function afterMessages(resume: () => void): void {
  resumes.push(resume);
  wakeUp();
}
