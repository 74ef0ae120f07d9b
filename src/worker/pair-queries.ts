import { transfer } from '../shared/calls.js';
import { CONTACTS_ANY } from '../shared/layout.js';
import type { ContactReport, Distance, ObjectId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { CoreSweepHit } from './binding/hits.js';
import type { CoreContact } from './binding/pair-answers.js';
import { finishedSteps, runToEnd, type Steps } from './binding/steps.js';
import { FRAME_SLICE_MS, type LongWork } from './long-work.js';
import type { MeshTable } from './mesh-table.js';
import { Slices } from './slices.js';

/** Two objects whose contact is requested, and the frame that the answer belongs to. */
type RequestedPair = Pick<ContactReport, 'a' | 'b' | 'frame'>;
type ContactAnswer = ContactReport | null;
type DistanceAnswer = Distance | null;

/**
 * A query that may take long, about objects that were copied. It returns undefined when its time is up, or the result,
 * which is read in steps.
 */
interface SliceableQuery<Result, Answer> {
  beginFromSnapshot(snapshot: number): Steps<Result> | undefined;
  resume(): Steps<Result> | undefined;
  answer(result: Result, ms: number): Answer;
}

/** A query about two objects, which are copied only if it has to wait. */
interface PairQuery<Result, Answer> extends SliceableQuery<Result | null, Answer | null> {
  /** Returns whether it may take long, and so would disturb work that is between two slices. */
  mayTakeLong(): boolean;
  begin(): Steps<Result | null> | undefined;
}

/**
 * Answers queries about two objects, and sweeps. A query that may take long is answered in slices, when no frame and no
 * other such query is under way: it works on copies of the objects as they are now.
 */
export class PairQueries {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  readonly #work: LongWork;

  constructor(core: Core, meshes: MeshTable, work: LongWork) {
    this.#core = core;
    this.#meshes = meshes;
    this.#work = work;
  }

  contact(a: ObjectId, b: ObjectId, detail: number, frame: number): ContactAnswer | Promise<ContactAnswer> {
    const { pairs } = this.#core;
    const pair = { a, b, frame };
    return this.#run(a, b, detail, {
      mayTakeLong: () => pairs.isLongContact(a, b, detail),
      begin: () => pairs.beginContact(a, b, detail, FRAME_SLICE_MS),
      beginFromSnapshot: (snapshot) => pairs.beginKeptContact(a, b, snapshot, FRAME_SLICE_MS),
      resume: () => pairs.resumeContact(a, b, FRAME_SLICE_MS),
      answer: (result, ms) => contactReport(pair, result, ms),
    });
  }

  /** Measures the distance of two objects. It waits for work that is under way, whatever the shapes are. */
  distance(a: ObjectId, b: ObjectId, limit: number, frame: number): DistanceAnswer | Promise<DistanceAnswer> {
    const { pairs } = this.#core;
    return this.#run(a, b, CONTACTS_ANY, {
      mayTakeLong: () => pairs.canMeasure(a, b),
      begin: () => finishedSteps(pairs.beginDistance(a, b, limit, FRAME_SLICE_MS)),
      beginFromSnapshot: (snapshot) => finishedSteps(pairs.beginKeptDistance(a, b, snapshot, limit, FRAME_SLICE_MS)),
      resume: () => finishedSteps(pairs.resumeDistance(a, b, FRAME_SLICE_MS)),
      answer: (result) => result && { ...result, frame },
    });
  }

  #run<Result, Answer>(
    a: ObjectId,
    b: ObjectId,
    detail: number,
    query: PairQuery<Result, Answer>,
  ): Answer | null | Promise<Answer | null> {
    const { call } = this.#work;
    if (!this.#work.isHeld || !query.mayTakeLong()) return this.#runFirstSlice(query, () => query.begin(), call);
    return this.#runLater(this.#core.pairs.keepContact(a, b, detail), query, call);
  }

  /** Runs a sweep that was kept for a call (`keepSweep`); its first slice has `firstSliceMs` milliseconds left. */
  sweep<Answer>(
    call: number,
    snapshot: number,
    answer: (hits: CoreSweepHit[], ms: number) => Answer,
    firstSliceMs = FRAME_SLICE_MS,
  ): Answer | Promise<Answer> {
    const { sweeps } = this.#core;
    const query = {
      beginFromSnapshot: () => sweeps.beginKeptSweep(snapshot, firstSliceMs),
      resume: () => sweeps.resumeSweep(FRAME_SLICE_MS),
      answer,
    };
    return this.#work.isHeld
      ? this.#runLater(snapshot, query, call)
      : this.#runFirstSlice(query, query.beginFromSnapshot, call);
  }

  /** Runs a query about copied objects when the long work before it has ended. */
  #runLater<Result, Answer>(snapshot: number, query: SliceableQuery<Result, Answer>, call: number): Promise<Answer> {
    this.#meshes.keep();
    return new Promise((resolve, reject) => {
      this.#work.waitForPair(() => {
        try {
          resolve(this.#runFirstSlice(query, () => query.beginFromSnapshot(snapshot), call));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #runFirstSlice<Result, Answer>(
    query: SliceableQuery<Result, Answer>,
    begin: () => Steps<Result> | undefined,
    call: number,
  ): Answer | Promise<Answer> {
    const start = performance.now();
    const steps = begin();
    const result = steps && runToEnd(steps);
    const ms = performance.now() - start;
    return result === undefined ? this.#runFurtherSlices(query, ms, call) : query.answer(result, ms);
  }

  /** Continues a query that has already taken `ms` milliseconds, unless nobody waits for its call any more. */
  async #runFurtherSlices<Result, Answer>(
    query: SliceableQuery<Result, Answer>,
    ms: number,
    call: number,
  ): Promise<Answer> {
    this.#work.beginPair();
    try {
      for (;;) {
        await this.#work.pause();
        if (this.#work.isDropped(call)) {
          this.#core.pairs.giveUpQuestion();
          this.#work.throwIfDropped(call);
        }
        const start = performance.now();
        const result = query.resume();
        ms += performance.now() - start;
        // The result must be read before the next query overwrites it.
        if (result) return query.answer(await new Slices(() => this.#work.pause(), FRAME_SLICE_MS).run(result), ms);
      }
    } finally {
      this.#work.endPair();
    }
  }
}

/** Returns the contact report of a pair, or null if there is no contact. */
function contactReport(pair: RequestedPair, result: CoreContact | null, ms: number): ContactAnswer {
  if (result === null) return null;
  const { points, normals, depths, triangles, segments, bones } = result;
  const arrays = [points, normals, depths, triangles, segments, bones];
  return transfer(
    { ...pair, ...result, ms },
    arrays.map(({ buffer }) => buffer),
  );
}
