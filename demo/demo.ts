import type { Intersection } from 'three';
import { FrameChart } from './chart.js';
import type { Engine } from './engine.js';
import { grouped } from './format.js';
import { HitMarker, SelectionMarker } from './marker.js';
import { costOf, type Meter, quantile } from './meter.js';
import { createControls } from './page.js';
import { element, fillTable, nameOf, Panel, showError, showSelected } from './panel.js';
import { Pointer } from './pointer.js';
import { textInsets } from './scenery.js';
import type { Stage } from './stage.js';
import { Stutter } from './stutter.js';
import { Tour } from './tour.js';
import { MAX_BOXES, type World } from './world.js';

/** Milliseconds between two updates of the texts and the chart. */
const REPORT_INTERVAL = 250;
const MAX_LATENCIES = 240;
/** Milliseconds after a change of engine that are excluded from the figures: code is compiled, memory is allocated. */
const WARM_UP_MS = 600;
/** Path of the cursor while nobody moves it: seconds of one lap. */
const LAP_SECONDS = 9;

export const ENGINES = ['worker', 'main thread'] as const;
export type EngineName = (typeof ENGINES)[number];
export type Engines = Record<EngineName, Engine>;
/** The same colours as in style.css. */
const COLORS: Record<EngineName, string> = { worker: '#5fd1a8', 'main thread': '#ff8a3c' };

/** The cost of an engine when it was last in use. */
interface Figures {
  collide: string;
  all: string;
  latency: string;
  rate: string;
}
const ROWS: readonly [figure: keyof Figures, name: string][] = [
  ['collide', 'collision work'],
  ['all', 'all work'],
  ['latency', 'mouse to answer'],
  ['rate', 'frames a second'],
];
const NO_FIGURES: Figures = { collide: '–', all: '–', latency: '–', rate: '–' };

/** The page: a world, the stage that shows it, and the engines that can do its collision work. */
export class Demo {
  readonly world: World;
  readonly stage: Stage;
  readonly meter: Meter;
  readonly settings: { boxes: number; move: boolean; pick: boolean; freeze: boolean };
  readonly tour = new Tour(() => this.use(this.engineName === 'worker' ? 'main thread' : 'worker'));
  hit: Intersection | null = null;
  /** Milliseconds of the latest picks, from the mouse event, or from the request if there was none, to the answer. */
  readonly latencies: number[] = [];
  /** Called at the end of each frame. */
  onFrame: (() => void) | null = null;

  readonly #engines: Engines;
  readonly #canvas: HTMLCanvasElement;
  readonly #panel = new Panel();
  readonly #chart: FrameChart;
  readonly #figures: Record<EngineName, Figures> = { worker: NO_FIGURES, 'main thread': NO_FIGURES };
  readonly #hitMarker = new HitMarker();
  readonly #selectionMarker = new SelectionMarker();
  readonly #stutter = new Stutter();
  readonly #pointer: Pointer;
  #engineName: EngineName = 'worker';
  #seconds = 0;
  #lastTime = 0;
  #lastReport = 0;
  /** Frames before this time are excluded from the figures. */
  #warmUpEnd = Number.POSITIVE_INFINITY;
  #lastEventTime = 0;

  constructor(canvas: HTMLCanvasElement, world: World, stage: Stage, engines: Engines, meter: Meter) {
    this.world = world;
    this.stage = stage;
    this.meter = meter;
    this.settings = { boxes: world.boxes.count, move: this.tour.isOn, pick: true, freeze: false };
    this.#engines = engines;
    this.#canvas = canvas;
    this.#chart = new FrameChart(
      element('chart'),
      element('legend'),
      ENGINES.map((name) => ({ name, color: COLORS[name] })),
    );
    this.#pointer = new Pointer(canvas, (x, y) => this.#click(x, y));
    stage.scene.add(this.#hitMarker.root, this.#selectionMarker.root);
    this.#addControls();
    for (const radio of radios()) radio.addEventListener('change', () => this.use(radio.value as EngineName));
    this.use('worker');
  }

  get engineName(): EngineName {
    return this.#engineName;
  }

  get engine(): Engine {
    return this.#engines[this.#engineName];
  }

  /** Switches to an engine. */
  use(name: EngineName): void {
    this.#engineName = name;
    for (const radio of radios()) radio.checked = radio.value === name;
    this.#reset();
  }

  /** One animation frame. */
  readonly frame = (time: number): void => {
    const { meter, stage, settings } = this;
    meter.begin();
    this.#recordFrame(time);
    // After its tab was hidden, the scene continues where it was.
    if (settings.move) this.#seconds += Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    meter.measure('simulate', () => this.world.animate(this.#seconds));
    meter.measure('collide', () => this.engine.step(stage.viewer));
    const position = this.#position(time);
    if (settings.pick && position !== null) this.#hover(position.x, position.y);
    else this.#show(null);
    this.#stutter.move(settings.move ? time / 1000 : 0, position);
    meter.measure('draw', () => {
      this.#selectionMarker.update();
      stage.draw(this.engine.outcome);
    });
    if (time - this.#lastReport > REPORT_INTERVAL) {
      this.#lastReport = time;
      this.#report();
    }
    this.onFrame?.();
  };

  /** Picks at a pixel. The latency is measured from `since`. */
  async pick(x: number, y: number, latest = false, since = performance.now()): Promise<Intersection | null> {
    const hit = await this.meter.measure('collide', () => this.engine.pick(x, y, latest));
    this.latencies.push(performance.now() - since);
    if (this.latencies.length > MAX_LATENCIES) this.latencies.shift();
    return hit;
  }

  /** Adds the frame that has just ended to the chart. */
  #recordFrame(time: number): void {
    const { last } = this.meter;
    if (last === undefined) return;
    if (this.#warmUpEnd === Number.POSITIVE_INFINITY) this.#warmUpEnd = time + WARM_UP_MS;
    const isWarm = time >= this.#warmUpEnd;
    if (!isWarm) this.#clearFigures();
    this.#chart.add(this.#lastTime / 1000, ENGINES.indexOf(this.#engineName), isWarm ? costOf(last) : null);
  }

  /** The position of the mouse, or of a simulated cursor until somebody touches the page. */
  #position(time: number): { x: number; y: number } | null {
    if (this.#pointer.position !== null || !this.tour.isOn) return this.#pointer.position;
    const { clientWidth, clientHeight } = this.#canvas;
    const { aside, below } = textInsets(clientWidth);
    const angle = (2 * Math.PI * time) / (1000 * LAP_SECONDS);
    return {
      x: aside + (clientWidth - aside) * (0.5 + 0.27 * Math.sin(angle)),
      y: (clientHeight - below) * (0.5 + 0.2 * Math.sin(2 * angle)),
    };
  }

  async #hover(x: number, y: number): Promise<void> {
    // A mouse at rest sends no events: the latency is then measured from the frame's own request.
    const { time } = this.#pointer;
    const isNew = this.#pointer.position !== null && time !== this.#lastEventTime;
    this.#lastEventTime = time;
    try {
      this.#show(await this.pick(x, y, true, isNew ? time : performance.now()));
    } catch (error) {
      showError(error);
    }
  }

  async #click(x: number, y: number): Promise<void> {
    try {
      const hit = await this.pick(x, y);
      this.#selectionMarker.select(hit);
      showSelected(hit === null ? '' : nameOf(hit));
    } catch (error) {
      showError(error);
    }
  }

  #show(hit: Intersection | null): void {
    this.hit = hit;
    this.#hitMarker.show(hit);
    this.#panel.showHit(hit);
  }

  /** From here on, results belong to another engine or to another load. */
  #reset(): void {
    this.#warmUpEnd = Number.POSITIVE_INFINITY;
    this.#clearFigures();
  }

  #clearFigures(): void {
    this.meter.frames.length = 0;
    this.latencies.length = 0;
  }

  #report(): void {
    const { frames } = this.meter;
    const { outcome } = this.engine;
    const objects = this.world.boxes.count + this.world.dragons.length;
    const median = (values: number[]): string => `${quantile(values, 0.5).toFixed(1)} ms`;
    this.#chart.draw();
    if (frames.length > 0) {
      this.#figures[this.#engineName] = {
        collide: median(frames.map(({ collide }) => collide)),
        all: median(frames.map(costOf)),
        latency: this.latencies.length === 0 ? '–' : median(this.latencies),
        rate: `${Math.round(
          1000 /
            quantile(
              frames.map(({ interval }) => interval),
              0.5,
            ),
        )}`,
      };
    }
    this.#showComparison();
    this.#panel.showFigures({
      objects: grouped(objects),
      'of them in view, and drawn': grouped(outcome.visibleObjects),
      'pairs in contact': grouped(outcome.pairs),
      'the worker’s own time': outcome.workerMs === 0 ? '–' : `${outcome.workerMs.toFixed(1)} ms`,
    });
  }

  #showComparison(): void {
    const { worker, 'main thread': main } = this.#figures;
    fillTable(
      element('compare'),
      Object.fromEntries(ROWS.map(([figure, name]) => [name, [worker[figure], main[figure]]])),
    );
  }

  #addControls(): void {
    const { settings, world, stage } = this;
    const gui = createControls('controls-inside', 298);
    gui
      .add(settings, 'boxes', 500, MAX_BOXES, 500)
      .name('Boxes')
      .onChange((count: number) => {
        world.boxes.count = count;
        this.#reset();
      });
    gui.add(settings, 'move').name('Move');
    gui.add(settings, 'pick').name('Pick under the mouse');
    gui
      .add(settings, 'freeze')
      .name('Freeze the culling camera')
      .onChange((isFrozen: boolean) => stage.freeze(isFrozen));
  }
}

function radios(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>('input[name="engine"]')];
}
