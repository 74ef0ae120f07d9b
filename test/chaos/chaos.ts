import { CollisionError } from 'collision-worker';
import { Random } from '../oracle/random.js';
import { Actor } from './actor.js';
import type { MakeWorker } from './chaos-worker.js';
import { CHARACTER_STEPS } from './character-steps.js';
import { FrameLog } from './frame-log.js';
import { type Hogs, LIMITED_PAGES, makeHogs } from './hogs.js';
import { Life } from './life.js';
import { MESH_STEPS } from './mesh-steps.js';
import { QUERY_STEPS } from './query-steps.js';
import { type ChaosReport, increment, newReport } from './report.js';
import { SCENE_STEPS, update } from './scene-steps.js';
import { SWEEP_STEPS } from './sweep-steps.js';
import { viewOf } from './windows.js';

export interface ChaosOptions {
  seed: number;
  steps: number;
  /** The first step. At the beginning of a life, the steps from there on are those of the whole run. */
  from?: number;
  makeWorker: MakeWorker;
  /** Milliseconds of silence after which a worker counts as lost. */
  timeout?: number;
  onProgress?: (report: ChaosReport) => void;
  /** Called at once with a description. */
  onWrong?: (description: string) => void;
  /** Ends the run early. */
  signal?: AbortSignal;
}

/** Maximum number of calls that are pending at a time. */
const MAX_PENDING = 48;
const MAX_LIFE_STEPS = 1500;
const FAULTS_PER_STEP = 1 / 120;

const STEPS = {
  ...SCENE_STEPS,
  ...QUERY_STEPS,
  ...SWEEP_STEPS,
  ...MESH_STEPS,
  ...CHARACTER_STEPS,
  rest: ({ random }: Actor) => new Promise((resolve) => setTimeout(resolve, random.integer(3))),
  settle: ({ life }: Actor) => life.settle(),
};
type Step = keyof typeof STEPS;

/** Relative frequency of each step; 2 by default. */
const STEP_WEIGHTS: Partial<Record<Step, number>> = {
  ...{ add: 12, move: 24, 'move many': 8, 'move badly': 1, change: 5, remove: 6, update: 20, raycast: 6, rest: 6 },
  ...{ settle: 1, addMesh: 2, bakeMesh: 1, removeMesh: 1, 'add a crowd': 1, 'remove the crowd': 1, 'set a view': 4 },
  ...{ 'remove a view': 1, contact: 6, pick: 4, 'run out of memory': 1 },
  ...{ 'walk with a character': 8, 'put a character': 1, 'remove a character': 1 },
};
const STEP_DECK = (Object.keys(STEPS) as Step[]).flatMap((name) => Array<Step>(STEP_WEIGHTS[name] ?? 2).fill(name));

/** Runs one service after the other, each with a model of its correct answers, until the steps are done. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, steps, from = 0, makeWorker } = options;
  const report = newReport(seed);
  report.steps = from;
  const hogs = await makeHogs(makeWorker);
  while (report.steps < steps && report.wrong.length < 10 && !options.signal?.aborted) {
    const random = randomOfStep(seed, -report.steps - 1);
    const life = await beginLife(options, report, random);
    // An expected failure also counts as a step, and is not repeated.
    report.steps++;
    increment(report.operations, 'start a service');
    const endStep = Math.min(steps, report.steps + 1 + random.integer(MAX_LIFE_STEPS));
    const isDisposedEarly = random.chance(0.3);
    if (!life.isOver) await runLife(life, hogs, endStep, options);
    await life.end(isDisposedEarly);
  }
  return report;
}

/** Random numbers of a step; they do not depend on earlier answers. */
function randomOfStep(seed: number, step: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(step, 0x85ebca6b));
}

function beginLife(options: ChaosOptions, report: ChaosReport, random: Random): Promise<Life> {
  const { makeWorker, timeout = 2000, onWrong } = options;
  const pages = random.chance(0.3) ? LIMITED_PAGES : undefined;
  const contactBudget = random.chance(0.25) ? 10 ** random.range(-3, 0) : Number.POSITIVE_INFINITY;
  const isFailing = random.chance(0.05);
  if (isFailing) increment(report.faults, 'fail the first start');
  const lifeOptions = { makeWorker, timeout, pages, contactBudget, builders: random.integer(3), onWrong };
  return Life.begin(lifeOptions, report, isFailing ? random : undefined);
}

async function runLife(
  life: Life,
  hogs: Hogs,
  endStep: number,
  { seed, signal, onProgress }: ChaosOptions,
): Promise<void> {
  const { report } = life;
  const actor = new Actor(life, new FrameLog(), hogs, randomOfStep(seed, report.steps));
  actor.windows.set('main', actor.window());
  life.service.setView(viewOf(actor.windows.get('main')!));
  update(actor);
  while (report.steps < endStep && !life.isOver && report.wrong.length < 10 && !signal?.aborted) {
    report.steps++;
    const random = randomOfStep(seed, report.steps);
    actor.random = random;
    if (random.chance(FAULTS_PER_STEP)) life.accidents.strike(random);
    const name = random.pick(STEP_DECK);
    increment(report.operations, name);
    try {
      await STEPS[name](actor);
    } catch (error) {
      life.declare(error, name);
      // Only a service that has ended throws synchronously.
      if (error instanceof CollisionError && error.code === 'WORKER_LOST') life.isOver = true;
    }
    if (life.pending.size > MAX_PENDING) await Promise.race(life.pending.keys());
    if (report.steps % 1000 === 0) onProgress?.(report);
  }
}
