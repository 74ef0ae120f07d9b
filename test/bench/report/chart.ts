import * as echarts from 'echarts';
import type { RowResult } from '../harness.js';
import { digits } from './table.js';

/** Readable on white and on black. */
const TEXT = '#7d8590';
const LINE = '#7d859055';
const AHEAD = '#2f9e6e';
const BEHIND = '#d9822b';
const WIDTH = 900;
const BAR = 20;

/** An SVG of how many times as long as us each peer takes, on a logarithmic scale, with a tick for each target. */
export function chartOf(rows: readonly RowResult[]): string {
  const bars = rows.flatMap(({ name, contenders }) => {
    return contenders.slice(1).map((peer) => ({ label: `${name}  ·  ${peer.name}`, ...peer }));
  });
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: bars.length * BAR + 70 });
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    title: {
      text: 'times as fast as the peer (tick: target)',
      left: 'center',
      textStyle: { color: TEXT, fontSize: 13, fontWeight: 'normal' },
    },
    grid: { left: 350, right: 60, top: 30, bottom: 30 },
    xAxis: {
      type: 'log',
      startValue: 1,
      axisLabel: { color: TEXT, formatter: (value: number) => `${value}×` },
      splitLine: { lineStyle: { color: LINE } },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: bars.map(({ label }) => label),
      axisLabel: { color: TEXT },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: LINE } },
    },
    series: [
      {
        type: 'bar',
        barWidth: '65%',
        data: bars.map(({ ratio: { median } }) => ({
          value: median,
          itemStyle: { color: median >= 1 ? AHEAD : BEHIND },
          label: { position: median >= 1 ? 'right' : 'left' },
        })),
        label: {
          show: true,
          color: TEXT,
          formatter: ({ value }: { value?: unknown }) => `${digits(value as number)}×`,
        },
      },
      {
        type: 'scatter',
        symbol: 'rect',
        symbolSize: [2, 16],
        itemStyle: { color: TEXT },
        data: bars.flatMap(({ target }, i) => (target === undefined ? [] : [[target, i]])),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
