import { CollisionError } from 'collision-worker';
import type { Random } from '../oracle/random.js';
import type { Call } from './call.js';
import { disguises, HOSTILE_VALUES } from './hostile.js';

const TIMEOUT_MS = 10_000;

/** The environment that the calls are made on. */
export interface FuzzWorld {
  /** Restores everything that a call may have removed, moved or changed. */
  restock(): Promise<void>;
  /** Returns what is wrong with it; empty if it is unchanged. */
  complaint(): Promise<string>;
}

/** Place in the arguments where a value is put. */
type Path = readonly (string | number)[];

export interface Tally {
  calls: number;
  errors: Record<string, number>;
  answers: number;
  /** Descriptions of what was wrong. */
  wrong: string[];
}

export function newTally(): Tally {
  return { calls: 0, errors: {}, answers: 0, wrong: [] };
}

/**
 * Puts hostile values in every place of a call's arguments, and replaces every part of them with its disguises: a random `share`
 * of all combinations, and more of those that replace a whole argument.
 */
export async function crossArguments<W extends FuzzWorld>(
  world: W,
  call: Call<W>,
  random: Random,
  share: number,
  tally: Tally,
): Promise<void> {
  const baseline = await runCall(call, world, call.args(world));
  if (baseline.error !== undefined) tally.wrong.push(`${call.name} with what is right: ${baseline.error}`);
  for (const path of pathsOf(call.args(world))) {
    const isTried = () => random.chance(path.length === 1 && !call.isSlow ? 8 * share : share);
    for (const [name, make] of Object.entries(HOSTILE_VALUES)) {
      if (!isTried()) continue;
      await attempt(world, call, [[path, name, make]], undefined, tally);
    }
    for (const name of Object.keys(disguises(valueAt(call.args(world), path)))) {
      if (!isTried()) continue;
      const disguise = (value: unknown) => disguises(value)[name]();
      await attempt(world, call, [[path, name, disguise]], call.isDull ? undefined : baseline.text, tally);
    }
  }
}

/** Combines several of these changes at random. */
export async function mutate<W extends FuzzWorld>(
  world: W,
  call: Call<W>,
  random: Random,
  tally: Tally,
): Promise<void> {
  const changes: Change[] = [];
  for (let n = 1 + random.integer(3); n > 0; n--) {
    const path = random.pick(pathsOf(call.args(world)));
    const disguiseNames = Object.keys(disguises(valueAt(call.args(world), path)));
    if (disguiseNames.length > 0 && random.chance(0.4)) {
      const name = random.pick(disguiseNames);
      changes.push([path, name, (value) => disguised(value, name)]);
    } else {
      const name = random.pick(Object.keys(HOSTILE_VALUES));
      changes.push([path, name, HOSTILE_VALUES[name]]);
    }
  }
  // Applies inner changes first: a disguised value cannot be changed any more.
  changes.sort(([a], [b]) => b.length - a.length);
  await attempt(world, call, changes, undefined, tally);
}

/** Returns the value unchanged if it has been replaced with one that cannot be disguised. */
function disguised(value: unknown, name: string): unknown {
  try {
    return disguises(value)[name]?.() ?? value;
  } catch {
    return value;
  }
}

type Change = [path: Path, name: string, make: (value: unknown) => unknown];

async function attempt<W extends FuzzWorld>(
  world: W,
  call: Call<W>,
  changes: readonly Change[],
  expected: string | undefined,
  tally: Tally,
): Promise<void> {
  const title = `${call.name}(${changes.map(([path, name]) => `${path.join('.')}: ${name}`).join(', ')})`;
  const args = call.args(world);
  for (const [path, , make] of changes) replaceAt(args, path, make);
  // Errors of the caller's own callback reach the caller, as those of a listener do.
  if (changes.some(([path]) => path.at(-1) === 'onProgress') && hasCallback(args)) return;
  if (call.visits && changes.some(([path]) => path.join() === '0') && typeof args[0] === 'function') return;
  const { error, text, isDeclared, code } = await runCall(call, world, args);
  tally.calls++;
  if (error === undefined) tally.answers++;
  else tally.errors[code] = (tally.errors[code] ?? 0) + 1;
  if (error !== undefined && !isDeclared) tally.wrong.push(`${title}: ${error}`);
  if (text.includes('NaN')) tally.wrong.push(`${title}: answered ${text}`);
  if (error === undefined && expected !== undefined && text !== expected) {
    tally.wrong.push(`${title}: answered ${text}, undisguised ${expected}`);
  }
  const complaint = await withTimeout(world.complaint()).catch((cause) => String(cause));
  if (complaint) tally.wrong.push(`after ${title}: ${complaint}`);
  if (complaint || error !== undefined) await withTimeout(world.restock()).catch(() => {});
}

interface Outcome {
  /** Undefined if there is an answer. */
  error: string | undefined;
  code: string;
  isDeclared: boolean;
  text: string;
}

async function runCall<W extends FuzzWorld>(call: Call<W>, world: W, args: unknown[]): Promise<Outcome> {
  let text = '';
  try {
    const answer = await withTimeout(Promise.resolve((call.run as (...all: unknown[]) => unknown)(world, ...args)));
    if (!call.isDull) text = textOf(answer);
    await call.undo?.(world, answer as never, args);
    return { error: undefined, code: '', isDeclared: true, text };
  } catch (error) {
    if (call.isInParts) await call.undo?.(world, undefined as never, args);
    const isDeclared = error instanceof CollisionError;
    return { error: stringOf(error), code: isDeclared ? error.code : 'other', isDeclared, text };
  }
}

function stringOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message.slice(0, 300)}` : typeof error;
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it hangs')), TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Serializes an answer without the parts that differ in every call. */
function textOf(answer: unknown): string {
  return (
    JSON.stringify(answer, (key, value) => {
      if (key === 'frame' || key === 'ms') return undefined;
      if (value instanceof ArrayBuffer) return Array.from(new Uint8Array(value)).join();
      if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array).join();
      return typeof value === 'number' ? String(value) : value;
    }) ?? ''
  );
}

/** Paths of every argument, and of all their parts. */
function pathsOf(args: readonly unknown[]): Path[] {
  const paths: Path[] = [];
  const walk = (value: unknown, path: Path): void => {
    if (path.length > 0) paths.push(path);
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain && !Array.isArray(value)) return;
    const keys = Object.keys(value as object);
    // Of a list, the last element is representative.
    const chosenKeys = Array.isArray(value) && path.length > 0 ? keys.slice(-1) : keys;
    for (const key of chosenKeys) walk((value as Record<string, unknown>)[key], [...path, key]);
  };
  walk(args, []);
  // And one extra argument.
  return [...paths, [String(args.length)]];
}

function valueAt(args: unknown, path: Path): unknown {
  return path.reduce((value, key) => (value as Record<string, unknown>)?.[key], args);
}

function replaceAt(args: unknown[], path: Path, make: (value: unknown) => unknown): void {
  const parent = valueAt(args, path.slice(0, -1)) as Record<string, unknown>;
  const key = path.at(-1) as string;
  parent[key] = make(parent[key]);
}

function hasCallback(args: unknown[]): boolean {
  return args.some((options) => {
    try {
      return typeof (options as { onProgress: unknown }).onProgress === 'function';
    } catch {
      return false;
    }
  });
}
