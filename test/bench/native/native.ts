import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Triangles } from '../../oracle/meshes.js';
import { compileProgram, missingPackages, type Program } from './compile.js';

/** A single-threaded native library in its own process, with its tree built, that can repeat the work. */
export interface NativePeer<Answer extends { ms: number }> {
  /** Library, version, and how it was compiled and configured. */
  readonly name: string;
  readonly buildMs: number;
  /** Does all of the work once. Rejects if the process has ended, or ends before it answers. */
  run(): Promise<Answer>;
  stop(): void;
}

export interface EmbreeAnswer {
  ms: number;
  /** Number of rays that hit, and the sum of their distances. */
  hits: number;
  sum: number;
}

export interface FclAnswer {
  ms: number;
  /** Number of poses that collide, or of pairs of triangles over all poses. */
  count: number;
}

const EMBREE: Program = {
  source: 'rays.cpp',
  binary: 'rays',
  flags: ['-march=native'],
  libraries: ['-lembree3'],
  header: 'embree3/rtcore.h',
  packages: 'g++ libembree-dev',
};

/** FCL as compiled by Debian. */
const FCL: Program = {
  source: 'pairs.cpp',
  binary: 'pairs',
  flags: [],
  libraries: ['-lfcl', '-lccd'],
  header: 'fcl/config.h',
  packages: 'g++ libfcl-dev',
};

/** FCL's distances, as compiled by Debian. */
const FCL_DISTANCE: Program = { ...FCL, source: 'distance.cpp', binary: 'distance' };

/** Compiled for this machine, but with Eigen's alignment as in Debian's library, with which its types are shared. */
const FCL_COMPILED_HERE: Program = {
  ...FCL,
  binary: 'pairs-compiled-here',
  flags: ['-DCOMPILED_HERE', '-march=native', '-DEIGEN_MAX_ALIGN_BYTES=16'],
};

const FCL_DISTANCE_COMPILED_HERE: Program = {
  ...FCL_COMPILED_HERE,
  source: 'distance.cpp',
  binary: 'distance-compiled-here',
};

const FCL_CLASH: Program = { ...FCL, source: 'clash.cpp', binary: 'clash' };
const FCL_CLASH_COMPILED_HERE: Program = { ...FCL_COMPILED_HERE, source: 'clash.cpp', binary: 'clash-compiled-here' };

/** Returns why the native peers are unavailable, naming the packages to install; null if they are available. */
export async function missingNativePeers(): Promise<string | null> {
  const reasons = [await missingPackages(EMBREE), await missingPackages(FCL)].filter((reason) => reason !== null);
  return reasons.length === 0 ? null : reasons.join('\n');
}

/**
 * `rays`: 8 numbers per ray: origin, tMin, direction of unit length, tMax. With `sse4.2`, Embree tests boxes and triangles in
 * groups of four, as we do; otherwise as wide as the machine allows.
 */
export function startEmbree(
  mesh: Triangles,
  rays: Float32Array,
  instructions: 'all' | 'sse4.2' = 'all',
): Promise<NativePeer<EmbreeAnswer>> {
  const configuration = instructions === 'all' ? 'threads=1' : `threads=1,isa=${instructions}`;
  return start(EMBREE, mesh, rays, 8, configuration, ['ms', 'hits', 'sum']);
}

/**
 * Collides the mesh with itself. `poses`: 16 numbers per pose, column-major, rigid: the transform of the second mesh, while that
 * of the first is the identity. `first` stops a pose at its first pair of triangles.
 */
export function startFcl(
  mesh: Triangles,
  poses: Float64Array,
  mode: 'first' | 'all',
  build: 'debian' | 'compiled here',
): Promise<NativePeer<FclAnswer>> {
  return start(build === 'debian' ? FCL : FCL_COMPILED_HERE, mesh, poses, 16, mode, ['ms', 'count']);
}

export interface FclDistances {
  ms: number;
  /** Sum of the distances. */
  sum: number;
}

/** Measures the distance between the mesh and itself at these poses, given as in `startFcl`. */
export function startFclDistance(
  mesh: Triangles,
  poses: Float64Array,
  build: 'debian' | 'compiled here',
): Promise<NativePeer<FclDistances>> {
  const program = build === 'debian' ? FCL_DISTANCE : FCL_DISTANCE_COMPILED_HERE;
  return start(program, mesh, poses, 16, 'obbrss', ['ms', 'sum']);
}

/**
 * Finds all pairs of parts that collide. `items`: 18 numbers per part: a rigid matrix, the first triangle of its mesh, and the
 * number of triangles. `first` stops a pair at its first two triangles.
 */
export function startFclClash(
  mesh: Triangles,
  items: Float64Array,
  mode: 'first' | 'all',
  build: 'debian' | 'compiled here',
): Promise<NativePeer<FclAnswer>> {
  const program = build === 'debian' ? FCL_CLASH : FCL_CLASH_COMPILED_HERE;
  return start(program, mesh, items, 18, mode, ['ms', 'count']);
}

async function start<Answer extends { ms: number }>(
  program: Program,
  { positions, indices }: Triangles,
  items: Float32Array | Float64Array,
  itemLength: number,
  mode: string,
  keys: readonly (keyof Answer & string)[],
): Promise<NativePeer<Answer>> {
  const binary = await compileProgram(program);
  const folder = await mkdtemp(join(tmpdir(), 'native-peer-'));
  try {
    const input = join(folder, 'input');
    const counts = Uint32Array.of(positions.length / 3, indices.length / 3, items.length / itemLength);
    await writeFile(input, [counts, positions, indices, items]);
    const peerProcess = new PeerProcess(spawn(binary, [input, mode], { stdio: 'pipe' }), program.binary);
    const { name, buildMs } = await peerProcess.next<{ name: string; buildMs: number }>(['name', 'buildMs']);
    return { name, buildMs, run: () => peerProcess.ask('run', keys), stop: () => peerProcess.end() };
  } finally {
    await rm(folder, { recursive: true }); // the process read it before its first answer
  }
}

interface PendingLine {
  resolve(line: string): void;
  reject(error: Error): void;
}

/** Exchanges lines, one answer per request, in order. If the process ends, all pending and later requests are rejected. */
class PeerProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #pendingLines: PendingLine[] = [];
  #errors = '';
  #endError: Error | undefined;

  constructor(child: ChildProcess, name: string) {
    this.#child = child;
    this.#name = name;
    createInterface({ input: child.stdout! }).on('line', (line) => this.#pendingLines.shift()?.resolve(line));
    child.stderr!.setEncoding('utf8').on('data', (text) => {
      this.#errors += text;
    });
    child.stdin!.on('error', () => {}); // the 'close' event tells more
    child.on('error', (error) => this.#fail(error.message));
    child.on('close', (code, signal) => this.#fail(`ended with ${signal ?? `code ${code}`} ${this.#errors}`));
  }

  ask<Answer>(line: string, keys: readonly (keyof Answer & string)[]): Promise<Answer> {
    this.#child.stdin!.write(`${line}\n`);
    return this.next(keys);
  }

  async next<Answer>(keys: readonly (keyof Answer & string)[]): Promise<Answer> {
    const line = await new Promise<string>((resolve, reject) => {
      if (this.#endError) reject(this.#endError);
      else this.#pendingLines.push({ resolve, reject });
    });
    const answer = parseJson(line);
    if (!answer || !keys.every((key) => key in answer)) {
      this.end();
      throw new Error(`${this.#name} answered ${JSON.stringify(line)}, expected JSON of ${keys.join(', ')}`);
    }
    return answer as Answer;
  }

  end(): void {
    this.#child.stdin!.end();
  }

  #fail(reason: string): void {
    this.#endError ??= new Error(`${this.#name} ${reason.trim()}`);
    for (const { reject } of this.#pendingLines.splice(0)) reject(this.#endError);
  }
}

function parseJson(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
