import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { CollisionError } from 'collision-worker';
import { hasCode, reasonOf } from '../../check.js';
import { Folder } from '../folder.js';
import { PARTS_FILE, PartStore } from '../part-store.js';
import type { ReadItem } from './read-item.js';

/** Extensions of files that hold one baked mesh, as `bakeMesh` returns it. */
const BAKED_EXTENSIONS = ['.mesh', '.baked', '.bin'];

/**
 * Reads the parts of a model: a .glb, .gltf or .ifc file, a baked mesh (.mesh, .baked or .bin), or a folder of baked parts,
 * like those that the work folder has for each model. Throws BAD_DATA for a model that cannot be read, UNSUPPORTED for another
 * kind of file and if the library that reads it is not installed.
 */
export async function* readModel(path: string): AsyncGenerator<ReadItem> {
  const stats = await stat(path).catch((cause) => {
    throw new CollisionError('INVALID_ARGUMENT', `clash: ${path} cannot be read: ${cause.message}`, { cause });
  });
  const extension = extname(path).toLowerCase();
  if (stats.isDirectory()) yield* readBakedFolder(path);
  else if (extension === '.glb' || extension === '.gltf') yield* (await import('./gltf.js')).readGltf(path);
  else if (extension === '.ifc') yield* (await import('./ifc.js')).readIfc(path);
  else if (BAKED_EXTENSIONS.includes(extension)) yield* readBaked(path);
  else {
    const knownExtensions = ['.glb', '.gltf', '.ifc', ...BAKED_EXTENSIONS].join(', ');
    throw new CollisionError(
      'UNSUPPORTED',
      `clash: ${path} is of no known kind, expected ${knownExtensions}, or a folder of baked parts`,
    );
  }
}

async function* readBaked(path: string): AsyncGenerator<ReadItem> {
  const bytes = await readFile(path);
  const mesh = new Uint8Array(bytes).buffer;
  const id = basename(path, extname(path));
  yield { part: { id, name: id, mesh } };
}

async function* readBakedFolder(path: string): AsyncGenerator<ReadItem> {
  const store = await PartStore.open(new Folder(path));
  // One mesh at a time: all of them may be more than the memory holds.
  const parts = [...store.parts].sort((a, b) => a.mesh - b.mesh);
  let number = -1;
  let mesh = new ArrayBuffer(0);
  for (const part of parts) {
    const { id, name, layer, properties, matrix } = part;
    try {
      if (number !== part.mesh) mesh = await store.load(part.mesh);
      number = part.mesh;
      yield { part: { id, name, layer, properties, matrix, mesh } };
    } catch (error) {
      // A file that cannot be reached may be there the next time, but what is baked of the model would stay.
      if (hasCode(error, 'WORKER_LOST')) throw new CollisionError('BAD_DATA', reasonOf(error), { cause: error });
      yield { unread: { id, name, reason: reasonOf(error) } };
    }
  }
  for (const unread of store.unread) yield { unread };
}

/** Returns the significant part of a model's name: its extension, or all of it if the part is named after it. */
export function nameOfModel(path: string): string {
  const extension = extname(path).toLowerCase();
  return BAKED_EXTENSIONS.includes(extension) ? basename(path) : extension;
}

/** Lists the files that determine the contents of a model: a glTF file names its buffers' files. */
export async function filesOfModel(path: string, isFolder: boolean): Promise<string[]> {
  if (isFolder) return [join(path, PARTS_FILE)];
  return extname(path).toLowerCase() === '.gltf' ? [path, ...(await buffersOf(path))] : [path];
}

/** Errors of a file are ignored here; the function that reads the file reports them. */
async function buffersOf(path: string): Promise<string[]> {
  try {
    const { buffers = [] }: { buffers?: { uri?: string }[] } = JSON.parse(await readFile(path, 'utf8'));
    const names = buffers.flatMap(({ uri }) => (uri === undefined || uri.startsWith('data:') ? [] : [uri]));
    return names.map((name) => join(dirname(path), decodeURIComponent(name)));
  } catch {
    return [];
  }
}
