import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { thisHost } from '../bench/machine.js';
import { RESULT_FILES, type SavedSoak, writeFaults } from '../chaos/readme.js';
import { chartOf } from './chart.js';
import { growth, type Sample, slowdown, soak } from './soak.js';

const CHART = 'artifacts/soak.svg';
const SAMPLES = 60;

export interface SoakRun {
  root: string;
  frames: number;
  seed: number;
  /** Whether the results are saved for docs/failures.md. */
  write: boolean;
}

/** Prints and plots an hour; returns the exit code. */
export async function soakAnHour({ root, frames, seed, write }: SoakRun, collectGarbage: () => void): Promise<number> {
  console.log(`${frames} frames of seed ${seed}, ${(frames / 3600).toFixed(0)} minutes at 60 frames a second`);
  console.log('              main           worker            core          process       update          pick');
  console.log('   frame      heap buffers   heap buffers    used reserved      MB    median    p99 median    p99 ms');
  const samples: Sample[] = [];
  const onSample = (sample: Sample) => {
    samples.push(sample);
    print(sample);
  };
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let failure: unknown;
  try {
    await soak({ seed, frames, samples: SAMPLES, collectGarbage, onSample, signal: stop.signal });
  } catch (error) {
    failure = error;
  }
  const isComplete = samples.length === SAMPLES && !stop.signal.aborted;
  const chart = write && isComplete ? RESULT_FILES.chart : CHART;
  if (samples.length > 0) plot(join(root, chart), samples);
  if (samples.length > 0) console.log(`\nWritten: ${chart}`);
  if (!isComplete) {
    console.error(failure ?? 'Ended early.');
    return 1;
  }
  if (write) {
    const saved: SavedSoak = { host: thisHost(), seed, frames, samples };
    const roundNumber = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(3)) : value);
    writeFileSync(join(root, RESULT_FILES.soak), `${JSON.stringify(saved, roundNumber, 2)}\n`);
    writeFaults(root);
  }
  const complaints = [...growth(samples), ...slowdown(samples)];
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length === 0) console.log('Flat: memory on both sides, and latency.');
  return complaints.length > 0 ? 1 : 0;
}

function print(sample: Sample): void {
  const { frame, heap, buffers, workerHeap, workerBuffers, used, reserved, process } = sample;
  const { update, update99, pick, pick99 } = sample;
  const sizes = [heap, buffers, workerHeap, workerBuffers, used, reserved, process];
  const memory = sizes.map((size) => size.toFixed(2).padStart(7)).join(' ');
  const times = [update, update99, pick, pick99].map((size) => size.toFixed(2).padStart(6)).join(' ');
  console.log(`${String(frame).padStart(8)} ${memory}    ${times}`);
}

function plot(path: string, samples: readonly Sample[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, chartOf(samples));
}
