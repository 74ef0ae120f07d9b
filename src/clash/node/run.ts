// A run in its work folder: run.json describes it, a/ and b/ have the baked parts, tiles/ the results.

import { createHash } from 'node:crypto';
import { CollisionError } from 'collision-worker';
import { reasonOf } from '../check.js';
import { makePlan, type Plan } from '../plan/plan.js';
import type { TileLimits } from '../plan/tiles.js';
import { compileRules } from '../rules/rules.js';
import { inSlices } from '../slices.js';
import type { MeshSource } from '../tile/loaded-meshes.js';
import type { Rule, Unread } from '../types.js';
import { Folder } from './folder.js';
import { PartStore } from './part-store.js';

export const RUN_FILE = 'run.json';
/**
 * The version of the files that this code writes into a work folder. It also changes with the findings of a tile,
 * and with what is read of a file.
 */
export const FORMAT = 6;

/** The contents of run.json. */
export interface Run {
  format: number;
  /** Identifies the files, the rules and the format. */
  key: string;
  isWithin: boolean;
  rules: Rule[];
  limits: TileLimits;
}

/** A run, as opened by everyone that takes part in it: all make the same plan of it. */
export interface OpenRun {
  /** Identifies the tiles and the meshes: their numbers differ in a run with other limits or with parts baked again. */
  key: string;
  plan: Plan;
  source: MeshSource;
  unread: Unread[];
}

/** Opens the run of a work folder. Rejects with BAD_DATA if there is none of this version. */
export async function openRun(place: string, cache?: string): Promise<OpenRun> {
  const run = await readRun(place, cache);
  const openStore = (name: string) => PartStore.open(new Folder(`${place.replace(/\/$/, '')}/${name}`, cache));
  const [a, b] = await Promise.all([openStore('a'), run.isWithin ? null : openStore('b')]);
  return joinStores(run, a, b);
}

export async function readRun(place: string, cache?: string): Promise<Run> {
  let run: Run;
  try {
    run = JSON.parse(await new Folder(place, cache).text(RUN_FILE));
  } catch (cause) {
    throw new CollisionError('BAD_DATA', `clash: ${place} is no work folder: ${reasonOf(cause)}`, { cause });
  }
  if (run.format === FORMAT) return run;
  const message = `clash: the run in ${place} is of format ${run.format}, expected ${FORMAT}: all machines need the same version`;
  throw new CollisionError('BAD_DATA', message);
}

/** Numbers the meshes of both stores consecutively. */
async function joinStores(run: Run, a: PartStore, b: PartStore | null): Promise<OpenRun> {
  const meshCountA = a.meshCount;
  const partsB = b?.parts.map((part) => ({ ...part, mesh: part.mesh + meshCountA })) ?? null;
  const bytesOf = (mesh: number) => (mesh < meshCountA ? a.bytesOf(mesh) : b!.bytesOf(mesh - meshCountA));
  const plan = await inSlices(makePlan(a.parts, partsB, compileRules(run.rules), bytesOf, run.limits));
  const load = (mesh: number) => (mesh < meshCountA ? a.load(mesh) : b!.load(mesh - meshCountA));
  const unreadOf = (set: 'a' | 'b', store: PartStore | null) => (store?.unread ?? []).map((each) => ({ set, ...each }));
  const key = keyOf(run.key, JSON.stringify(run.limits), a.baked, b?.baked ?? '');
  return { key, plan, source: { load }, unread: [...unreadOf('a', a), ...unreadOf('b', b)] };
}

export function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
