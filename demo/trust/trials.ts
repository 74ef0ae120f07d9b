import type { CollisionService } from 'collision-worker';
import type { SceneIntersection, SceneTracker } from 'collision-worker/three';
import { Vector3 } from 'three';
import { grouped } from '../format.js';
import type { LivePage } from '../live-page.js';
import { element } from '../panel.js';
import type { Hall } from './hall.js';

/** Picks in flight when the worker is terminated. */
const PICKS = 100;
/** A service replaces at most three workers a minute; the fourth loss would end it. */
const REST_MS = 21_000;
/** Milliseconds that the page blocks, and the queries sent before: their number, and the rays of each. */
const BLOCK_TEST = { ms: 1000, questions: 40, rays: 2000 };
const FAR_OFFSET = 1e6;
/** Pixels in each direction, for picks across the whole picture. */
const GRID = { columns: 20, rows: 12 };

/** What the page does to its worker and to itself, and the outcome. */
export class Trials {
  /** Number of workers so far. */
  workers = 1;
  readonly #page: LivePage;
  readonly #hall: Hall;
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #canvas: HTMLCanvasElement;
  readonly #log = element('events');
  #lostAt = 0;

  constructor(
    page: LivePage,
    hall: Hall,
    service: CollisionService,
    tracker: SceneTracker,
    canvas: HTMLCanvasElement,
    terminate: () => void,
  ) {
    this.#page = page;
    this.#hall = hall;
    this.#service = service;
    this.#tracker = tracker;
    this.#canvas = canvas;
    // #region code
    service.addEventListener('lost', ({ error }) => {
      this.#lostAt = performance.now();
      this.#addLogLine(`worker ${this.workers} is lost: ${error?.message}`);
    });
    service.addEventListener('restored', () => {
      const ms = performance.now() - this.#lostAt;
      this.#addLogLine(`worker ${++this.workers} knows all that the last one knew, ${ms.toFixed(0)} ms later`);
    });
    // #endregion
    this.#attach('kill', () => this.#kill(terminate));
    this.#attach('block', () => this.#block());
    this.#attach('far', () => this.#testFarAway());
  }

  /** Registers a trial; only one runs at a time. */
  #attach(id: string, trial: () => Promise<void>): void {
    const button = element(id);
    button.addEventListener('click', async () => {
      const buttons = document.querySelectorAll<HTMLButtonElement>('#trials button');
      for (const each of buttons) each.disabled = true;
      try {
        await trial();
      } catch (error) {
        this.#addLogLine(String(error));
      }
      for (const each of buttons) each.disabled = each.dataset.rests === 'true';
      button.focus();
    });
  }

  async #kill(terminate: () => void): Promise<void> {
    const { clientWidth, clientHeight } = this.#canvas;
    // #region code
    const picks = Array.from({ length: PICKS }, (_, i) => {
      return this.#tracker.pick(((i + 0.5) / PICKS) * clientWidth, 0.5 * clientHeight);
    });
    terminate();
    await Promise.all(picks);
    // #endregion
    this.#addLogLine(`${PICKS} of ${PICKS} picks that the lost worker had are answered by worker ${this.workers}`);
    const button = element('kill') as HTMLButtonElement;
    button.dataset.rests = 'true';
    setTimeout(() => {
      button.disabled = false;
      delete button.dataset.rests;
    }, REST_MS);
  }

  async #block(): Promise<void> {
    const { ms, questions, rays } = BLOCK_TEST;
    const rayData = this.#rays(rays);
    // Messages are sent at once; nothing else on this page runs until the loop has ended.
    const answers = Array.from({ length: questions }, () => this.#service.raycastMany(rayData));
    await new Promise((resolve) => setTimeout(resolve));
    const start = performance.now();
    while (performance.now() - start < ms);
    const wakeTime = performance.now();
    const workerMs = (await Promise.all(answers)).reduce((sum, answer) => sum + answer.ms, 0);
    const latency = performance.now() - wakeTime;
    const count = grouped(questions * rays);
    this.#addLogLine(
      `the page stood still for ${(wakeTime - start).toFixed(0)} ms; the worker cast ${count} rays in ${workerMs.toFixed(0)} ms of them: ` +
        `all ${questions} answers were there ${latency.toFixed(1)} ms after it woke up`,
    );
  }

  async #testFarAway(): Promise<void> {
    const wasMoving = this.#page.settings.move;
    this.#page.settings.move = false;
    const nearHits = await this.#pickGrid();
    this.#shift(FAR_OFFSET);
    const farHits = await this.#pickGrid();
    this.#shift(-FAR_OFFSET);
    await waitForFrames();
    this.#page.settings.move = wasMoving;
    let [hitCount, sameCount, maxDifference] = [0, 0, 0];
    nearHits.forEach((hit, i) => {
      if (hit !== null) hitCount++;
      const other = farHits[i];
      if (hit === null || other === null || hit.object !== other.object || hit.faceIndex !== other.faceIndex) return;
      sameCount++;
      maxDifference = Math.max(
        maxDifference,
        other.point.distanceTo(hit.point.clone().add(new Vector3(FAR_OFFSET, 0, FAR_OFFSET))),
      );
    });
    const farHitCount = farHits.filter((hit) => hit !== null).length;
    this.#addLogLine(
      `${nearHits.length} picks, there and at home: ${hitCount} hits and ${farHitCount}, ${sameCount} of them the same triangle; ` +
        `their points differ by ${maxDifference.toExponential(1)} units at most`,
    );
  }

  /** Picks across the whole picture, once the worker has processed everything sent so far. */
  async #pickGrid(): Promise<(SceneIntersection | null)[]> {
    await waitForFrames();
    const { clientWidth, clientHeight } = this.#canvas;
    const { columns, rows } = GRID;
    return Promise.all(
      Array.from({ length: columns * rows }, (_, i) => {
        const [column, row] = [i % columns, Math.floor(i / columns)];
        return this.#tracker.pick(((column + 0.5) / columns) * clientWidth, ((row + 0.5) / rows) * clientHeight);
      }),
    );
  }

  /** Translates the whole scene and the camera. */
  #shift(offset: number): void {
    const { camera, controls } = this.#page;
    for (const position of [this.#hall.root.position, camera.position, controls.target]) {
      position.x += offset;
      position.z += offset;
    }
    controls.update();
  }

  /** Rays from the camera across the hall: eight numbers each. */
  #rays(count: number): Float32Array {
    const { camera } = this.#page;
    const { min, max } = this.#hall.box;
    const rays = new Float32Array(8 * count);
    const target = new Vector3();
    for (let i = 0; i < count; i++) {
      // Multiples of the generalized golden ratio fill the box evenly.
      target.set((i * 0.754878) % 1, (i * 0.56984) % 1, (i * 0.430159) % 1);
      target.multiply(new Vector3().subVectors(max, min)).add(min).sub(camera.position).normalize();
      rays.set([...camera.position.toArray(), 0, ...target.toArray(), Number.POSITIVE_INFINITY], 8 * i);
    }
    return rays;
  }

  /** Adds a line to the log, newest first. */
  #addLogLine(text: string): void {
    const item = document.createElement('li');
    item.textContent = text;
    this.#log.prepend(item);
  }
}

/** Waits until picks are answered by the state that the page sent in the latest frame. */
async function waitForFrames(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}
