import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_REVERSED, VIEW_VIEWPORT } from '../../shared/layout.js';

const PROJECTION = VIEW_PROJECTION / 8;
const VIEW = VIEW_MATRIX / 8;
const VIEWPORT = VIEW_VIEWPORT / 8;

/** More than any viewport has: the worker counts 64ths of a pixel, which would overflow to Infinity for the largest radius. */
const MAX_PIXELS = 1e13;

/** Returns the `drawing` of a SnapRequest for a cursor in a view: plain numbers, and fewer than the view's record has. */
export function snapDrawing(
  { record, floats }: { record: Uint32Array; floats: Float64Array },
  px: number,
  py: number,
  radius: number,
): number[] {
  const left = floats[VIEWPORT];
  const top = floats[VIEWPORT + 1];
  const width = floats[VIEWPORT + 2];
  const height = floats[VIEWPORT + 3];
  const cursorX = ((px - left) / width) * 2 - 1;
  const cursorY = 1 - ((py - top) / height) * 2;
  const drawing: number[] = [];
  for (let column = 0; column < 4; column++) {
    drawing.push(
      (viewProjectionEntry(floats, 0, column) - cursorX * viewProjectionEntry(floats, 3, column)) * (width / 2),
    );
  }
  for (let column = 0; column < 4; column++) {
    drawing.push(
      (viewProjectionEntry(floats, 1, column) - cursorY * viewProjectionEntry(floats, 3, column)) * (height / 2),
    );
  }
  for (let column = 0; column < 4; column++) drawing.push(viewProjectionEntry(floats, 3, column));
  // One end of the depth range is at z = w, the other at z = -w or z = 0.
  const weight = record[VIEW_DEPTH / 4] === 1 ? 0 : 1;
  const isReversed = record[VIEW_REVERSED / 4] === 1;
  for (const isEndAtW of [isReversed, !isReversed]) {
    for (let column = 0; column < 4; column++) {
      const z = viewProjectionEntry(floats, 2, column);
      const w = viewProjectionEntry(floats, 3, column);
      drawing.push(isEndAtW ? w - z : z + weight * w);
    }
  }
  drawing.push(left - px, py - top - height, left + width - px, py - top, Math.min(radius, MAX_PIXELS));
  return drawing;
}

/** Returns an entry of projection · view. */
function viewProjectionEntry(floats: Float64Array, row: number, column: number): number {
  const at = VIEW + 4 * column;
  const sum =
    floats[PROJECTION + row] * floats[at] +
    floats[PROJECTION + 4 + row] * floats[at + 1] +
    floats[PROJECTION + 8 + row] * floats[at + 2];
  return column === 3 ? sum + floats[PROJECTION + 12 + row] : sum;
}
