import * as layout from '../../shared/layout.js';
import type { Filter, ViewRecord } from '../../shared/protocol.js';
import type { InspectedBounds, InspectedCells, InspectedTree, ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { CoreQueries } from './queries.js';

/** What `inspectTree` answers: core/scene/inspect/tree-boxes.ts. */
const NO_OBJECT = 0;
const CUT = 2;
/** The core's trees by their numbers (core/scene/index/octree.ts), as they are said outside. */
const TREES = [1, 0, 2];
const TOPOLOGIES = [null, 'points', 'lines', 'triangles'] as const;

const ALL: Filter = {
  layers: 0xffffffff,
  side: layout.SIDE_OWN,
  precision: layout.PRECISION_OBB,
  ignore: new Uint32Array(),
};

/** The boxes that the core holds, and the four words about each. */
interface Found {
  boxes: Float64Array<ArrayBuffer>;
  words: Uint32Array<ArrayBuffer>[];
}

export interface SceneNumbers {
  objects: number;
  moving: number;
  static: number;
  passive: number;
  cellCount: number;
  origin: Vec3;
}

/** Lists what a core holds as boxes. Each answer is of the objects as they are now. */
export class CoreInspector {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queries: CoreQueries;

  constructor(exports: CoreExports, memory: CoreMemory, queries: CoreQueries) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queries = queries;
  }

  scene(): SceneNumbers {
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

  /** Lists the boxes of an object's tree; null where it is not alive. */
  tree(object: ObjectId, fromLevel: number, toLevel: number, most: number): Omit<InspectedTree, 'frame'> | null {
    return this.#freeing(() => {
      const answer = this.#exports.inspectTree(object, fromLevel, toLevel, most);
      if (answer === NO_OBJECT) return null;
      const { boxes, words } = this.#found();
      const { view } = this.#memory;
      const at = this.#exports.inspectedMesh() >>> 0;
      const count = (offset: number): number => view.getUint32(at + offset, true);
      const elementCount = this.#exports.inspectedElementCount() >>> 0;
      const leafElements = this.#memory.uint32s(this.#exports.inspectedElements() >>> 0, elementCount);
      const leafStart = new Uint32Array(words[2].length + 1);
      for (let i = 0; i < words[3].length; i++) leafStart[i + 1] = leafStart[i] + words[3][i];
      return {
        object,
        topology: TOPOLOGIES[count(layout.INSPECTED_MESH_TOPOLOGY)],
        nodes: count(layout.INSPECTED_MESH_NODES),
        leaves: count(layout.INSPECTED_MESH_BLOCKS),
        depth: count(layout.INSPECTED_MESH_DEPTH),
        elements: count(layout.INSPECTED_MESH_ELEMENTS),
        bytes: count(layout.INSPECTED_MESH_BYTES),
        poseBytes: count(layout.INSPECTED_MESH_POSE_BYTES),
        boxes,
        cut: answer === CUT,
        levels: Uint8Array.from(words[0]),
        parents: Int32Array.from(words[1]),
        leafStart,
        leafElements,
      };
    });
  }

  cells(most: number): InspectedCells {
    return this.#freeing(() => {
      const cut = this.#exports.inspectCells(most) !== 0;
      const { boxes, words } = this.#found();
      return {
        boxes,
        cut,
        levels: Uint8Array.from(words[0]),
        parents: Int32Array.from(words[1]),
        counts: words[2],
        trees: Uint8Array.from(words[3], (tree) => TREES[tree]),
      };
    });
  }

  /** Lists the bounds of objects, and how each view sees them. */
  bounds(most: number, views: readonly ViewRecord[]): InspectedBounds {
    const bounds = this.#freeing(() => {
      const cut = this.#exports.inspectBounds(most) !== 0;
      const { boxes, words } = this.#found();
      return { boxes, cut, ids: words[0], static: Uint8Array.from(words[1]) };
    });
    return { ...bounds, states: views.map((view) => this.#statesOf(bounds.ids, view)) };
  }

  #statesOf(ids: Uint32Array, view: ViewRecord): Uint8Array {
    const states = new Uint8Array(ids.length);
    const seen = this.#queries.frustum(view, ALL);
    // Both ascend: a walk along both at once.
    const mark = (among: ArrayLike<ObjectId>, state: number): void => {
      for (let i = 0, k = 0; i < ids.length && k < among.length; i++) {
        if (ids[i] === among[k]) {
          states[i] = state;
          k++;
        }
      }
    };
    mark(seen.ids.subarray(0, seen.inside), 2);
    mark(seen.ids.subarray(seen.inside), 1);
    mark(seen.occluded, 3);
    return states;
  }

  #found(): Found {
    const count = this.#exports.inspectedBoxCount() >>> 0;
    const at = this.#exports.inspectedBoxes() >>> 0;
    const { floats, words: memoryWords } = this.#memory;
    const boxes = new Float64Array(12 * count);
    const words = [0, 1, 2, 3].map(() => new Uint32Array(count));
    for (let i = 0; i < count; i++) {
      const record = at + i * layout.INSPECTED_BYTES;
      const from = (record + layout.INSPECTED_FRAME) / 8;
      for (let k = 0; k < 12; k++) boxes[12 * i + k] = floats[from + k];
      const about = (record + layout.INSPECTED_WORDS) / 4;
      for (let k = 0; k < 4; k++) words[k][i] = memoryWords[about + k];
    }
    return { boxes, words };
  }

  /** Runs work that makes the core hold boxes, and has it give these back. */
  #freeing<T>(work: () => T): T {
    try {
      return work();
    } finally {
      this.#exports.freeInspected();
    }
  }
}
