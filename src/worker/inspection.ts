import { transfer } from '../shared/calls.js';
import type { ColouredLines } from '../shared/coloured-boxes.js';
import type { InspectRequest } from '../shared/protocol.js';
import type { InspectedBoxes, InspectedTree, Inspection } from '../shared/types.js';
import type { CoreInspector } from './binding/inspector.js';
import { coloursOf, linesOf } from './box-lines.js';
import { buffersOf } from './buffers-of.js';
import type { Slices } from './slices.js';

/** How many ways a view may see an object (`InspectedBounds`). */
const STATE_COUNT = 4;

/**
 * Smaller arrays are copied into the message: each buffer that is transferred is compared with all others of the message, which
 * takes seconds for the trees of 10,000 objects.
 */
const MIN_TRANSFER_BYTES = 1 << 16;

/**
 * Inspects the internals of a core, in slices. Meshes must be kept as they are meanwhile; `currentFrame` returns the core's
 * current frame.
 */
export async function inspect(
  inspector: CoreInspector,
  request: InspectRequest,
  slices: Slices,
  currentFrame: () => number,
): Promise<Inspection> {
  const { maxBoxes, palette, views } = request;
  const { origin: sceneOrigin, ...counts } = inspector.scene();
  const origin = request.origin ?? sceneOrigin;
  const buffers: ArrayBuffer[] = [];

  /** Adds the lines of boxes, and collects all their buffers. */
  const addLines = async <T extends InspectedBoxes>(
    listedBoxes: T,
    list?: Uint8Array,
    indexOf?: (i: number) => number,
  ): Promise<T> => {
    const result: T & ColouredLines = listedBoxes;
    if (request.lines) {
      result.lines = await slices.run(linesOf(listedBoxes.boxes, origin));
      if (list && indexOf) result.colours = await slices.run(coloursOf(listedBoxes.boxes.length / 12, list, indexOf));
    }
    buffers.push(...buffersOf(result).filter(({ byteLength }) => byteLength >= MIN_TRANSFER_BYTES));
    return result;
  };

  const answer: Inspection = { frame: currentFrame(), origin, ...counts, trees: [], cells: null, bounds: null };
  try {
    if (request.octree) {
      const cells = await slices.run(inspector.cells(maxBoxes));
      answer.cells = await addLines(cells, palette?.cells, (i) => cells.trees[i]);
    }
    if (request.bounds) {
      const bounds = await slices.run(inspector.bounds(maxBoxes, views));
      const { asleep, states } = bounds;
      answer.bounds = await addLines(bounds, palette?.states, (i) => {
        return (states[0]?.[i] ?? 0) + STATE_COUNT * (asleep[i] === 1 ? 2 : bounds.static[i]);
      });
      for (const each of states) buffers.push(each.buffer as ArrayBuffer);
    }
    for (const object of request.trees) {
      if (slices.isOver) await slices.next();
      if (!inspector.beginTree(object, request.fromLevel, request.toLevel, maxBoxes)) continue; // it was removed
      const frameAtStart = currentFrame();
      while (!inspector.stepTree(slices.end)) await slices.next();
      const tree: InspectedTree = { ...(await slices.run(inspector.readTree(object))), frame: frameAtStart };
      answer.trees.push(await addLines(tree, palette?.levels, (i) => tree.levels[i]));
    }
  } finally {
    inspector.end();
  }
  return transfer(answer, buffers);
}
