/** Sends a command of the Chrome DevTools Protocol. */
export type Send = (method: string, params?: object) => Promise<unknown>;

export interface Allocations {
  bytes: number;
  /** The most first. */
  byFunction: [name: string, bytes: number][];
}

interface ProfileNode {
  callFrame: { functionName: string; url: string };
  selfSize: number;
  children: ProfileNode[];
}

/** What a page allocates on its heap while `work` runs, collected since or not; by Chromium's sampling heap profiler. */
export async function allocationsOf(send: Send, work: () => Promise<unknown>): Promise<Allocations> {
  await send('HeapProfiler.enable');
  await send('HeapProfiler.collectGarbage');
  await send('HeapProfiler.startSampling', {
    samplingInterval: 256, // bytes, on average
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await work();
  const { profile } = (await send('HeapProfiler.stopSampling')) as { profile: { head: ProfileNode } };
  await send('HeapProfiler.disable');
  const sums = new Map<string, number>();
  const add = ({ callFrame, selfSize, children }: ProfileNode): void => {
    const name = callFrame.functionName || 'a function without a name';
    sums.set(name, (sums.get(name) ?? 0) + selfSize);
    children.forEach(add);
  };
  add(profile.head);
  const byFunction = [...sums].sort((a, b) => b[1] - a[1]);
  return { bytes: byFunction.reduce((sum, [, bytes]) => sum + bytes, 0), byFunction };
}
