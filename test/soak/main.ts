import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as echarts from 'echarts';
import { growth, type Sample, soak } from './soak.js';

const CHART = 'artifacts/soak.svg';
const SAMPLES = 60;

/** Prints and plots an hour; answers the exit code. */
export async function soakAnHour(
  root: string,
  frames: number,
  seed: number,
  collectGarbage: () => void,
): Promise<number> {
  console.log(`${frames} frames of seed ${seed}, ${(frames / 3600).toFixed(0)} minutes at 60 frames a second`);
  console.log('   frame   heap buffers   core reserved process MB   update p99   pick p99 ms');
  const samples = await soak({ seed, frames, samples: SAMPLES, collectGarbage, onSample: print });
  mkdirSync(dirname(join(root, CHART)), { recursive: true });
  writeFileSync(join(root, CHART), chartOf(samples));
  console.log(`\nWritten: ${CHART}`);
  const grown = growth(samples);
  for (const what of grown) console.error(what);
  if (grown.length === 0) console.log('Flat: memory on both sides, and latency.');
  return grown.length > 0 ? 1 : 0;
}

function print(sample: Sample): void {
  const { frame, heap, buffers, used, reserved, process, update, update99, pick, pick99 } = sample;
  const memory = [heap, buffers, used, reserved, process].map((each) => each.toFixed(1).padStart(7)).join(' ');
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
      ...(['heap', 'buffers', 'used', 'reserved', 'process'] as const).map((name) => series(name, 0)),
      ...(['update', 'update99', 'pick', 'pick99'] as const).map((name) => series(name, 1)),
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
