// Baked parts in a folder: parts.json lists them, and which bytes of which file are a part's mesh.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { CollisionError, type CollisionService, createCollisionService, type MeshData } from 'collision-worker';
import { hasCode, reasonOf } from '../check.js';
import { type Box, transformedBox } from '../plan/bounds.js';
import { readMatrix } from '../plan/matrix.js';
import { describePart, type PlacedPart } from '../plan/plan.js';
import type { MeshSource } from '../tile/loaded-meshes.js';
import { factsOf, type MeshFacts } from '../tile/triangles.js';
import type { Part, Unread } from '../types.js';
import { type Folder, removeMatching, writeAtomically, writingFailed } from './folder.js';
import type { ReadItem } from './input/read-item.js';

export const PARTS_FILE = 'parts.json';
const VERSION = 1;
/** A file of meshes is closed when it has this many bytes. */
const PACK_BYTES = 32 * 2 ** 20;

type StoredPart = Omit<PlacedPart, 'matrix' | 'box'> & { matrix: number[]; box: number[] };
interface StoredMesh {
  file: string;
  offset: number;
  bytes: number;
}

interface Contents {
  version: number;
  /** Identifies what the parts were read from. */
  key: string;
  /** A new id each time that parts are baked: files of the same name differ. */
  baked: string;
  parts: StoredPart[];
  meshes: StoredMesh[];
  unread: Omit<Unread, 'set'>[];
}

/** Reads baked parts. */
export class PartStore implements MeshSource {
  readonly key: string;
  /** A new id each time that parts are baked. */
  readonly baked: string;
  readonly parts: readonly PlacedPart[];
  readonly unread: readonly Omit<Unread, 'set'>[];
  readonly #meshes: readonly StoredMesh[];
  readonly #folder: Folder;

  constructor(folder: Folder, contents: Contents) {
    this.key = contents.key;
    this.baked = contents.baked;
    this.parts = contents.parts;
    this.unread = contents.unread;
    this.#meshes = contents.meshes;
    this.#folder = folder;
  }

  /** Opens the parts of a folder. Rejects with BAD_DATA if it has no baked parts. */
  static async open(folder: Folder): Promise<PartStore> {
    let contents: Contents;
    try {
      contents = JSON.parse(await folder.text(PARTS_FILE));
    } catch (cause) {
      throw new CollisionError('BAD_DATA', `clash: ${folder.place} has no baked parts: ${reasonOf(cause)}`, { cause });
    }
    if (contents?.version !== VERSION) {
      throw new CollisionError(
        'BAD_DATA',
        `clash: the parts in ${folder.place} are of version ${contents?.version}, expected ${VERSION}`,
      );
    }
    return new PartStore(folder.ofVersion(contents.baked), contents);
  }

  get meshCount(): number {
    return this.#meshes.length;
  }

  bytesOf(mesh: number): number {
    return this.#meshes[mesh].bytes;
  }

  load(mesh: number): Promise<ArrayBuffer> {
    const { file, offset, bytes } = this.#meshes[mesh];
    return this.#folder.range(file, offset, bytes);
  }
}

/** Removes the baked parts of a folder, and the folder if nothing else is in it. */
export async function removeParts(folder: string): Promise<void> {
  await removeMatching(folder, /^(parts\.json|meshes-\d+\.bin)$/);
}

/** Bakes parts into a folder, as they are read, on `workers` builders. */
export async function bakeParts(
  folder: string,
  key: string,
  items: AsyncIterable<ReadItem>,
  {
    workers,
    bytes,
    signal,
    onPart,
  }: { workers: number; bytes: number; signal?: AbortSignal | undefined; onPart?: () => void },
): Promise<void> {
  try {
    await removeParts(folder);
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw writingFailed(folder, error);
  }
  const service = await createCollisionService({ restart: false, builders: workers, ...(signal ? { signal } : {}) });
  const writer = new StoreWriter(folder, service, bytes);
  try {
    const ids = new Set<string>();
    for await (const item of items) {
      signal?.throwIfAborted();
      if ('unread' in item) writer.unread.push(item.unread);
      else if (ids.has(item.part.id)) writer.refuse(item.part, 'another part of the file has the same id');
      else {
        ids.add(item.part.id);
        await writer.add(item.part);
      }
      onPart?.();
    }
    await writer.end(key);
  } catch (error) {
    // Nothing may be written after this rejects: parts that are still pending would open the next file.
    service.dispose();
    await writer.settle();
    await writer.close();
    throw signal?.aborted ? new CollisionError('ABORTED', 'clash: aborted', { cause: signal.reason }) : error;
  } finally {
    service.dispose();
  }
}

class StoreWriter {
  readonly unread: Omit<Unread, 'set'>[] = [];
  readonly #folder: string;
  readonly #service: CollisionService;
  readonly #maxPendingBytes: number;
  readonly #parts: (StoredPart | null)[] = [];
  readonly #meshes: StoredMesh[] = [];
  /** Meshes are found by the arrays themselves, and by a hash of their contents. */
  readonly #byArrays = new WeakMap<object, Promise<number>>();
  readonly #byHash = new Map<string, Promise<number>>();
  readonly #facts = new WeakMap<object, MeshFacts>();
  readonly #pending = new Set<Promise<unknown>>();
  #pendingBytes = 0;
  #failure: unknown;
  #pack: { name: string; handle: Awaited<ReturnType<typeof open>>; bytes: number } | null = null;
  #packs = 0;
  /** Serializes the writes of meshes. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** Bakes meshes of at most `maxPendingBytes` bytes at once. */
  constructor(folder: string, service: CollisionService, maxPendingBytes: number) {
    this.#folder = folder;
    this.#service = service;
    this.#maxPendingBytes = maxPendingBytes;
  }

  refuse({ id, name = '' }: Part, reason: string): void {
    this.unread.push({ id, name, reason });
  }

  /** Resolves when there is room for the next part. */
  async add(part: Part): Promise<void> {
    const index = this.#parts.push(null) - 1;
    const size = sizeOf(part.mesh);
    this.#pendingBytes += size;
    const task = this.#addNext(part, index).then(
      () => {},
      (error) => {
        this.#failure ??= error;
      },
    );
    const done = task.then(() => {
      this.#pendingBytes -= size;
      this.#pending.delete(done);
    });
    this.#pending.add(done);
    while (
      this.#pending.size > 0 &&
      (this.#pendingBytes > this.#maxPendingBytes || this.#pending.size >= MAX_PENDING)
    ) {
      await Promise.race(this.#pending);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #addNext(part: Part, index: number): Promise<void> {
    const description = describePart(() => 'a part', part);
    let mesh: number;
    let box: Box;
    let matrix: number[];
    try {
      matrix = Array.from(readMatrix(part.matrix));
      const facts = this.#factsOf(part.mesh);
      mesh = await this.#meshOf(part.mesh);
      box = transformedBox(facts.points, facts.box, matrix);
    } catch (error) {
      // A lost worker is not the part's fault: it must be read again.
      if (isDiskError(error) || hasCode(error, 'WORKER_LOST', 'DISPOSED')) throw error;
      this.refuse(part, reasonOf(error));
      return;
    }
    this.#parts[index] = { ...description, mesh, matrix, box: Array.from(box) };
  }

  /** Returns the facts of a mesh, which are read once for all of its parts. */
  #factsOf(data: MeshData | ArrayBuffer): MeshFacts {
    const facts = this.#facts.get(data) ?? factsOf(data);
    this.#facts.set(data, facts);
    return facts;
  }

  #meshOf(data: MeshData | ArrayBuffer): Promise<number> {
    const existing = this.#byArrays.get(data);
    if (existing) return existing;
    const hash = hashOf(data);
    const mesh = this.#byHash.get(hash) ?? this.#bake(data);
    this.#byHash.set(hash, mesh);
    this.#byArrays.set(data, mesh);
    return mesh;
  }

  async #bake(data: MeshData | ArrayBuffer): Promise<number> {
    if (data instanceof ArrayBuffer) return this.#write(data);
    const id = await this.#service.addMesh(data);
    const { topology } = this.#service.meshInfo(id);
    const baked = await this.#service.bakeMesh(id);
    this.#service.removeMesh(id);
    if (topology !== 'triangles') throw new CollisionError('UNSUPPORTED', `a mesh of ${topology} has no surface`);
    return this.#write(baked);
  }

  #write(baked: ArrayBuffer): Promise<number> {
    const written = this.#lastWrite.then(() => this.#append(baked));
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  async #append(baked: ArrayBuffer): Promise<number> {
    const path = join(this.#folder, this.#pack?.name ?? packName(this.#packs));
    try {
      this.#pack ??= { name: packName(this.#packs++), handle: await open(path, 'w'), bytes: 0 };
      const { name, handle, bytes } = this.#pack;
      await handle.writeFile(new Uint8Array(baked));
      const mesh = this.#meshes.push({ file: name, offset: bytes, bytes: baked.byteLength }) - 1;
      this.#pack.bytes += baked.byteLength;
      if (this.#pack.bytes >= PACK_BYTES) await this.close();
      return mesh;
    } catch (error) {
      throw writingFailed(path, error);
    }
  }

  async close(): Promise<void> {
    const pack = this.#pack;
    this.#pack = null;
    await pack?.handle.close();
  }

  /** Waits for all pending parts. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Waits for all parts, and writes the list of them. */
  async end(key: string): Promise<void> {
    await this.settle();
    if (this.#failure !== undefined) throw this.#failure;
    await this.close();
    const parts = this.#parts.filter((part) => part !== null);
    const contents: Contents = {
      version: VERSION,
      key,
      baked: randomUUID(),
      parts,
      meshes: this.#meshes,
      unread: this.unread,
    };
    await writeAtomically(join(this.#folder, PARTS_FILE), JSON.stringify(contents));
  }
}

/** The most parts that are baked at the same time: enough to join their messages. */
const MAX_PENDING = 256;

function packName(index: number): string {
  return `meshes-${String(index).padStart(4, '0')}.bin`;
}

function isDiskError(error: unknown): boolean {
  return CollisionError.is(error) && (error.cause as NodeJS.ErrnoException | undefined)?.syscall !== undefined;
}

function sizeOf(mesh: MeshData | ArrayBuffer): number {
  if (mesh instanceof ArrayBuffer) return mesh.byteLength;
  return mesh.positions.byteLength + (mesh.indices?.byteLength ?? 0);
}

function hashOf(mesh: MeshData | ArrayBuffer): string {
  const hash = createHash('sha256');
  if (mesh instanceof ArrayBuffer) return hash.update(new Uint8Array(mesh)).digest('base64');
  const { positions, indices, topology = 'triangles' } = mesh;
  hash.update(`${topology} ${positions.length} ${indices?.BYTES_PER_ELEMENT ?? 0} `);
  for (const { buffer, byteOffset, byteLength } of indices ? [positions, indices] : [positions]) {
    hash.update(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
  }
  return hash.digest('base64');
}
