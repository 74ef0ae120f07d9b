import { CollisionError } from 'collision-worker';
import type { Part } from '../../types.js';

/** A part of a file, or the reason why it could not be read. */
export type ReadItem = { part: Part } | { unread: { id: string; name: string; reason: string } };

export function unreadable(path: string, kind: 'glTF' | 'IFC', reason: string, cause?: unknown): never {
  throw new CollisionError('BAD_DATA', `clash: ${path} cannot be read as ${kind}: ${reason}`, { cause });
}
