import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MAX_SILENT_TICKS, SilenceWatch } from '../../src/client/link/silence.js';

describe('silence', () => {
  const onSilence = vi.fn();
  let isWaiting: boolean;
  let watch: SilenceWatch;
  let paused: number;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
    paused = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + paused);
    onSilence.mockClear();
    isWaiting = true;
    watch = new SilenceWatch(800, () => isWaiting, onSilence);
    watch.start();
  });
  afterEach(() => {
    watch.stop();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  /** Blocks this thread for this long; then its timer ticks, once. */
  const pause = (ms: number) => {
    paused += ms;
    vi.advanceTimersToNextTimer();
  };

  test('is as long as it is to be', () => {
    vi.advanceTimersByTime(799);
    expect(onSilence).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    expect(onSilence).toHaveBeenCalledTimes(1);
  });

  test('is none where nothing is waited for', () => {
    vi.advanceTimersByTime(750);
    isWaiting = false;
    vi.advanceTimersByTime(5_000);
    expect(onSilence).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
    isWaiting = true;
    watch.start();
    vi.advanceTimersByTime(801);
    expect(onSilence).toHaveBeenCalledTimes(1);
  });

  test('begins anew with every word', () => {
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(750);
      watch.heard();
    }
    expect(onSilence).not.toHaveBeenCalled();
  });

  test('is not what ends while its last tick is late', () => {
    vi.advanceTimersByTime(700);
    pause(60_000);
    vi.advanceTimersByTime(90);
    expect(onSilence).not.toHaveBeenCalled();
  });

  test('is none on a page that is prerendered, whose workers start when it is shown', () => {
    vi.stubGlobal('document', { prerendering: true });
    vi.advanceTimersByTime(5_000);
    vi.stubGlobal('document', { prerendering: false });
    vi.advanceTimersByTime(750);
    expect(onSilence).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(onSilence).toHaveBeenCalled();
  });

  test('is ended by what has come and was not heard yet', () => {
    for (let tick = 1; tick <= MAX_SILENT_TICKS; tick++) vi.advanceTimersToNextTimer();
    watch.heard();
    vi.advanceTimersByTime(100);
    expect(onSilence).not.toHaveBeenCalled();
  });

  test('is noticed where ticks are always slow', () => {
    for (let tick = 0; tick <= MAX_SILENT_TICKS; tick++) pause(60_000);
    vi.advanceTimersByTime(1);
    expect(onSilence).toHaveBeenCalled();
  });
});

const INDEX = import.meta.resolve('collision-worker');
const SCRIPT = import.meta.resolve('collision-worker/worker');

// The event that the worker's thread waits for comes only after this thread is running again. Half of the time that counts as
// a loss lies before the pause and half after it, so that a busy machine may be late for both.
const HELD = `
  import { Worker } from 'node:worker_threads';
  import { createCollisionService } from '${INDEX}';
  const flag = new Int32Array(new SharedArrayBuffer(4));
  let worker;
  const createWorker = () => {
    worker = new Worker(\`
      process.getBuiltinModule('node:worker_threads').parentPort.on('message', ({ held }) => held && Atomics.wait(held, 0, 0));
      import('${SCRIPT}');
    \`, { eval: true });
    return worker;
  };
  const service = await createCollisionService({ createWorker, timeout: 4000 });
  service.addEventListener('lost', ({ error }) => console.log(error.message));
  worker.postMessage({ held: flag });
  const release = () => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  setTimeout(() => {
    pause();
    setTimeout(release, 100);
  }, 2000);
  service.update().then(({ frame }) => console.log('frame', frame), () => {});
`;

test.each([
  ['was blocked', 'function pause() { for (const end = Date.now() + 6000; Date.now() < end; ); }'],
  ['was stopped', "function pause() { console.log('stop'); process.kill(process.pid, 'SIGSTOP'); }"],
])('a worker is not lost because the process %s', async (_, pause) => {
  if (process.platform === 'win32' && pause.includes('SIGSTOP')) return;
  const child = spawn(process.execPath, ['--input-type=module', '-e', HELD + pause]);
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
    if (String(text).includes('stop')) setTimeout(() => child.kill('SIGCONT'), 6000);
  });
  child.stderr.on('data', (text) => {
    said += text;
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(said.replace('stop\n', '')).toBe('frame 1\n');
});
