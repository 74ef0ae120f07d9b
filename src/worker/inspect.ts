import { transfer } from 'comlink';
import { PRECISION_OBB, SIDE_DOUBLE } from '../shared/layout.js';
import type { InspectRequest, ViewRecord } from '../shared/protocol.js';
import type { Inspection } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { FoundBoxes } from './binding/inspect.js';

const NO_BOXES: FoundBoxes = {
  isCutOff: false,
  frames: new Float32Array(),
  owners: new Uint32Array(),
  levels: new Uint8Array(),
  counts: new Uint32Array(),
  kinds: new Uint8Array(),
};
/** The octree of moving objects. */
const MOVING = 1;
/** Corners of a box that an edge joins: bit k of a corner is its side along axis k. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

/** Looks into a core. Everything that is answered is transferred. */
export function inspect(core: Core, request: InspectRequest, frame: number): Inspection {
  const { octree, bounds, objects, levels, maxBoxes, lines, view } = request;
  const { inspection } = core;
  const origin = inspection.origin();
  const tree = objects.length === 0 ? NO_BOXES : inspection.trees(objects, levels, maxBoxes, origin);
  const cell = octree ? inspection.cells(levels, maxBoxes, origin) : NO_BOXES;
  const bound = bounds ? inspection.bounds(maxBoxes, origin) : NO_BOXES;
  const answer: Inspection = {
    origin,
    trees: {
      ...boxesOf(tree, lines),
      objects: tree.owners.slice(),
      counts: tree.counts.slice(),
      leaves: tree.kinds.slice(),
    },
    cells: { ...boxesOf(cell, lines), counts: cell.counts.slice(), moving: areMoving(cell) },
    bounds: {
      ...boxesOf(bound, lines),
      objects: bound.owners.slice(),
      moving: areMoving(bound),
      states: statesOf(core, bound.owners, view),
    },
    frame,
  };
  const parts = [answer.trees, answer.cells, answer.bounds].flatMap((part) => Object.values(part));
  return transfer(
    answer,
    parts.filter(ArrayBuffer.isView).map(({ buffer }) => buffer as ArrayBuffer),
  );
}

function boxesOf({ isCutOff, frames, levels }: FoundBoxes, lines: boolean) {
  const count = levels.length;
  return {
    count,
    isCutOff,
    frames: frames.slice(),
    lines: lines ? edgesOf(frames) : new Float32Array(),
    levels: levels.slice(),
  };
}

function edgesOf(frames: Float32Array): Float32Array<ArrayBuffer> {
  const ends = new Float32Array(6 * frames.length);
  const corners = new Float32Array(24);
  for (let at = 0, to = 0; at < frames.length; at += 12) {
    for (let corner = 0; corner < 8; corner++) {
      const [x, y, z] = [corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1];
      for (let k = 0; k < 3; k++) {
        corners[3 * corner + k] =
          x * frames[at + k] + y * frames[at + 3 + k] + z * frames[at + 6 + k] + frames[at + 9 + k];
      }
    }
    for (const corner of EDGES) for (let k = 0; k < 3; k++) ends[to++] = corners[3 * corner + k];
  }
  return ends;
}

function areMoving({ kinds }: FoundBoxes): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(kinds, (kind) => Number(kind === MOVING));
}

/** What a view makes of objects: 0 outside, 1 crossing, 2 inside. */
function statesOf(core: Core, objects: Uint32Array, view: ViewRecord | null): Uint8Array<ArrayBuffer> {
  const states = new Uint8Array(objects.length);
  if (view === null || objects.length === 0) return states;
  const everything = { layers: 0xffffffff, side: SIDE_DOUBLE, precision: PRECISION_OBB, ignore: new Uint32Array() };
  const { ids, inside } = core.queries.frustum(view, everything);
  const stateOf = new Map(Array.from(ids, (id, i) => [id, i < inside ? 2 : 1]));
  for (const [i, id] of objects.entries()) states[i] = stateOf.get(id) ?? 0;
  return states;
}
