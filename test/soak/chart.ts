import * as echarts from 'echarts';
import type { Sample } from './soak.js';

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
/** A text colour that is readable on white and on black. */
const TEXT = '#7d8590';
const LINE = '#7d859055';
const COLORS = [
  '#2f9e6e',
  '#7fc8a5',
  '#3b82c4',
  '#8fbce6',
  '#d9822b',
  '#e8b27a',
  '#2f9e6e',
  '#7fc8a5',
  '#d0365c',
  '#e78aa2',
];

/** Plots memory at the top, latency at the bottom. */
export function chartOf(samples: readonly Sample[]): string {
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
  const legend = { textStyle: { color: TEXT }, icon: 'rect', itemHeight: 3, itemGap: 25 };
  chart.setOption({
    animation: false,
    color: COLORS,
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
      { ...style, type: 'log', gridIndex: 1, name: 'ms' },
    ],
    series: [...series(MEMORY, 0), ...series(LATENCY, 1)],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // The title for screen readers.
  return svg.replace('>', '><title>Memory and latency over the frames, as lines</title>');
}
