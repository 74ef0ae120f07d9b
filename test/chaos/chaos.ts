import {
  CollisionError,
  type CollisionService,
  createCollisionService,
  type FrameResult,
  type Shape,
} from 'collision-worker';
import { Matrix4, OrthographicCamera, Vector3 } from 'three';
import { pairKeys, replay } from '../oracle/events.js';
import { boxMesh } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';
import { ChaosWorker, type RawWorker } from './chaos-worker.js';
import type { Point, Solid } from './solids.js';
import { areMet, arePairs, areSeen, EMPTY, isFirstHit, solidOf, type Thing, type World } from './world.js';

export interface ChaosOptions {
  seed: number;
  steps: number;
  makeWorker: () => RawWorker;
  /** Milliseconds of silence that are a loss. */
  timeout?: number;
  onProgress?: (report: ChaosReport) => void;
}

export interface ChaosReport {
  steps: number;
  /** By name, as are faults. */
  operations: Record<string, number>;
  faults: Record<string, number>;
  /** Answers that were right, and errors by their code. */
  right: number;
  declared: Record<string, number>;
  /** In words, with the step: answers that were wrong, errors that were not declared, and promises that never settled. */
  wrong: string[];
  /** Milliseconds from each loss of a worker to the first moment when the next one knew all. */
  recoveries: number[];
  services: number;
}

/** Of the calls that may be pending at a time. */
const MOST_PENDING = 48;
const MOST_THINGS = 32;
const VIEW_HALF: Point = [5, 5, 20];
const VIEW = viewOf(
  new OrthographicCamera(-VIEW_HALF[0], VIEW_HALF[0], VIEW_HALF[1], -VIEW_HALF[1], 0, 2 * VIEW_HALF[2]),
);

/** Steps with their weights. A step decides by nothing but the seed, so that the seed replays them all. */
const STEPS = {
  add: 8,
  instances: 2,
  move: 24,
  moveMany: 8,
  moveBadly: 1,
  change: 5,
  remove: 6,
  update: 20,
  raycast: 10,
  rays: 2,
  pick: 4,
  overlap: 4,
  contact: 4,
  addMesh: 1,
  updateMesh: 2,
  bakeMesh: 1,
  removeMesh: 1,
  rest: 6,
  settle: 1,
};
type Step = keyof typeof STEPS;
const DECK = Object.entries(STEPS).flatMap(([name, weight]) => Array<Step>(weight).fill(name as Step));

/** One service after the other, each with a model of what it should answer, until the steps are done. */
export async function runChaos({
  seed,
  steps,
  makeWorker,
  timeout = 2000,
  onProgress,
}: ChaosOptions): Promise<ChaosReport> {
  const report: ChaosReport = {
    ...{ steps: 0, operations: {}, faults: {}, right: 0, declared: {}, wrong: [], recoveries: [], services: 0 },
  };
  const random = new Random(seed);
  while (report.steps < steps && report.wrong.length < 10) {
    const life = await Life.begin(random, report, makeWorker, timeout);
    const end = Math.min(steps, report.steps + 1000 + random.integer(2000));
    while (report.steps < end && !life.isOver) {
      await life.step();
      if (report.steps % 1000 === 0) onProgress?.(report);
    }
    await life.end();
  }
  return report;
}

class Life {
  isOver = false;
  readonly #random: Random;
  readonly #report: ChaosReport;
  readonly #makeWorker: () => RawWorker;
  readonly #timeout: number;
  #service!: CollisionService;
  #worker: ChaosWorker | undefined;
  #startsToFail = 0;
  #lostAt = 0;
  /** The scene after each change that was asked for; and what is staged for the next one by update(). */
  readonly #worlds: World[] = [EMPTY];
  readonly #staged = new Map<number, Pick<Thing, 'place' | 'scale'>>();
  readonly #pending = new Set<Promise<void>>();
  /** From events alone: what the last answer left. */
  #pairs = new Set<string>();
  #seen = new Set<number>();
  #lastFrame = 0;
  readonly #dead: number[] = [];

  static async begin(random: Random, report: ChaosReport, makeWorker: () => RawWorker, timeout: number): Promise<Life> {
    const life = new Life(random, report, makeWorker, timeout);
    report.services++;
    const createWorker = () => life.#createWorker();
    life.#service = await createCollisionService({ createWorker, timeout, builders: random.integer(2) });
    life.#service.addEventListener('lost', () => {
      life.#lostAt = performance.now();
    });
    life.#service.addEventListener('restored', () => report.recoveries.push(performance.now() - life.#lostAt));
    life.#service.setView(VIEW);
    return life;
  }

  private constructor(random: Random, report: ChaosReport, makeWorker: () => RawWorker, timeout: number) {
    this.#random = random;
    this.#report = report;
    this.#makeWorker = makeWorker;
    this.#timeout = timeout;
  }

  async step(): Promise<void> {
    this.#report.steps++;
    if (this.#random.chance(1 / 300)) this.#strike();
    const name = this.#random.pick(DECK);
    count(this.#report.operations, name);
    try {
      await this.#steps[name]();
    } catch (error) {
      this.#declare(error, name);
      // Nothing is thrown at once but by a service that has ended.
      if (error instanceof CollisionError && error.code === 'WORKER_LOST') this.isOver = true;
      else this.#blame(`${name} threw ${String(error)}`);
    }
    if (this.#pending.size > MOST_PENDING) await Promise.race(this.#pending);
  }

  /** Nothing may stay pending, whether it ends well or is disposed of in the middle. */
  async end(): Promise<void> {
    const isDisposedEarly = this.#random.chance(0.3);
    if (isDisposedEarly) this.#service.dispose();
    const patience = 20 * this.#timeout + 10_000;
    const isSettled = await Promise.race([
      Promise.all(this.#pending).then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, patience, false)),
    ]);
    if (!isSettled) this.#blame(`${this.#pending.size} calls are pending after ${patience} ms`);
    if (isSettled && this.#service.stats.pending > 0) this.#blame(`stats.pending is ${this.#service.stats.pending}`);
    this.#service.dispose();
  }

  // --- accidents ---

  #createWorker(): ChaosWorker {
    if (this.#startsToFail > 0) {
      this.#startsToFail--;
      throw new Error('no worker today');
    }
    const worker = new ChaosWorker(this.#makeWorker());
    this.#worker ??= worker;
    // Builders come second; after a loss, the service's own comes first.
    if (this.#isReplacing) this.#worker = worker;
    this.#isReplacing = false;
    return worker;
  }

  #isReplacing = false;

  #strike(): void {
    const fault = this.#random.pick(['kill', 'kill', 'hang', 'throw', 'delay', 'delay', 'fail a start'] as const);
    const ms = this.#random.range(1, 0.6 * this.#timeout);
    count(this.#report.faults, fault);
    if (fault === 'delay') {
      this.#worker?.delay(ms);
      return;
    }
    this.#isReplacing = true;
    if (fault === 'kill') this.#worker?.die();
    else if (fault === 'hang') this.#worker?.hang();
    else if (fault === 'throw') this.#worker?.choke();
    else {
      this.#startsToFail = 1;
      this.#worker?.die();
    }
  }

  // --- steps ---

  readonly #steps: Record<Step, () => void | Promise<void>> = {
    add: () => {
      if (this.#world.things.size >= MOST_THINGS) return;
      const thing = this.#anyThing();
      const id = this.#service.addObject({
        ...{
          shape: shapeOf(thing),
          matrix: matrixOf(thing),
          layers: thing.layers,
          group: thing.group,
          contacts: 'any',
        },
      });
      this.#change((things) => things.set(id, thing));
    },
    instances: () => {
      if (this.#world.things.size >= MOST_THINGS) return;
      const thing = { ...this.#anyThing(), place: [0, 0, 0] as Point, scale: 1 };
      const options = { shape: shapeOf(thing), layers: thing.layers, group: thing.group, contacts: 'any' } as const;
      const ids = this.#service.addInstances(options, 1 + this.#random.integer(3));
      this.#change((things) => {
        for (const id of ids) things.set(id, thing);
      });
    },
    move: () => {
      const [id] = this.#anyIds(1);
      if (id === undefined) return;
      const to = this.#anyPlace();
      this.#service.setTransform(id, matrixOf(to));
      this.#staged.set(id, to);
    },
    moveMany: () => {
      const ids = this.#anyIds(1 + this.#random.integer(6));
      const places = ids.map(() => this.#anyPlace());
      const Floats = this.#random.chance(0.5) ? Float32Array : Float64Array;
      const matrices = Floats.from(places.flatMap((place) => matrixOf(place)));
      const shift = this.#random.chance(0.5) ? this.#anyPlace().place : undefined;
      this.#service.setTransforms(
        Uint32Array.from(ids),
        matrices,
        shift && new Matrix4().makeTranslation(...shift).elements,
      );
      ids.forEach((id, i) => {
        const at = (k: number) => matrices[16 * i + k] + (shift?.[k - 12] ?? 0);
        this.#staged.set(id, { place: [at(12), at(13), at(14)], scale: matrices[16 * i] });
      });
    },
    moveBadly: async () => {
      const [id] = this.#anyIds(1);
      if (id === undefined) return;
      const matrix = matrixOf(this.#anyPlace());
      matrix[this.#random.pick([0, 5, 6, 10, 12, 13])] = Number.NaN;
      // Alone in its frame: in one that is shared it would take the place of a good one.
      this.#steps.update();
      await Promise.all(this.#pending);
      this.#service.setTransform(id, matrix);
      this.#steps.update();
      await Promise.all(this.#pending);
    },
    change: () => {
      const [id] = this.#anyIds(1);
      if (id === undefined) return;
      const old = this.#world.things.get(id)!;
      const { kind, size, mesh, layers, group } = this.#anyThing();
      const isMoved = this.#random.chance(0.3);
      const place = isMoved ? this.#anyPlace() : { place: old.place, scale: old.scale };
      const thing = { kind, size, mesh, layers, group, ...place };
      this.#service.setObject(id, {
        shape: shapeOf(thing),
        layers,
        group,
        ...(isMoved && { matrix: matrixOf(thing) }),
      });
      if (isMoved) this.#staged.set(id, place);
      this.#change((things) => things.set(id, thing));
    },
    remove: () => {
      const [id] = this.#anyIds(1);
      if (id === undefined) return;
      this.#service.removeObject(id);
      this.#dead.push(id);
      this.#staged.delete(id);
      this.#change((things) => things.delete(id));
    },
    update: () => {
      this.#change((things) => {
        for (const [id, to] of this.#staged) things.set(id, { ...things.get(id)!, ...to });
      });
      this.#staged.clear();
      this.#ask('update', this.#service.update(), (result, worlds) => this.#checkFrame(result, worlds));
    },
    raycast: () => {
      const [origin, direction] = this.#anyRay();
      const layers = this.#random.pick([1, 2, 3]);
      const controller = this.#random.chance(0.2) ? new AbortController() : undefined;
      const answer = this.#service.raycast(
        { origin, direction },
        { layers, ...(controller && { signal: controller.signal }) },
      );
      this.#ask('raycast', answer, (hit, worlds) =>
        worlds.some((world) => isFirstHit(world, origin, direction, layers, hit)),
      );
      if (controller) setTimeout(() => controller.abort(), this.#random.integer(4));
    },
    rays: () => {
      const rays = Array.from({ length: 1 + this.#random.integer(20) }, () => this.#anyRay());
      const numbers = Float32Array.from(rays.flatMap(([origin, direction]) => [...origin, 0, ...direction, Infinity]));
      this.#ask('rays', this.#service.raycastMany(numbers), (hits, worlds) =>
        worlds.some((world) =>
          rays.every(([origin, direction], i) => {
            const isHit = hits.distances[i] !== Infinity;
            const answer = isHit ? { object: hits.objects[i], distance: hits.distances[i] } : null;
            return isFirstHit(world, origin, direction, 0xffffffff, answer);
          }),
        ),
      );
    },
    pick: () => {
      const [x, y] = [this.#random.range(0, 100), this.#random.range(0, 100)];
      const latest = this.#random.chance(0.5);
      const origin: Point = [(x / 50 - 1) * VIEW_HALF[0], (1 - y / 50) * VIEW_HALF[1], VIEW_HALF[2]];
      this.#ask('pick', this.#service.pick(x, y, { latest }), (hit, worlds) =>
        worlds.some((world) => isFirstHit(world, origin, [0, 0, -1], 0xffffffff, hit)),
      );
    },
    overlap: () => {
      const thing = { ...this.#anyThing(), kind: 'ball' as const };
      const solid: Solid = solidOf(EMPTY, thing);
      this.#ask('overlap', this.#service.overlap(shapeOf(thing), matrixOf(thing)), (ids, worlds) =>
        worlds.some((world) => areMet(world, solid, [...ids])),
      );
    },
    contact: () => {
      const [a, b] = this.#anyIds(2);
      if (b === undefined) return;
      this.#ask('contact', this.#service.contact(a, b, { detail: 'any' }), (contact, worlds) =>
        worlds.some((world) => {
          const both = [a, b].sort((x, y) => x - y);
          const things = new Map(
            both.flatMap((id) => (world.things.has(id) ? [[id, { ...world.things.get(id)!, group: 0 }]] : [])),
          );
          return arePairs({ ...world, things }, new Set(contact ? [`${both[0]}:${both[1]}`] : []));
        }),
      );
    },
    addMesh: () => {
      if (this.#world.meshes.size >= 4) return;
      const mesh = boxMesh(2, 2, 2);
      this.#ask('addMesh', this.#service.addMesh(mesh), (id) => {
        this.#change((_, meshes) => meshes.set(id, 1));
        return true;
      });
    },
    updateMesh: () => {
      const mesh = this.#anyMesh();
      if (mesh === undefined || this.#meshesInDoubt.has(mesh)) return;
      const scale = this.#random.range(0.5, 1.5);
      const { positions } = boxMesh(2, 2, 2);
      // Until it is answered, nobody knows which it is.
      this.#meshesInDoubt.add(mesh);
      const done = this.#service.updateMesh(
        mesh,
        positions.map((each) => each * scale),
      );
      const before = this.#world;
      this.#change((_, meshes) => meshes.set(mesh, scale));
      this.#ask(
        'updateMesh',
        done,
        () => true,
        () => {
          this.#meshesInDoubt.delete(mesh);
        },
        () => {
          // It was refused, as its worker was lost: the mesh is as it was.
          this.#change((_, meshes) => meshes.set(mesh, before.meshes.get(mesh)!));
        },
      );
    },
    bakeMesh: () => {
      const mesh = this.#anyMesh();
      if (mesh === undefined) return;
      this.#ask('bakeMesh', this.#service.bakeMesh(mesh), (baked) => baked.byteLength > 0);
    },
    removeMesh: () => {
      const mesh = this.#anyMesh();
      if (mesh === undefined || this.#meshesInDoubt.has(mesh)) return;
      if ([...this.#world.things.values()].some((thing) => thing.kind === 'surface' && thing.mesh === mesh)) return;
      this.#service.removeMesh(mesh);
      this.#change((_, meshes) => meshes.delete(mesh));
    },
    rest: () => new Promise((resolve) => setTimeout(resolve, this.#random.integer(3))),
    settle: async () => {
      await Promise.all(this.#pending);
    },
  };

  readonly #meshesInDoubt = new Set<number>();

  // --- truth ---

  get #world(): World {
    return this.#worlds[this.#worlds.length - 1];
  }

  #change(edit: (things: Map<number, Thing>, meshes: Map<number, number>) => void): void {
    const things = new Map(this.#world.things);
    const meshes = new Map(this.#world.meshes);
    edit(things, meshes);
    this.#worlds.push({ things, meshes });
  }

  /** Checks an answer against every state of the scene between the question and the answer. */
  #ask<T>(
    name: string,
    answer: Promise<T>,
    check: (answer: T, worlds: World[]) => boolean | string,
    finish: () => void = () => {},
    refuse: () => void = () => {},
  ): void {
    const step = this.#report.steps;
    const from = this.#worlds.length - 1;
    const done = answer
      .then(
        (value) => {
          const verdict = check(value, this.#worlds.slice(from));
          if (verdict === true) this.#report.right++;
          else this.#blame(`${name} of step ${step} is wrong, ${verdict || 'in all states'}: ${describe(value)}`);
        },
        (error) => {
          this.#declare(error, name);
          refuse();
        },
      )
      .finally(() => {
        finish();
        this.#pending.delete(done);
      });
    this.#pending.add(done);
  }

  #checkFrame(result: FrameResult, worlds: World[]): true | string {
    if (result.frame === this.#lastFrame) return true; // of an update() that was joined
    if (result.frame < this.#lastFrame) return `it comes after frame ${this.#lastFrame}`;
    this.#lastFrame = result.frame;
    const pairs = pairKeys(result.contacts.a, result.contacts.b);
    const ids = [...result.visible.ids];
    try {
      this.#pairs = replay(this.#pairs, result.contacts);
    } catch (error) {
      return String(error);
    }
    for (const id of result.visible.left) if (!this.#seen.delete(id)) return `${id} left, but had not entered`;
    for (const id of result.visible.entered) this.#seen.add(id);
    if (!isSameSet(this.#pairs, new Set(pairs))) return `events lead to pairs ${[...this.#pairs]} instead of ${pairs}`;
    if (!isSameSet(this.#seen, new Set(ids))) return `events lead to ids ${[...this.#seen]} instead of ${ids}`;
    if (!worlds.some((world) => arePairs(world, this.#pairs))) return `pairs ${pairs}`;
    if (!worlds.some((world) => areSeen(world, VIEW_HALF, this.#seen))) return `ids ${ids}`;
    return (
      worlds.some((world) => arePairs(world, this.#pairs) && areSeen(world, VIEW_HALF, this.#seen)) || 'pairs with ids'
    );
  }

  #declare(error: unknown, name: string): void {
    if (error instanceof CollisionError && ['WORKER_LOST', 'ABORTED', 'DISPOSED'].includes(error.code)) {
      count(this.#report.declared, error.code);
    } else this.#blame(`${name} failed with ${String(error)}`);
  }

  #blame(what: string): void {
    this.#report.wrong.push(`step ${this.#report.steps}: ${what}`);
  }

  // --- chance ---

  #anyIds(count: number): number[] {
    const ids = [...this.#world.things.keys()];
    return Array.from(
      { length: Math.min(count, ids.length) },
      () => ids.splice(this.#random.integer(ids.length), 1)[0],
    );
  }

  #anyMesh(): number | undefined {
    const meshes = [...this.#world.meshes.keys()];
    return meshes.length > 0 ? this.#random.pick(meshes) : undefined;
  }

  #anyPlace(): Pick<Thing, 'place' | 'scale'> {
    return { place: this.#random.point(6).toArray(), scale: this.#random.range(0.5, 1.5) };
  }

  #anyThing(): Thing {
    const mesh = this.#anyMesh();
    const kind = this.#random.pick(
      mesh === undefined ? (['box', 'ball'] as const) : (['box', 'ball', 'surface'] as const),
    );
    const size = this.#random.range(0.3, 1.5);
    const half: Point =
      kind === 'box' ? [size, this.#random.range(0.3, 1.5), 1] : kind === 'ball' ? [size, size, size] : [1, 1, 1];
    const options = { layers: this.#random.pick([1, 2, 3]), group: this.#random.integer(3) };
    return { kind, size: half, mesh: kind === 'surface' ? mesh! : 0, ...options, ...this.#anyPlace() };
  }

  #anyRay(): [Point, Point] {
    // As float32, which is what raycastMany takes.
    const origin = this.#random.point(10).toArray().map(Math.fround) as unknown as Point;
    const direction = this.#random.direction().toArray().map(Math.fround);
    const unit = new Vector3().fromArray(direction).normalize().toArray();
    return [origin, unit];
  }
}

function shapeOf({ kind, size, mesh }: Thing): Shape {
  if (kind === 'ball') return { type: 'sphere', radius: size[0] };
  return kind === 'box' ? { type: 'box', halfExtents: size } : { type: 'mesh', mesh };
}

function matrixOf({ place, scale }: Pick<Thing, 'place' | 'scale'>): number[] {
  return new Matrix4()
    .makeScale(scale, scale, scale)
    .setPosition(...place)
    .elements.slice();
}

function viewOf(camera: OrthographicCamera) {
  camera.position.z = VIEW_HALF[2];
  camera.updateMatrixWorld();
  const [projection, view] = [camera.projectionMatrix.elements, camera.matrixWorldInverse.elements];
  return { projection, view, viewport: { width: 100, height: 100 } };
}

function isSameSet<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function describe(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    ArrayBuffer.isView(each) ? Array.from(each as Float32Array) : each,
  )?.slice(0, 300);
}
