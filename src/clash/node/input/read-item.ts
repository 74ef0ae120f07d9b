import type { Part } from '../../types.js';

/** A part of a file, or what could not be read of it. */
export type ReadItem = { part: Part } | { unread: { id: string; name: string; reason: string } };
