let port: MessagePort | undefined;
let resumes: (() => void)[] = [];

/** Waits until the page has had its turn: frames, events and messages go before what follows. */
export function nextTask(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve));
  // Timers are slowed down to 4 ms when they nest; messages to oneself are not.
  return new Promise((resolve) => {
    resumes.push(resolve);
    port ??= openPort();
    port.postMessage(null);
  });
}

function openPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const waiting = resumes;
    resumes = [];
    for (const resume of waiting) resume();
  };
  return port2;
}
