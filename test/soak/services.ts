import { runShortLife } from './short-life.js';

/** Number of services after which memory has settled. */
const SETTLED_AFTER = 100;
/** Tolerance in megabytes. */
const TOLERANCE = { heap: 2, buffers: 4, process: 64 };

/** Creates services and disposes of them in turn, prints memory, and returns the exit code. */
export async function soakServices(services: number, collectGarbage: () => void): Promise<number> {
  console.log(`${services} services, each with a worker, a mesh, 1,000 objects and frames, one after the other`);
  console.log('services    heap buffers process MB');
  let baseline: Memory | undefined;
  let current = memory(collectGarbage);
  for (let i = 1; i <= services; i++) {
    await runShortLife(i);
    if (i % 50 > 0 && i < services) continue;
    current = memory(collectGarbage);
    if (i >= SETTLED_AFTER) baseline ??= current;
    const sizes = Object.values(current).map((each) => each.toFixed(1).padStart(7));
    console.log(`${String(i).padStart(8)} ${sizes.join(' ')}`);
  }
  let isFlat = true;
  for (const [name, tolerance] of Object.entries(TOLERANCE) as [keyof Memory, number][]) {
    const growth = baseline ? current[name] - baseline[name] : 0;
    if (growth <= tolerance) continue;
    isFlat = false;
    console.error(`${name} rose by ${growth.toFixed(1)} MB`);
  }
  if (isFlat) console.log('Flat.');
  return isFlat ? 0 : 1;
}

type Memory = Record<keyof typeof TOLERANCE, number>;

function memory(collectGarbage: () => void): Memory {
  collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const [heap, buffers, total] = [heapUsed, arrayBuffers, rss].map((bytes) => bytes / 2 ** 20);
  return { heap, buffers, process: total };
}
