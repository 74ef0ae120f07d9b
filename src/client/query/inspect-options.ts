import type { BoxPalette } from '../../shared/coloured-boxes.js';
import type { InspectRequest } from '../../shared/protocol.js';
import type { InspectOptions } from '../../shared/types.js';
import { checkSignal } from '../check/signal.js';
import { checkBoolean, checkInteger, checkVec3, guardRead, readOptions, throwInvalid } from '../check/validate.js';
import type { ViewTable } from '../frame/view-table.js';
import type { ObjectStore } from '../scene/object-store.js';
import { checkIds } from './query-options.js';

const INSPECT_KEYS = ['octree', 'objects', 'levels', 'bounds', 'views', 'maxBoxes', 'lines', 'origin', 'signal'];
/** Additional options of the three adapter. */
const PALETTE_KEYS = ['palette'];
/** No tree is deeper (core/mesh/tree/layout.ts, MAX_DEPTH). */
const MAX_LEVEL = 255;
const MAX_BOXES = 1_048_576;
const DEFAULT_MAX_BOXES = 65_536;
const MAX_VIEWS = 1000;

/** Additional options of the three adapter. */
export interface AdapterInspect {
  /** The colours of lines. */
  palette?: BoxPalette;
}

/** Reads the options of an inspection. */
export function readInspection(
  operation: string,
  options: (InspectOptions & AdapterInspect) | undefined,
  objects: ObjectStore,
  viewTable: ViewTable,
): { request: InspectRequest; signal: AbortSignal | undefined } {
  const given = readOptions(operation, 'options', options, INSPECT_KEYS, PALETTE_KEYS);
  const { octree = false, bounds = false, lines = false, levels = [0, Infinity], views = [], signal, palette } = given;
  const { maxBoxes = DEFAULT_MAX_BOXES } = given;
  checkBoolean(operation, 'octree', octree);
  checkBoolean(operation, 'bounds', bounds);
  checkBoolean(operation, 'lines', lines);
  checkSignal(operation, signal);
  checkInteger(operation, 'maxBoxes', maxBoxes, 1, MAX_BOXES);
  const [fromLevel, toLevel] = checkLevels(operation, levels);
  const names = guardRead(operation, 'views', () => {
    if (!Array.isArray(views)) throwInvalid(operation, 'views', views, 'an array of names of views');
    // Turns holes into undefined, which is not a name.
    return Array.from(Array.prototype.slice.call(views, 0, MAX_VIEWS + 1) as string[]);
  });
  if (names.length > MAX_VIEWS) throwInvalid(operation, 'the length of views', names.length, `at most ${MAX_VIEWS}`);
  const records = names.map((name, i) => viewTable.get(operation, `views[${i}]`, name).record.slice());
  const trees = checkIds(operation, 'objects', given.objects ?? [], objects);
  const origin = given.origin === undefined ? undefined : checkVec3(operation, 'origin', given.origin);
  const request = { octree, bounds, trees, fromLevel, toLevel, maxBoxes, views: records, lines, origin, palette };
  return { request, signal };
}

function checkLevels(operation: string, levels: readonly [number, number]): [number, number] {
  return guardRead(operation, 'levels', () => {
    const expected = 'two whole numbers >= 0, the second no less than the first, or Infinity';
    if (!Array.isArray(levels) || levels.length !== 2) throwInvalid(operation, 'levels', levels, expected);
    const [from, to] = levels;
    const isLevel = (level: unknown): boolean => Number.isInteger(level) || level === Number.POSITIVE_INFINITY;
    if (!Number.isInteger(from) || !isLevel(to) || from < 0 || to < from) {
      throwInvalid(operation, 'levels', levels, expected);
    }
    return [Math.min(from, MAX_LEVEL), Math.min(to, MAX_LEVEL)];
  });
}
