import { transfer } from 'comlink';
import type { ColouredLines, InspectRequest } from '../shared/protocol.js';
import type { InspectedBoxes, InspectedTree, Inspection } from '../shared/types.js';
import type { CoreInspector } from './binding/inspector.js';
import { coloursOf, linesOf } from './box-lines.js';
import { Slices } from './slices.js';

/** How a view may see an object (`InspectedBounds`). */
const STATES = 4;

/**
 * Answers what is asked about the insides of a core. Trees are listed in slices; `frame` answers the frame of the core as
 * it is, `pause` has messages served.
 */
export async function inspect(
  inspector: CoreInspector,
  request: InspectRequest,
  frame: () => number,
  pause: () => Promise<void>,
): Promise<Inspection> {
  const { maxBoxes, palette } = request;
  const { origin: middle, ...numbers } = inspector.scene();
  const origin = request.origin ?? middle;
  const buffers: ArrayBufferLike[] = [];

  /** Gives boxes their lines, and hands over all their arrays. */
  const draw = <T extends InspectedBoxes>(found: T, list?: Uint8Array, indexOf?: (i: number) => number): T => {
    const drawn: T & ColouredLines = found;
    if (request.lines) {
      drawn.lines = linesOf(found.boxes, origin);
      if (list && indexOf) drawn.colours = coloursOf(found.boxes.length / 12, list, indexOf);
    }
    for (const value of Object.values(drawn).flat()) if (ArrayBuffer.isView(value)) buffers.push(value.buffer);
    return drawn;
  };

  const answer: Inspection = { frame: frame(), origin, ...numbers, trees: [], cells: null, bounds: null };
  if (request.octree) {
    const cells = inspector.cells(maxBoxes);
    answer.cells = draw(cells, palette?.cells, (i) => cells.trees[i]);
  }
  if (request.bounds) {
    const bounds = inspector.bounds(maxBoxes, request.views);
    const [states] = bounds.states;
    answer.bounds = draw(bounds, palette?.states, (i) => (states?.[i] ?? 0) + STATES * bounds.static[i]);
  }
  const slices = new Slices(pause);
  for (const object of request.trees) {
    if (slices.isOver) await slices.next();
    const found = inspector.tree(object, request.fromLevel, request.toLevel, maxBoxes);
    if (found === null) continue; // it is gone
    const tree: InspectedTree = { ...found, frame: frame() };
    answer.trees.push(draw(tree, palette?.levels, (i) => tree.levels[i]));
  }
  return transfer(answer, buffers as ArrayBuffer[]);
}
