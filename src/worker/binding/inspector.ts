import * as layout from '../../shared/layout.js';
import type { Filter, ViewRecord } from '../../shared/protocol.js';
import type { InspectedBounds, InspectedCells, InspectedTree, ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { runToEnd } from './steps.js';
import type { CoreVolumes, FrustumIds } from './volumes.js';

/** Return values of `stepTreeListing`: core/scene/inspect/tree-boxes.ts. */
const UNFINISHED = 0;
const TRUNCATED = 2;
/** Public tree numbers by the core's tree numbers (core/scene/index/octree.ts). */
const PUBLIC_TREES = [1, 0, 2];
const TOPOLOGIES = [null, 'points', 'lines', 'triangles'] as const;

const ALL_OBJECTS: Filter = {
  layers: 0xffffffff,
  side: layout.SIDE_OWN,
  precision: layout.PRECISION_OBB,
  ignore: new Uint32Array(),
};

/** The boxes that the core has listed, and the four words of each. */
interface ListedBoxes {
  boxes: Float64Array<ArrayBuffer>;
  words: Uint32Array<ArrayBuffer>[];
}

export interface SceneSummary {
  objects: number;
  moving: number;
  static: number;
  passive: number;
  cellCount: number;
  origin: Vec3;
}

/** This many boxes are copied between two readings of the clock. */
export const BOXES_PER_STEP = 1024;

/**
 * Lists the contents of a core as boxes. Only one list is under way at a time: it is begun, stepped through if it may take
 * long, and read; then `end` frees the core's memory of it. A generator that reads a list may rest between its steps for
 * other work.
 */
export class CoreInspector {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #volumes: CoreVolumes;

  constructor(exports: CoreExports, memory: CoreMemory, volumes: CoreVolumes) {
    this.#exports = exports;
    this.#memory = memory;
    this.#volumes = volumes;
  }

  scene(): SceneSummary {
    const at = this.#exports.inspectScene() >>> 0;
    const { view } = this.#memory;
    const count = (offset: number): number => view.getUint32(at + offset, true);
    const coordinate = (axis: number): number => view.getFloat64(at + layout.INSPECTED_SCENE_ORIGIN + 8 * axis, true);
    const passive = count(layout.INSPECTED_SCENE_PASSIVE);
    return {
      objects: count(layout.INSPECTED_SCENE_OBJECTS),
      moving: count(layout.INSPECTED_SCENE_MOVING),
      static: count(layout.INSPECTED_SCENE_STATIC) + passive,
      passive,
      cellCount: count(layout.INSPECTED_SCENE_CELLS),
      origin: [coordinate(0), coordinate(1), coordinate(2)],
    };
  }

  /** Begins to list the boxes of an object's tree as it is now. Returns false if the object is not alive. */
  beginTree(object: ObjectId, fromLevel: number, toLevel: number, maxBoxes: number): boolean {
    return this.#exports.beginTreeListing(object, fromLevel, toLevel, maxBoxes) !== 0;
  }

  /** Begins to list the boxes of the tree of the mesh at an address, in mesh space, from level 1 on. */
  beginMesh(mesh: number, toLevel: number, maxBoxes: number): void {
    this.#exports.beginMeshListing(mesh, toLevel, maxBoxes);
  }

  /** Lists until a point in time. Returns whether everything is listed. The mesh must be kept until then. */
  stepTree(deadline: number): boolean {
    return this.#exports.stepTreeListing(deadline) !== UNFINISHED;
  }

  /** Copies the listed tree. */
  *readTree(object: ObjectId): Generator<void, Omit<InspectedTree, 'frame'>> {
    const isTruncated = this.#exports.stepTreeListing(0) === TRUNCATED;
    const at = this.#exports.inspectedMesh() >>> 0;
    const count = (offset: number): number => this.#memory.view.getUint32(at + offset, true);
    const info = {
      object,
      topology: TOPOLOGIES[count(layout.INSPECTED_MESH_TOPOLOGY)],
      nodes: count(layout.INSPECTED_MESH_NODES),
      leaves: count(layout.INSPECTED_MESH_BLOCKS),
      depth: count(layout.INSPECTED_MESH_DEPTH),
      elements: count(layout.INSPECTED_MESH_ELEMENTS),
      bytes: count(layout.INSPECTED_MESH_BYTES),
      poseBytes: count(layout.INSPECTED_MESH_POSE_BYTES),
      cut: isTruncated,
    };
    const elementCount = this.#exports.inspectedElementCount() >>> 0;
    const leafElements = this.#memory.copyWords(this.#exports.inspectedElements() >>> 0, elementCount);
    const { boxes, words } = yield* this.#readBoxes();
    const leafStart = new Uint32Array(words[2].length + 1);
    for (let i = 0; i < words[3].length; i++) leafStart[i + 1] = leafStart[i] + words[3][i];
    return {
      ...info,
      boxes,
      levels: new Uint8Array(words[0]),
      parents: new Int32Array(words[1].buffer),
      leafStart,
      leafElements,
    };
  }

  /** Lists the cells of the octrees as they are now. The first step is not interruptible. */
  *cells(maxBoxes: number): Generator<void, InspectedCells> {
    const cut = this.#exports.inspectCells(maxBoxes) !== 0;
    const { boxes, words } = yield* this.#readBoxes();
    return {
      boxes,
      cut,
      levels: new Uint8Array(words[0]),
      parents: new Int32Array(words[1].buffer),
      counts: words[2],
      trees: new Uint8Array(words[3].map((tree) => PUBLIC_TREES[tree])),
    };
  }

  /** Lists the bounds of objects as they are now, and how each view sees them. The first step is not interruptible. */
  *bounds(maxBoxes: number, views: readonly ViewRecord[]): Generator<void, InspectedBounds> {
    const cut = this.#exports.inspectBounds(maxBoxes) !== 0;
    const visibleSets = views.map((view) => runToEnd(this.#volumes.frustum(view, ALL_OBJECTS)));
    const { boxes, words } = yield* this.#readBoxes();
    const [ids, isStatic, , isAsleep] = words;
    return {
      boxes,
      cut,
      ids,
      static: new Uint8Array(isStatic),
      asleep: new Uint8Array(isAsleep),
      states: visibleSets.map((each) => statesOf(ids, each)),
    };
  }

  /** Frees the core's memory of the list. */
  end(): void {
    this.#exports.endInspection();
  }

  /** Copies the listed boxes. */
  *#readBoxes(): Generator<void, ListedBoxes> {
    const count = this.#exports.inspectedBoxCount() >>> 0;
    const at = this.#exports.inspectedBoxes() >>> 0;
    const boxes = new Float64Array(12 * count);
    const words = [0, 1, 2, 3].map(() => new Uint32Array(count));
    for (let first = 0; first < count; first += BOXES_PER_STEP) {
      if (first > 0) yield;
      // The memory may have grown since.
      const { floats, words: memoryWords } = this.#memory;
      for (let i = first; i < Math.min(count, first + BOXES_PER_STEP); i++) {
        const record = at + i * layout.INSPECTED_BYTES;
        const from = (record + layout.INSPECTED_FRAME) / 8;
        for (let k = 0; k < 12; k++) boxes[12 * i + k] = floats[from + k];
        const wordsAt = (record + layout.INSPECTED_WORDS) / 4;
        for (let k = 0; k < 4; k++) words[k][i] = memoryWords[wordsAt + k];
      }
    }
    return { boxes, words };
  }
}

/** Returns how a view sees objects, given in ascending order: 0 outside, 1 crossing, 2 inside, 3 occluded. */
function statesOf(ids: Uint32Array, visible: FrustumIds): Uint8Array {
  const states = new Uint8Array(ids.length);
  // Both lists ascend, so they are merged.
  const mark = (members: ArrayLike<ObjectId>, state: number): void => {
    for (let i = 0, k = 0; i < ids.length && k < members.length; i++) {
      if (ids[i] === members[k]) {
        states[i] = state;
        k++;
      }
    }
  };
  mark(visible.ids.subarray(0, visible.inside), 2);
  mark(visible.ids.subarray(visible.inside), 1);
  mark(visible.occluded, 3);
  return states;
}
