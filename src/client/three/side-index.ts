import type { ObjectId } from '../../shared/types.js';
import type { Side } from './track/material-plan.js';
import type { Part } from './track/stand-in.js';

/** A ray query that sees the given sides of all objects but the ignored. */
export interface SideQuery {
  side: Side;
  ignore: readonly ObjectId[];
}

/**
 * Which queries find the nearest hit that every object's own material side allows.
 *
 * A query of the service has one side for all objects. Where all materials agree, that is the answer: one query.
 * Where they differ, two queries go out together, one for front faces that does not see the objects of BackSide,
 * one for back faces that does not see those of FrontSide, and the nearer hit is right. (Asking for both sides
 * and discarding hits of the wrong one cannot work: the right one may be on the same object, farther on.)
 */
export class SideIndex {
  readonly #owners: () => readonly { parts: readonly Part[] }[];
  #queries: readonly SideQuery[] | null = null;

  constructor(owners: () => readonly { parts: readonly Part[] }[]) {
    this.#owners = owners;
  }

  /** A part came, went or has another side. */
  changed(): void {
    this.#queries = null;
  }

  get queries(): readonly SideQuery[] {
    this.#queries ??= this.#plan();
    return this.#queries;
  }

  #plan(): SideQuery[] {
    const ids: Record<Side, ObjectId[]> = { front: [], back: [], double: [] };
    for (const { parts } of this.#owners()) {
      for (const { plan, isPickable, ids: own } of parts) {
        if (isPickable) for (const id of own) ids[plan.side].push(id);
      }
    }
    const used = (['front', 'back', 'double'] as const).filter((side) => ids[side].length > 0);
    if (used.length < 2) return [{ side: used[0] ?? 'double', ignore: [] }];
    return [
      { side: 'front', ignore: ids.back },
      { side: 'back', ignore: ids.front },
    ];
  }
}
