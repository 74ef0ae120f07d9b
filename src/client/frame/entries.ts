// What goes to the worker in order: frames are between these.
import type { Command } from '../../shared/commands.js';
import type { FrameBuilder } from './frame-builder.js';

/** A command that has an answer, or transfers something: the function that posts it. */
export interface CallCommand {
  type: 'call';
  post: () => void;
}

/** What learns, in its order, the number of the frame that was sent last. The next worker is no matter of it. */
type FrameMark = { type?: undefined; after: number };

/** A query is the function that posts it; one that was answered meanwhile, or rejected, posts nothing. */
export type Entry = Command | CallCommand | FrameMark | (() => void);

/** Ids of so many bytes or more are handed over and not copied: to post those of half a million takes 2 ms else. */
const MANY_BYTES = 16_384;

/** Answers the buffer of a command that nobody needs here any more, if it has a large one. */
export function handedOver(command: Command): ArrayBuffer | undefined {
  if (command.type === 'placeObjects') return command.input;
  if (command.type !== 'setLayers' && command.type !== 'removeObjects') return undefined;
  const { ids } = command;
  return Array.isArray(ids) || ids.byteLength < MANY_BYTES ? undefined : (ids.buffer as ArrayBuffer);
}

/** Lets a frame not bring back what an entry, which goes before it, has changed. */
export function notBringBack(frame: FrameBuilder, entry: Entry): void {
  if (typeof entry === 'function' || entry.type === 'call') return;
  if (entry.type === 'removeView') frame.dropView(entry.slot);
  else if (entry.type === 'setObject' && entry.matrix) frame.setSingle(entry.id, entry.matrix);
}

/**
 * Tells what the next worker knows anyway: all objects and views there are, but not the meshes that went between the
 * two.
 */
export function isKnownToTheNext(entry: Entry): entry is Exclude<Command, { type: 'removeMesh' }> {
  return typeof entry !== 'function' && entry.type !== 'call' && entry.type !== 'removeMesh';
}

/**
 * Tells what sees a frame that waits: queries, and removals of meshes, of which no object is any more, but a query may
 * be.
 */
export function staysBehind(entry: Entry): boolean {
  return typeof entry === 'function' || entry.type === 'removeMesh';
}
