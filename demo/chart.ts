import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { costOf, type FrameCost, quantile } from './meter.js';

const SERIES = [
  { label: 'all work', stroke: '#7f93b2', value: costOf },
  { label: 'collision work', stroke: '#ff8a3c', value: ({ collide }: FrameCost) => collide },
];
const HEIGHT = 120;

/** A live chart of what the newest frames cost the main thread. */
export class FrameChart {
  readonly #plot: uPlot;
  #top = 4;

  constructor(target: HTMLElement, legend: HTMLElement) {
    const axis = { stroke: '#8b98ad', grid: { stroke: '#273040', width: 1 }, ticks: { show: false } };
    this.#plot = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: () => [0, this.#top] } },
        axes: [
          { ...axis, show: false },
          { ...axis, size: 40, font: '14px system-ui' },
        ],
        series: [{}, ...SERIES.map(({ label, stroke }) => ({ label, stroke, width: 1.5, points: { show: false } }))],
      },
      [[], ...SERIES.map(() => [])],
      target,
    );
    for (const { label, stroke } of SERIES) {
      const entry = document.createElement('span');
      entry.style.setProperty('--color', stroke);
      entry.textContent = label;
      legend.append(entry);
    }
  }

  draw(frames: readonly FrameCost[]): void {
    // A single slow frame does not flatten all others.
    this.#top = Math.max(4, 1.5 * quantile(frames.map(costOf), 0.9));
    this.#plot.setData([frames.map((_, i) => i), ...SERIES.map(({ value }) => frames.map(value))]);
  }
}
