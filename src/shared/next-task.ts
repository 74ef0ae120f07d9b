let port: MessagePort | undefined;
const resumes: (() => void)[] = [];

/**
 * Waits until the page has had its turn: frames, events and messages are processed before the caller continues. Of
 * several waiting callers, one continues in each task.
 */
export function nextTask(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve));
  // Jest's jsdom has neither setImmediate nor MessageChannel.
  if (typeof MessageChannel === 'undefined') return new Promise((resolve) => setTimeout(resolve));
  // Timers are slowed down to 4 ms when they nest; messages to oneself are not.
  return new Promise((resolve) => {
    resumes.push(resolve);
    port ??= openPort();
    port.postMessage(null);
  });
}

function openPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resumes.shift()?.();
  return port2;
}
