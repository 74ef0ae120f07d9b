import { spawn } from 'node:child_process';
import { mkdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A C++ file in this folder, and its requirements. */
export interface Program {
  source: 'rays.cpp' | 'pairs.cpp' | 'distance.cpp' | 'clash.cpp';
  /** Name of the binary in build/native. */
  binary: string;
  flags: readonly string[];
  libraries: readonly string[];
  /** One of the library's headers: if it is missing, so are the packages. */
  header: string;
  /** Names of Debian packages. */
  packages: string;
}

const root = dirname(createRequire(import.meta.url).resolve('collision-worker/package.json'));
const sources = join(root, 'test/bench/native');

/** Returns why the program cannot be compiled here, naming the packages to install; null if it can. */
export async function missingPackages({ header, libraries, packages }: Program): Promise<string | null> {
  const probe = `#include <${header}>\nint main() {}\n`;
  const args = ['-x', 'c++', '-', ...INCLUDES, ...libraries, '-o', '/dev/null'];
  const problem = await runCompiler(args, probe);
  return problem && `${header} could not be compiled and linked: apt-get install ${packages}\n${problem}`;
}

/** Compiles the program unless an up-to-date binary exists; returns the binary's path. */
export async function compileProgram(program: Program): Promise<string> {
  const source = join(sources, program.source);
  const binary = join(root, 'build/native', program.binary);
  const modificationTimes = [program.source, 'peer.hpp', 'fcl.hpp', 'fcl-collide.hpp', 'compile.ts', 'native.ts'].map(
    (part) => modificationTime(join(sources, part)),
  );
  if ((await modificationTime(binary)) > Math.max(...(await Promise.all(modificationTimes)))) return binary;
  const missingReason = await missingPackages(program);
  if (missingReason) throw new Error(missingReason);
  await mkdir(dirname(binary), { recursive: true });
  // Renamed when complete, so that nobody starts a partial binary.
  const temporary = `${binary}.${process.pid}`;
  const args = ['-std=c++17', '-O3', '-DNDEBUG', ...program.flags, ...INCLUDES, source, ...program.libraries];
  const problem = await runCompiler([...args, '-o', temporary], '');
  if (problem) throw new Error(`${program.source} does not compile:\n${problem}`);
  await rename(temporary, binary);
  return binary;
}

/** Debian's location of Eigen, which FCL includes. */
const INCLUDES = ['-I/usr/include/eigen3'];

async function modificationTime(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? 0;
}

/** Returns the compiler's errors; null if none. */
function runCompiler(args: readonly string[], input: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn('g++', args, { stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    child.stdin.on('error', () => {}); // the 'close' event tells more
    child.stdin.end(input);
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? null : errors || `g++ ended with code ${code}`));
  });
}
