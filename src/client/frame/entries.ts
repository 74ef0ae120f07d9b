// Entries that are sent to the worker in order, between frames.
import type { Command } from '../../shared/commands.js';
import type { FrameBuilder } from './frame-builder.js';

/** A command that has an answer, or transfers buffers: the function that posts it. */
export interface CallCommand {
  type: 'call';
  post: () => void;
}

/** Receives, at its place in the order, the number of the frame that was sent last. Dropped between two workers. */
type FrameMark = { type?: undefined; after: number };

/** A query is the function that posts it; it posts nothing if it was answered or rejected meanwhile. */
export type Entry = Command | CallCommand | FrameMark | (() => void);

/** Ids of this many bytes or more are transferred and not copied: copying those of half a million objects takes 2 ms. */
const MIN_TRANSFER_BYTES = 16_384;

/** Returns the large buffer of a command, if any, which this thread does not need any more. */
export function bufferToTransfer(command: Command): ArrayBuffer | undefined {
  if (command.type === 'placeObjects') return command.input;
  if (command.type !== 'setLayers' && command.type !== 'removeObjects') return undefined;
  const { ids } = command;
  return Array.isArray(ids) || ids.byteLength < MIN_TRANSFER_BYTES ? undefined : (ids.buffer as ArrayBuffer);
}

/** Keeps a waiting frame from undoing the change of an entry that is sent ahead of it. */
export function applyToWaitingFrame(frame: FrameBuilder, entry: Entry): void {
  if (typeof entry === 'function' || entry.type === 'call') return;
  if (entry.type === 'removeView') frame.dropView(entry.slot);
  else if (entry.type === 'setObject' && entry.matrix) frame.setSingle(entry.id, entry.matrix);
  else if (entry.type === 'putCharacter' && entry.description.flags) frame.moves.drop(entry.id); // it is put elsewhere
}

/**
 * Returns whether the next worker knows an entry's change anyway: it is sent all current objects and views, but not the
 * meshes that were removed between the two workers.
 */
export function isReplayed(entry: Entry): entry is Exclude<Command, { type: 'removeMesh' }> {
  return typeof entry !== 'function' && entry.type !== 'call' && entry.type !== 'removeMesh';
}

/**
 * Returns whether an entry must stay behind a waiting frame: queries, which must see the frame, and removals of meshes,
 * which no object uses any more, but a query may.
 */
export function mustFollowFrame(entry: Entry): boolean {
  return typeof entry === 'function' || entry.type === 'removeMesh';
}
