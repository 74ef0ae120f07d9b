import { runShortLife } from './short-life.js';

/** Number of services after which memory has settled. */
const SETTLED = 100;
/** Tolerance in megabytes. */
const FLAT = { heap: 2, buffers: 4, process: 64 };

/** Creates services and disposes of them in turn, prints memory, and returns the exit code. */
export async function soakServices(services: number, collectGarbage: () => void): Promise<number> {
  console.log(`${services} services, each with a worker, a mesh, 1,000 objects and frames, one after the other`);
  console.log('services    heap buffers process MB');
  let settled: Memory | undefined;
  let now = memory(collectGarbage);
  for (let i = 1; i <= services; i++) {
    await runShortLife(i);
    if (i % 50 > 0 && i < services) continue;
    now = memory(collectGarbage);
    if (i >= SETTLED) settled ??= now;
    const sizes = Object.values(now).map((each) => each.toFixed(1).padStart(7));
    console.log(`${String(i).padStart(8)} ${sizes.join(' ')}`);
  }
  let isFlat = true;
  for (const [name, room] of Object.entries(FLAT) as [keyof Memory, number][]) {
    const growth = settled ? now[name] - settled[name] : 0;
    if (growth <= room) continue;
    isFlat = false;
    console.error(`${name} rose by ${growth.toFixed(1)} MB`);
  }
  if (isFlat) console.log('Flat.');
  return isFlat ? 0 : 1;
}

type Memory = Record<keyof typeof FLAT, number>;

function memory(collectGarbage: () => void): Memory {
  collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const [heap, buffers, whole] = [heapUsed, arrayBuffers, rss].map((bytes) => bytes / 2 ** 20);
  return { heap, buffers, process: whole };
}
