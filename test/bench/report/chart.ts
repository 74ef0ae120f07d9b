import * as echarts from 'echarts';
import type { RowResult } from '../harness.js';
import { formatDigits } from './table.js';

/** A text colour that is readable on white and on black. */
const TEXT = '#7d8590';
const LINE = '#7d859055';
const AHEAD = '#2f9e6e';
const BEHIND = '#d9822b';
const TARGET = '#d0365c';
const WIDTH = 900;
const BAR = 20;

/** An SVG of each peer's time as a multiple of ours, on a logarithmic scale, with a tick for each target. */
export function chartOf(rows: readonly RowResult[]): string {
  const bars = rows.flatMap(({ name, contenders }) => {
    return contenders.slice(1).map((peer) => ({ label: `${name}  ·  ${peer.name}`, ...peer }));
  });
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: bars.length * BAR + 80 });
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    title: {
      text: 'times as fast as the peer (red: the target)',
      left: 'center',
      textStyle: { color: TEXT, fontSize: 13, fontWeight: 'normal' },
    },
    grid: { left: 350, right: 70, top: 40, bottom: 30 },
    xAxis: {
      type: 'log',
      startValue: 1,
      axisLabel: { color: TEXT, formatter: (value: number) => `${value}×` },
      splitLine: { lineStyle: { color: LINE } },
    },
    yAxis: [
      { ...categories(bars.map(({ label }) => label)), position: 'left' },
      { ...categories(bars.map(({ ratio }) => `${formatDigits(ratio.median)}×`)), position: 'right' },
    ],
    series: [
      {
        type: 'bar',
        barWidth: '65%',
        data: bars.map(({ ratio: { median } }) => ({
          value: median,
          itemStyle: { color: median >= 1 ? AHEAD : BEHIND },
        })),
      },
      {
        type: 'scatter',
        symbol: 'rect',
        symbolSize: [2, 16],
        itemStyle: { color: TARGET },
        data: bars.flatMap(({ target }, i) => (target === undefined ? [] : [[target, i]])),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // The title for screen readers.
  return svg.replace('>', '><title>How many times as fast as each peer, as bars</title>');
}

function categories(data: string[]) {
  return {
    type: 'category' as const,
    inverse: true,
    data,
    axisLabel: { color: TEXT },
    axisTick: { show: false },
    axisLine: { lineStyle: { color: LINE } },
  };
}
