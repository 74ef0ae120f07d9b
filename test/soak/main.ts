import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as echarts from 'echarts';
import { thisHost } from '../bench/machine.js';
import { KEPT, type KeptSoak, writeFaults } from '../chaos/readme.js';
import { growth, type Sample, slowdown, soak } from './soak.js';

const CHART = 'artifacts/soak.svg';
const SAMPLES = 60;

export interface SoakRun {
  root: string;
  frames: number;
  seed: number;
  /** Whether the results are kept for README.md. */
  write: boolean;
}

/** Prints and plots an hour; answers the exit code. */
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
  const isWhole = samples.length === SAMPLES && !stop.signal.aborted;
  const chart = write && isWhole ? KEPT.chart : CHART;
  if (samples.length > 0) plot(join(root, chart), samples);
  if (samples.length > 0) console.log(`\nWritten: ${chart}`);
  if (!isWhole) {
    console.error(failure ?? 'Ended early.');
    return 1;
  }
  if (write) {
    const kept: KeptSoak = { host: thisHost(), seed, frames, first: samples[0], last: samples[samples.length - 1] };
    writeFileSync(join(root, KEPT.soak), `${JSON.stringify(kept, null, 2)}\n`);
    writeFaults(root);
  }
  const grown = [...growth(samples), ...slowdown(samples)];
  for (const what of grown) console.error(what);
  if (grown.length === 0) console.log('Flat: memory on both sides, and latency.');
  return grown.length > 0 ? 1 : 0;
}

function print(sample: Sample): void {
  const { frame, heap, buffers, workerHeap, workerBuffers, used, reserved, process } = sample;
  const { update, update99, pick, pick99 } = sample;
  const sizes = [heap, buffers, workerHeap, workerBuffers, used, reserved, process];
  const memory = sizes.map((each) => each.toFixed(2).padStart(7)).join(' ');
  const times = [update, update99, pick, pick99].map((each) => each.toFixed(2).padStart(6)).join(' ');
  console.log(`${String(frame).padStart(8)} ${memory}    ${times}`);
}

function plot(path: string, samples: readonly Sample[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, chartOf(samples));
}

const MEMORY = {
  heap: "main thread's heap",
  buffers: "main thread's buffers",
  workerHeap: "worker's heap",
  workerBuffers: "worker's buffers",
  used: "core's memory in use",
  reserved: "core's memory",
};
const LATENCY = {
  update: 'update()',
  update99: 'update(), 99th percentile',
  pick: 'pick()',
  pick99: 'pick(), 99th percentile',
};
/** Readable on white and on black. */
const TEXT = '#7d8590';
const LINE = '#7d859055';

/** Memory above, latency below. */
function chartOf(samples: readonly Sample[]): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 600 });
  const series = (names: Partial<Record<keyof Sample, string>>, grid: number) =>
    Object.entries(names).map(([key, name]) => ({
      ...{ name, type: 'line' as const, xAxisIndex: grid, yAxisIndex: grid, showSymbol: false },
      data: samples.map((sample) => [sample.frame, sample[key as keyof Sample]]),
    }));
  const style = {
    axisLabel: { color: TEXT },
    nameTextStyle: { color: TEXT },
    splitLine: { lineStyle: { color: LINE } },
  };
  const axis = (gridIndex: number) => ({
    ...style,
    type: 'value' as const,
    gridIndex,
    max: samples.at(-1)?.frame ?? 1,
  });
  const legend = { textStyle: { color: TEXT }, icon: 'rect', itemHeight: 3 };
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    legend: [
      { ...legend, top: 0, data: Object.values(MEMORY) },
      { ...legend, top: 310, data: Object.values(LATENCY) },
    ],
    grid: [
      { top: 60, height: 200, left: 60, right: 40 },
      { top: 350, height: 200, left: 60, right: 40 },
    ],
    xAxis: [axis(0), { ...axis(1), name: 'frame', nameLocation: 'middle', nameGap: 25 }],
    yAxis: [
      { ...style, type: 'value', gridIndex: 0, name: 'MB' },
      { ...style, type: 'value', gridIndex: 1, name: 'ms' },
    ],
    series: [...series(MEMORY, 0), ...series(LATENCY, 1)],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // What readers of screens are told.
  return svg.replace('>', '><title>Memory and latency over the frames, as lines</title>');
}
