import type { Intersection } from 'three';
import { FrameChart } from './chart.js';
import type { Engine } from './engine.js';
import { HitMarker, SelectionMarker } from './marker.js';
import { costOf, type Meter, quantile } from './meter.js';
import { createControls } from './page.js';
import { element, nameOf, Panel, showError, showSelected } from './panel.js';
import { Pointer } from './pointer.js';
import type { Stage } from './stage.js';
import { MAX_BOXES, type World } from './world.js';

/** Milliseconds between two updates of the texts and the chart. */
const REPORT_INTERVAL = 250;
const REMEMBERED_PICKS = 240;

export type Engines = Record<'worker' | 'main thread', Engine>;

/** The page: a world, the stage that shows it, and the engines that can do its collision work. */
export class Demo {
  readonly world: World;
  readonly stage: Stage;
  readonly meter: Meter;
  readonly settings: { engine: keyof Engines; boxes: number; move: boolean; pick: boolean; freeze: boolean };
  hit: Intersection | null = null;
  /** Milliseconds from asking to knowing, of the newest picks. */
  readonly latencies: number[] = [];
  /** Called at the end of each frame. */
  onFrame: (() => void) | null = null;

  readonly #engines: Engines;
  readonly #panel = new Panel();
  readonly #chart = new FrameChart(element('chart'), element('legend'));
  readonly #hitMarker = new HitMarker();
  readonly #selectionMarker = new SelectionMarker();
  readonly #pointer: Pointer;
  #seconds = 0;
  #lastTime = 0;
  #lastReport = 0;

  constructor(canvas: HTMLCanvasElement, world: World, stage: Stage, engines: Engines, meter: Meter) {
    this.world = world;
    this.stage = stage;
    this.meter = meter;
    this.settings = { engine: 'worker', boxes: world.boxes.count, move: true, pick: true, freeze: false };
    this.#engines = engines;
    this.#pointer = new Pointer(canvas, (x, y) => this.#click(x, y));
    stage.scene.add(this.#hitMarker.root, this.#selectionMarker.root);
    this.#addControls();
  }

  get engine(): Engine {
    return this.#engines[this.settings.engine];
  }

  /** One animation frame. */
  readonly frame = (time: number): void => {
    const { meter, stage, settings } = this;
    meter.begin();
    // A tab that was hidden goes on where it was.
    if (settings.move) this.#seconds += Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    meter.measure('simulate', () => this.world.animate(this.#seconds));
    meter.measure('collide', () => this.engine.step(stage.viewer));
    const { position } = this.#pointer;
    if (settings.pick && position !== null) this.#hover(position.x, position.y);
    else this.#show(null);
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

  /** What lies under a pixel. */
  async pick(x: number, y: number, latest = false): Promise<Intersection | null> {
    const asked = performance.now();
    const hit = await this.meter.measure('collide', () => this.engine.pick(x, y, latest));
    this.latencies.push(performance.now() - asked);
    if (this.latencies.length > REMEMBERED_PICKS) this.latencies.shift();
    return hit;
  }

  async #hover(x: number, y: number): Promise<void> {
    try {
      this.#show(await this.pick(x, y, true));
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

  #report(): void {
    const { frames } = this.meter;
    const { outcome } = this.engine;
    const objects = this.world.boxes.count + this.world.dragons.length;
    const ms = (values: number[]): string => (values.length === 0 ? '–' : `${quantile(values, 0.5).toFixed(2)} ms`);
    this.#chart.draw(frames);
    this.#panel.showFigures({
      objects: objects.toLocaleString('en'),
      'of them in view, and drawn': outcome.visibleObjects.toLocaleString('en'),
      'pairs in contact': outcome.pairs.toLocaleString('en'),
      'main thread: collision work': ms(frames.map(({ collide }) => collide)),
      'main thread: all work': ms(frames.map(costOf)),
      'worker: collision work': outcome.workerMs === 0 ? '–' : `${outcome.workerMs.toFixed(2)} ms`,
      'from pointing to knowing': ms(this.latencies),
      'frames a second': (
        1000 /
        quantile(
          frames.map(({ interval }) => interval),
          0.5,
        )
      ).toFixed(0),
    });
  }

  #addControls(): void {
    const { settings, world, stage, meter } = this;
    const gui = createControls('controls', 320);
    const forget = (): void => {
      meter.frames.length = 0;
      this.latencies.length = 0;
    };
    gui.add(settings, 'engine', ['worker', 'main thread']).name('Collision work in').onChange(forget);
    gui
      .add(settings, 'boxes', 500, MAX_BOXES, 500)
      .name('Boxes')
      .onChange((count: number) => {
        world.boxes.count = count;
        forget();
      });
    gui.add(settings, 'move').name('Move');
    gui.add(settings, 'pick').name('Pick under the mouse');
    gui
      .add(settings, 'freeze')
      .name('Freeze the culling camera')
      .onChange((isFrozen: boolean) => stage.freeze(isFrozen));
  }
}
