import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CollisionError } from 'collision-worker';

/** A folder to read from: on a disk of this machine, or behind an http address, whose files are cached on the disk. */
export class Folder {
  readonly place: string;
  readonly #cache: string | null;
  readonly #cacheFolder: string;
  readonly #fetched = new Map<string, Promise<string>>();

  /** `cache` is the folder for files from an address; by default in the system's folder for temporary files. */
  constructor(place: string, cache = join(tmpdir(), 'collision-worker-clash'), version = 'newest') {
    this.place = place;
    const isRemote = /^https?:\/\//.test(place);
    this.#cache = isRemote ? cache : null;
    this.#cacheFolder = join(cache, createHash('sha256').update(`${place} ${version}`).digest('hex').slice(0, 32));
  }

  /** Returns the same folder with a separate cache, apart from the files of earlier versions. */
  ofVersion(version: string): Folder {
    return this.#cache === null ? this : new Folder(this.place, this.#cache, version);
  }

  async text(file: string): Promise<string> {
    return readFile(await this.#local(file, true), 'utf8');
  }

  /** Resolves with a part of a file. Rejects with BAD_DATA if the file ends before, WORKER_LOST if it cannot be reached. */
  async range(file: string, offset: number, bytes: number): Promise<ArrayBuffer> {
    const path = await this.#local(file, false);
    const fail = (cause: Error & { cause?: Error }): never => {
      throw unreachable(`${path} cannot be read`, cause);
    };
    const handle = await open(path).catch(fail);
    try {
      const buffer = new ArrayBuffer(bytes);
      const { bytesRead } = await handle.read(new Uint8Array(buffer), 0, bytes, offset).catch(fail);
      if (bytesRead < bytes) throw new CollisionError('BAD_DATA', `clash: ${path} ends within a mesh`);
      return buffer;
    } finally {
      await handle.close();
    }
  }

  /** Returns the path of a file on the disk. A file that may have changed is fetched again. */
  async #local(file: string, mayChange: boolean): Promise<string> {
    if (this.#cache === null) return join(this.place, file);
    const path = join(this.#cacheFolder, file);
    const fetched = this.#fetched.get(file) ?? this.#fetch(file, path, mayChange);
    this.#fetched.set(file, fetched);
    // The next caller tries again.
    fetched.catch(() => this.#fetched.delete(file));
    return fetched;
  }

  async #fetch(file: string, path: string, mayChange: boolean): Promise<string> {
    if (!mayChange && (await stat(path).catch(() => null))) return path;
    const address = `${this.place.replace(/\/$/, '')}/${file}`;
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      await writeAtomically(path, new Uint8Array(await response.arrayBuffer()));
    } catch (cause) {
      throw unreachable(`${address} cannot be fetched`, cause as Error & { cause?: Error });
    }
    return path;
  }
}

/** A part whose file cannot be reached is not at fault: the tile is run again, perhaps by another worker. */
function unreachable(problem: string, cause: Error & { cause?: Error }): CollisionError {
  const reason = CollisionError.is(cause) ? cause.message : (cause.cause?.message ?? cause.message);
  return new CollisionError('WORKER_LOST', `clash: ${problem}: ${reason}`, { cause });
}

/** Writes a file atomically, from its content or the lines of it: it is there as a whole or not at all. Errors name the path. */
export async function writeAtomically(path: string, content: string | Uint8Array | Iterable<string>): Promise<void> {
  const temporaryPath = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(temporaryPath, content);
    else await pipeline(content, createWriteStream(temporaryPath));
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true }).catch(() => {});
    throw writingFailed(path, error);
  }
}

/** Makes the error of a failed write: OUT_OF_MEMORY if the disk is full, INVALID_ARGUMENT otherwise. */
export function writingFailed(path: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === undefined) return cause;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const reason = isFull ? 'there is no room on the disk' : (cause as Error).message;
  const message = `clash: ${path} cannot be written: ${reason}`;
  return new CollisionError(isFull ? 'OUT_OF_MEMORY' : 'INVALID_ARGUMENT', message, { cause });
}

/** Removes the files of a folder that have one of this package's names, and the folder if nothing else is in it. */
export async function removeMatching(folder: string, names: RegExp): Promise<void> {
  const entries = await readdir(folder).catch(() => []);
  // A process that was killed has left unfinished files.
  const matching = entries.filter((name) => names.test(name.replace(/\.\d+-[0-9a-z]+\.part$/, '')));
  for (const name of matching) await rm(join(folder, name), { force: true });
  await rmdir(folder).catch(() => {});
}
