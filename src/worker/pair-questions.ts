import { transfer } from '../shared/calls.js';
import { CONTACTS_ANY } from '../shared/layout.js';
import type { ContactReport, Distance, ObjectId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { CoreSweepHit } from './binding/hits.js';
import type { CoreContact } from './binding/pair-answers.js';
import { done, inOnePiece, type Steps } from './binding/steps.js';
import { FRAME_SLICE_MS, type LongWork } from './long-work.js';
import type { MeshTable } from './mesh-table.js';
import { Slices } from './slices.js';

/** Two objects whose contact is requested, and the frame that the answer belongs to. */
type AskedPair = Pick<ContactReport, 'a' | 'b' | 'frame'>;
type FoundContact = ContactReport | null;
type FoundDistance = Distance | null;

/**
 * A question that may take long, about objects that were copied. It returns undefined when its time is up, or the result,
 * which is read in steps.
 */
interface KeptQuestion<Found, Answer> {
  beginKept(kept: number): Steps<Found> | undefined;
  resume(): Steps<Found> | undefined;
  answer(found: Found, ms: number): Answer;
}

/** A question about two objects, which are copied only if it has to wait. */
interface PairQuestion<Found, Answer> extends KeptQuestion<Found | null, Answer | null> {
  /** Returns whether it would disturb work that is between two slices. */
  isLong(): boolean;
  begin(): Steps<Found | null> | undefined;
}

/**
 * Answers questions about two objects, and sweeps. A question that may take long is answered in slices, when no frame and no
 * other such question is under way: it works on copies of the objects as they are now.
 */
export class PairQuestions {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  readonly #work: LongWork;

  constructor(core: Core, meshes: MeshTable, work: LongWork) {
    this.#core = core;
    this.#meshes = meshes;
    this.#work = work;
  }

  contact(a: ObjectId, b: ObjectId, detail: number, frame: number): FoundContact | Promise<FoundContact> {
    const { pairs } = this.#core;
    const pair = { a, b, frame };
    return this.#ask(a, b, detail, {
      isLong: () => pairs.isLongContact(a, b, detail),
      begin: () => pairs.beginContact(a, b, detail, FRAME_SLICE_MS),
      beginKept: (kept) => pairs.beginKeptContact(a, b, kept, FRAME_SLICE_MS),
      resume: () => pairs.resumeContact(a, b, FRAME_SLICE_MS),
      answer: (found, ms) => reported(pair, found, ms),
    });
  }

  /** Measures the distance of two objects. It waits for work that is under way, whatever the shapes are. */
  distance(a: ObjectId, b: ObjectId, limit: number, frame: number): FoundDistance | Promise<FoundDistance> {
    const { pairs } = this.#core;
    return this.#ask(a, b, CONTACTS_ANY, {
      isLong: () => pairs.canMeasure(a, b),
      begin: () => done(pairs.beginDistance(a, b, limit, FRAME_SLICE_MS)),
      beginKept: (kept) => done(pairs.beginKeptDistance(a, b, kept, limit, FRAME_SLICE_MS)),
      resume: () => done(pairs.resumeDistance(a, b, FRAME_SLICE_MS)),
      answer: (found) => found && { ...found, frame },
    });
  }

  #ask<Found, Answer>(
    a: ObjectId,
    b: ObjectId,
    detail: number,
    question: PairQuestion<Found, Answer>,
  ): Answer | null | Promise<Answer | null> {
    const { call } = this.#work;
    if (!this.#work.isHeld || !question.isLong()) return this.#find(question, () => question.begin(), call);
    return this.#askLater(this.#core.pairs.keepContact(a, b, detail), question, call);
  }

  /** Runs a sweep that was kept for a call (`keepSweep`); its first slice has `firstMs` milliseconds left. */
  sweep<Answer>(
    call: number,
    kept: number,
    answer: (hits: CoreSweepHit[], ms: number) => Answer,
    firstMs = FRAME_SLICE_MS,
  ): Answer | Promise<Answer> {
    const { sweeps } = this.#core;
    const question = {
      beginKept: () => sweeps.beginKeptSweep(kept, firstMs),
      resume: () => sweeps.resumeSweep(FRAME_SLICE_MS),
      answer,
    };
    return this.#work.isHeld ? this.#askLater(kept, question, call) : this.#find(question, question.beginKept, call);
  }

  /** Asks a question about copied objects when the long work before it has ended. */
  #askLater<Found, Answer>(kept: number, question: KeptQuestion<Found, Answer>, call: number): Promise<Answer> {
    this.#meshes.keep();
    return new Promise((resolve, reject) => {
      this.#work.waitForPair(() => {
        try {
          resolve(this.#find(question, () => question.beginKept(kept), call));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #find<Found, Answer>(
    question: KeptQuestion<Found, Answer>,
    begin: () => Steps<Found> | undefined,
    call: number,
  ): Answer | Promise<Answer> {
    const start = performance.now();
    const steps = begin();
    const found = steps && inOnePiece(steps);
    const ms = performance.now() - start;
    return found === undefined ? this.#finish(question, ms, call) : question.answer(found, ms);
  }

  /** Continues a question that has already taken `ms` milliseconds, unless nobody waits for its call any more. */
  async #finish<Found, Answer>(question: KeptQuestion<Found, Answer>, ms: number, call: number): Promise<Answer> {
    this.#work.beginPair();
    try {
      for (;;) {
        await this.#work.pause();
        if (this.#work.isDropped(call)) {
          this.#core.pairs.giveUpQuestion();
          this.#work.check(call);
        }
        const start = performance.now();
        const found = question.resume();
        ms += performance.now() - start;
        // The result must be read before the next question overwrites it.
        if (found) return question.answer(await new Slices(() => this.#work.pause(), FRAME_SLICE_MS).run(found), ms);
      }
    } finally {
      this.#work.endPair();
    }
  }
}

/** Returns the contact report of a pair, or null if there is no contact. */
function reported(pair: AskedPair, found: CoreContact | null, ms: number): FoundContact {
  if (found === null) return null;
  const { points, normals, depths, triangles, segments, bones } = found;
  const arrays = [points, normals, depths, triangles, segments, bones];
  return transfer(
    { ...pair, ...found, ms },
    arrays.map(({ buffer }) => buffer),
  );
}
