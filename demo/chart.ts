import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 150;
/** Seconds of history in the chart. */
const HISTORY_SECONDS = 30;
/** Milliseconds at the end of the axis. Longer frames are clamped to it. */
const MAX_MS = 50;
/** Milliseconds of frame budget at 60 Hz. */
const FRAME_BUDGET = 1000 / 60;

export interface Series {
  readonly name: string;
  /** A CSS colour. */
  readonly color: string;
}

/** The cost of the latest frames, one series per engine, with gaps while another engine was at work. */
export class FrameChart {
  readonly #plot: uPlot;
  readonly #seconds: number[] = [];
  /** Milliseconds; null where a series has no value. */
  readonly #costs: (number | null)[][];

  constructor(target: HTMLElement, legend: HTMLElement, series: readonly Series[]) {
    const axis = { stroke: '#a3afc3', grid: { stroke: '#273040', width: 1 }, ticks: { show: false } };
    this.#costs = series.map(() => []);
    this.#plot = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: (_, __, end) => [end - HISTORY_SECONDS, end] },
          y: { range: () => [0, MAX_MS] },
        },
        axes: [
          { ...axis, show: false },
          {
            ...axis,
            size: 40,
            font: '14px system-ui',
            splits: () => [0, FRAME_BUDGET, 33.3, MAX_MS],
            values: (_, at) => at.map(Math.round),
          },
        ],
        series: [
          {},
          ...series.map(({ name, color }) => ({ label: name, stroke: color, width: 1.5, points: { size: 3 } })),
        ],
        hooks: { drawAxes: [drawLimit] },
      },
      [[], ...this.#costs] as uPlot.AlignedData,
      target,
    );
    for (const { name, color } of series) {
      const entry = document.createElement('span');
      entry.style.setProperty('--color', color);
      entry.textContent = name;
      legend.append(entry);
    }
  }

  /** Adds a frame that began at `seconds` and cost `ms` to a series; null breaks the line. */
  add(seconds: number, index: number, ms: number | null): void {
    this.#seconds.push(seconds);
    for (const [i, costs] of this.#costs.entries())
      costs.push(i === index && ms !== null ? Math.min(ms, MAX_MS) : null);
    const expiredCount = this.#seconds.findIndex((time) => time >= seconds - HISTORY_SECONDS);
    if (expiredCount < this.#seconds.length / 2) return;
    for (const values of [this.#seconds, ...this.#costs]) values.splice(0, expiredCount);
  }

  draw(): void {
    this.#plot.setData([this.#seconds, ...this.#costs] as uPlot.AlignedData);
  }
}

/** Draws the line above which frames are dropped. */
function drawLimit(plot: uPlot): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(FRAME_BUDGET, 'y', true);
  ctx.save();
  ctx.strokeStyle = '#dfe6f1';
  ctx.setLineDash([6, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
