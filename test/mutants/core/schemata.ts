// Many mutants in one program: mutant schemata (Untch, Offutt and Harrold, Mutation Analysis Using Mutant Schemata, 1993). Each
// mutated expression becomes a choice by a number that is imported from JavaScript, `activeMutant`. A mutant counts as reached
// only if its value differs from that of the original, as far as this can be determined by reading variables: a test in which
// they are always equal cannot notice it (Just, Ernst and Fraser, Efficient Mutation Analysis by Propagating and Partitioning
// Test Executions, 2014).
import type { Mutation } from './mutations.js';

export interface NumberedMutation extends Mutation {
  /** Positive; 0 is the original. */
  id: number;
}

/** Range of a mutant's text in the woven source. */
export interface Span {
  id: number;
  start: number;
  end: number;
}

export interface Woven {
  text: string;
  spans: Span[];
}

/** Weaves mutants into their source. Each mutant that is reached reports its number. */
export function weave(source: string, mutations: readonly NumberedMutation[]): Woven {
  // Outer mutants first.
  const sorted = [...mutations].sort((a, b) => a.start - b.start || b.end - a.end || a.id - b.id);
  const spans: Span[] = [];
  let next = 0;
  const text = weaveRange(0, source.length, 0);
  return { text, spans };

  /** Returns the text from `start` up to `end`, which will begin at `offset`, with all mutants that are completely inside. */
  function weaveRange(start: number, end: number, offset: number): string {
    let out = '';
    let at = start;
    while (next < sorted.length && sorted[next]!.end <= end) {
      const mutation = sorted[next++]!;
      out += source.slice(at, mutation.start);
      const spanStart = offset + out.length;
      const [before, after] = sidesOf(mutation);
      const inner = weaveRange(mutation.start, mutation.end, spanStart + before.length);
      const whole = before + inner + after;
      spans.push({ id: mutation.id, start: spanStart, end: spanStart + whole.length });
      out += whole;
      at = mutation.end;
    }
    return out + source.slice(at, end);
  }
}

/** Returns the text before and after the original text of a mutant. */
function sidesOf({ id, by, kind, constant, values }: NumberedMutation): [string, string] {
  const reach = values ? `reachWhereOther(${id}, ${values[0]}, ${values[1]})` : `reachMutant(${id})`;
  if (kind === 'statement dropped') return [`{ ${reach}; if (activeMutant != ${id}) { `, ' } }'];
  const choice = `activeMutant == ${id} ? (${by}) : (`;
  // A module constant is reached when the core starts.
  return constant === undefined ? [`(${reach}, ${choice}`, '))'] : [`(${choice}`, '))'];
}

/**
 * The exports of host.ts that woven sources call. Each mutant that is reached is reported to JavaScript once per core and epoch:
 * to receive all of them again, it starts a new epoch.
 */
export function hostExports(count: number): string {
  return `
@external("env", "activeMutant")
export declare let activeMutant: i32;

@external("env", "mutantEpoch")
declare let mutantEpoch: i32;

@external("env", "reached")
declare function reached(id: i32): void;

/** The epoch in which each was reached last. */
const reachedIn: usize = memory.data(${4 * (count + 1)}, 4);

// @ts-ignore: decorator
@inline
export function reachMutant(id: i32): void {
  if (load<i32>(reachedIn + (<usize>id << 2)) == mutantEpoch) return;
  store<i32>(reachedIn + (<usize>id << 2), mutantEpoch);
  reached(id);
}

// @ts-ignore: decorator
@inline
export function reachWhereOther<T>(id: i32, original: T, mutated: T): void {
  if (!isSame<T>(original, mutated)) reachMutant(id);
}

/** In all bits: 0 is not -0. */
// @ts-ignore: decorator
@inline
function isSame<T>(a: T, b: T): bool {
  if (isVector<T>()) return i8x16.all_true(i8x16.eq(a, b));
  if (isFloat<T>()) {
    if (sizeof<T>() == 8) return reinterpret<u64>(a) == reinterpret<u64>(b);
    return reinterpret<u32>(a) == reinterpret<u32>(b);
  }
  return a == b;
}
`;
}
