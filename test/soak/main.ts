import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as echarts from 'echarts';
import { growth, type Sample, slowdown, soak } from './soak.js';

const CHART = 'artifacts/soak.svg';
/** What README.md has its figures from. */
const KEPT = { chart: 'test/soak/chart.svg', results: 'test/soak/results.json' };
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
  const samples = await soak({ seed, frames, samples: SAMPLES, collectGarbage, onSample: print });
  const chart = write ? KEPT.chart : CHART;
  mkdirSync(dirname(join(root, chart)), { recursive: true });
  writeFileSync(join(root, chart), chartOf(samples));
  console.log(`\nWritten: ${chart}`);
  const results = { seed, frames, growth: growth(samples), samples: [samples[0], samples.at(-1)] };
  if (write) writeFileSync(join(root, KEPT.results), `${JSON.stringify(results, null, 2)}\n`);
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

/** Memory above, latency below. */
function chartOf(samples: readonly Sample[]): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 560 });
  const series = (name: keyof Sample, grid: number) => ({
    ...{ name, type: 'line' as const, xAxisIndex: grid, yAxisIndex: grid, showSymbol: false },
    data: samples.map((sample) => [sample.frame, sample[name]]),
  });
  const axis = (gridIndex: number) => ({ type: 'value' as const, gridIndex, max: samples.at(-1)?.frame ?? 1 });
  chart.setOption({
    animation: false,
    legend: { top: 0 },
    grid: [
      { top: 50, height: 200, left: 70, right: 30 },
      { top: 320, height: 200, left: 70, right: 30 },
    ],
    xAxis: [axis(0), { ...axis(1), name: 'frame', nameLocation: 'middle', nameGap: 25 }],
    yAxis: [
      { type: 'value', gridIndex: 0, name: 'MB' },
      { type: 'value', gridIndex: 1, name: 'ms' },
    ],
    series: [
      ...(['heap', 'buffers', 'workerHeap', 'workerBuffers', 'used', 'reserved', 'process'] as const).map((name) =>
        series(name, 0),
      ),
      ...(['update', 'update99', 'pick', 'pick99'] as const).map((name) => series(name, 1)),
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
