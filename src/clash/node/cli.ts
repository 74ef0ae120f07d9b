#!/usr/bin/env node
// npx collision-worker: finds clashes between files.

import { readFile, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CollisionError } from 'collision-worker';
import { VERSION } from '../../shared/version.js';
import { checkObject, invalid, reasonOf } from '../check.js';
import { toBcf } from '../output/bcf.js';
import { csvLines } from '../output/csv.js';
import { jsonLines } from '../output/json.js';
import type { ClashProgress, ClashReport, Rule } from '../types.js';
import { clashFiles, realPathOf } from './clash-files.js';
import { clearWork } from './clear-work.js';
import { writeAtomically } from './folder.js';
import { PARTS_FILE } from './part-store.js';
import { openQueue, type Queue, type QueueOptions, withoutPassword } from './queue.js';
import { runQueueWorker } from './queue-worker.js';
import { serveWork } from './serve.js';

const HELP = `npx collision-worker clash A [B] --rules rules.json --out report.bcf
  finds the clashes between two files, or within one: .glb, .gltf, .ifc, baked parts

  --rules FILE     the rules, as JSON: a list, or an object with "rules"
  --out FILE       the report: .json, .csv, or .bcf and .bcfzip for BCF 2.1; may be given several times
  --accepted FILE  an earlier report (.json): what has the status "accepted" there stays accepted
  --group N        how near to each other the clashes of a group are; default 1
  --workers N      threads; default the number of cores
  --memory SIZE    how much memory all of it may take, as 4G or 800M; default half of the machine's
  --work DIR       the folder for baked parts and finished tiles; default the first report's name with .work behind it,
                   which is removed at the end
  --resume         goes on with the tiles that are finished in the work folder
  --up y|z         which axis is up, for BCF; default y, as of glTF, and of IFC as it is read
  --queue URL      has the tiles done by clash-worker processes, on a queue at redis://host:port
  --queue-name N   the queue's name
  --place PLACE    with --queue: where the workers find the work folder, a path or an http address; default its path here
  --serve PORT     with --queue: serves the work folder by http, and names it so to the workers
  --quiet          no progress

npx collision-worker clash-worker --queue redis://host:port
  looks at the tiles of a queue until it is ended; any number of them on any machines

  --workers N, --memory SIZE, --queue-name N, --quiet as above
  --place PLACE    where the work folder is for this machine, if not where the jobs say
  --cache DIR      the folder in which files from an http address are kept

npx collision-worker --version
  tells the version of the package
`;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const OPTIONS = {
  rules: TEXT,
  out: { type: 'string', multiple: true },
  accepted: TEXT,
  group: TEXT,
  workers: TEXT,
  memory: TEXT,
  work: TEXT,
  resume: FLAG,
  up: TEXT,
  queue: TEXT,
  'queue-name': TEXT,
  place: TEXT,
  serve: TEXT,
  cache: TEXT,
  quiet: FLAG,
  help: { type: 'boolean', short: 'h', default: false },
  version: FLAG,
} as const;

/** The options of each command. */
const WORKER_OPTIONS = ['queue', 'queue-name', 'workers', 'memory', 'place', 'cache', 'quiet', 'help'];
const CLASH_OPTIONS = Object.keys(OPTIONS).filter((name) => name !== 'cache');

type Values = ReturnType<typeof parseCommand>['values'];

function parseCommand(args: string[]) {
  return parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true });
}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseCommand(args);
  const [command, ...files] = positionals;
  if (values.help || values.version) {
    process.stdout.write(values.version ? `${VERSION}\n` : HELP);
    return;
  }
  const allowedOptions = { clash: CLASH_OPTIONS, 'clash-worker': WORKER_OPTIONS }[command!];
  if (!allowedOptions) invalid('the command', command, "'clash' or 'clash-worker'; --help tells more");
  const givenOptions = Object.entries(values).filter(([, value]) => value !== undefined && value !== false);
  for (const [name] of givenOptions)
    if (!allowedOptions.includes(name)) invalid(`--${name}`, command, 'a command that has it');
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new Error(`ended by ${signal}`)));
  }
  if (command === 'clash') await runClash(files, values, controller.signal);
  else {
    if (files.length > 0) invalid('the number of files', files.length, 'none, as the queue says what is to be done');
    await runWorker(values, controller.signal);
  }
}

async function runClash(files: string[], values: Values, signal: AbortSignal): Promise<void> {
  const { outs: outputPaths, work, rules, options } = await readRun(files, values);
  const show = values.quiet ? () => {} : showProgress();
  let server: Server | undefined;
  let queue: Queue | undefined;
  let hasBegun = false;
  try {
    if (values.serve !== undefined) server = await serveWork(work, parseNumber('--serve', values.serve));
    if (values.queue !== undefined) queue = await openQueue(values.queue, queueOptions(values, server));
    const report = await clashFiles(files[0], files[1] ?? null, rules, {
      ...options,
      work,
      signal,
      ...(queue ? { queue } : {}),
      onProgress: (progress) => {
        hasBegun = true;
        show(progress);
      },
    });
    const date = await newestDate(files);
    for (const out of outputPaths) await writeAtomically(await realPathOf(out), writerOf(out, values)(report, date));
    if (values.work === undefined) await clearWork(work);
    printSummary(report, outputPaths);
  } catch (error) {
    if (hasBegun) await keepWork(error, work, values.work === undefined);
    throw error;
  } finally {
    await queue?.close();
    server?.close();
    // A machine that is gone, or waits, does not end the download that it has begun.
    server?.closeAllConnections();
  }
}

/** Reads and checks the arguments of a run, before anything is started. */
async function readRun(files: string[], values: Values) {
  if (files.length < 1 || files.length > 2) invalid('the number of files', files.length, 'one or two');
  const { out: outputPaths = [], group, accepted } = values;
  if (outputPaths.length === 0) invalid('--out', undefined, 'a file for the report');
  for (const out of outputPaths) {
    writerOf(out, values);
    if (values.rules && resolve(out) === resolve(values.rules))
      invalid('--out', out, 'another file than that of the rules');
  }
  if (values.queue === undefined) {
    for (const name of ['queue-name', 'place', 'serve'] as const) {
      if (values[name] !== undefined) invalid(`--${name}`, values[name], 'none without --queue');
    }
  }
  const options = {
    resume: values.resume,
    ...(group === undefined ? {} : { groupDistance: parseNumber('--group', group) }),
    ...settingsOf(values),
  };
  const rules = await readRules(values.rules);
  const acceptedOption =
    accepted === undefined ? {} : { accepted: await readJson<ClashReport>('--accepted', accepted) };
  return {
    outs: outputPaths,
    work: resolve(values.work ?? `${outputPaths[0]}.work`),
    rules,
    options: { ...options, ...acceptedOption },
  };
}

/** Adds to an error how to resume a run that has baked its parts; partly baked parts are baked again. */
async function keepWork(error: unknown, work: string, isTemporary: boolean): Promise<void> {
  const isBaked = await stat(join(work, 'a', PARTS_FILE)).catch(() => null);
  if (!isBaked) {
    if (isTemporary) await clearWork(work);
  } else if (error instanceof Error) {
    error.message += `\nWhat is done is kept in ${work}; --resume goes on with it.`;
  }
}

function queueOptions({ place, 'queue-name': name }: Values, server: Server | undefined): QueueOptions {
  // Port 0 means any free port.
  const workAddress = place ?? (server && `http://${hostname()}:${(server.address() as AddressInfo).port}`);
  return {
    ...(name === undefined ? {} : { name }),
    ...(workAddress === undefined ? {} : { place: workAddress }),
    onNotice: (notice) => process.stderr.write(`${notice}\n`),
  };
}

async function runWorker(values: Values, signal: AbortSignal): Promise<void> {
  const { queue, 'queue-name': name, place, cache } = values;
  if (queue === undefined) invalid('--queue', queue, 'the address of the queue');
  if (!values.quiet) process.stderr.write(`waiting for tiles from ${withoutPassword(queue)}\n`);
  await runQueueWorker(queue, {
    ...settingsOf(values),
    ...(name === undefined ? {} : { name }),
    ...(place === undefined ? {} : { place }),
    ...(cache === undefined ? {} : { cache }),
    signal,
    onNotice: (notice) => process.stderr.write(`${notice}\n`),
  });
}

function settingsOf({ workers, memory }: Values): { workers?: number; memory?: number } {
  return {
    ...(workers === undefined ? {} : { workers: parseNumber('--workers', workers) }),
    ...(memory === undefined ? {} : { memory: parseBytes(memory) }),
  };
}

function parseNumber(argument: string, text: string): number {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? invalid(argument, text, 'a number') : number;
}

function parseBytes(text: string): number {
  const [, number, unit] =
    /^(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?$/i.exec(text) ?? invalid('--memory', text, 'a size as 4G or 800M');
  return Number(number) * 1024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' ');
}

async function readRules(path: string | undefined): Promise<Rule[]> {
  if (path === undefined) invalid('--rules', path, 'a file of rules');
  const rules = await readJson<Rule[] | { rules: Rule[] }>('--rules', path);
  return Array.isArray(rules) ? rules : checkObject<{ rules: Rule[] }>('--rules', rules, ['rules']).rules;
}

async function readJson<T>(argument: string, path: string): Promise<T> {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse((await readFile(path, 'utf8')).replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new CollisionError('BAD_DATA', `clash: ${argument} ${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** Returns when the newest of the files was written: the same files give the same report. */
async function newestDate(files: readonly string[]): Promise<Date> {
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return new Date(Math.max(...times));
}

function writerOf(path: string, { up }: Values): (report: ClashReport, date: Date) => Iterable<string> | Uint8Array {
  if (up !== undefined && up !== 'y' && up !== 'z') invalid('--up', up, "'y' or 'z'");
  switch (extname(path).toLowerCase()) {
    case '.json':
      return jsonLines;
    case '.csv':
      return csvLines;
    case '.bcf':
    case '.bcfzip':
      return (report, date) => toBcf(report, { date, ...(up === undefined ? {} : { up }) });
    default:
      return invalid('--out', path, 'a name that ends in .json, .csv, .bcf or .bcfzip');
  }
}

/** Shows progress on the terminal: a line that is updated, or without a terminal, a line for each tenth. */
function showProgress(): (progress: ClashProgress) => void {
  let lastLine = '';
  return ({ phase, fraction, left }) => {
    const { isTTY } = process.stderr;
    const percent = Math.floor(100 * fraction);
    const time = left === null || fraction === 1 ? '' : `, ${formatDuration(left)} left`;
    const line = `${phase} ${isTTY ? percent : percent - (percent % 10)} %`;
    if (line === lastLine) return;
    lastLine = line;
    process.stderr.write(isTTY ? `\r\x1b[K${line}${time}${fraction === 1 ? '\n' : ''}` : `${line}${time}\n`);
  };
}

function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

function printSummary(
  { rules, groups, clashes, unread, warnings, resolved, parts }: ClashReport,
  outputPaths: readonly string[],
): void {
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  for (const { set, id, name, reason } of unread.slice(0, 20)) {
    process.stderr.write(`not read: ${name || id} of ${set}: ${reason}\n`);
  }
  if (unread.length > 20) process.stderr.write(`not read: ${unread.length - 20} more, see the report\n`);
  for (const { name, clashes: count } of rules) process.stdout.write(`${name}: ${count}\n`);
  const accepted = clashes.filter(({ status }) => status === 'accepted').length;
  process.stdout.write(
    `${clashes.length} clashes in ${groups.length} groups, ${accepted} accepted, ${resolved.length} resolved; ` +
      `${parts.a + parts.b} parts; ${outputPaths.join(', ')}\n`,
  );
}

// Whoever reads the output, as `head` does, may end before: the run goes on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}
