import * as layout from '../../shared/layout.js';

/** The vertices of all elements of a mesh in mesh space, as its tree has them: without the degenerate elements. */
export interface Corners {
  /** The vertices per element: 3 for triangles, 2 for lines, 1 for points. */
  size: 1 | 2 | 3;
  /** xyz of each vertex of each element. */
  positions: Float32Array<ArrayBuffer>;
  /** Where each element is in the tree: its block times the lanes of a block, plus its lane. */
  slots: Uint32Array<ArrayBuffer>;
}

/** Lanes and words per block: core/mesh/tree/layout.ts, core/point-line/layout.ts. */
const BLOCKS = { 3: { lanes: 4, words: 40 }, 2: { lanes: 8, words: 56 }, 1: { lanes: 16, words: 64 } } as const;
/** Blocks that are read between two rests: some 0.1 ms. */
const BLOCKS_PER_STEP = 2048;

/** Returns the memory in which a mesh lies, which may be a different buffer after each rest. */
export type MemoryGetter = () => ArrayBuffer;

/** Layout of a mesh's blocks in memory, and the map from tree space to mesh space. */
export interface BlockLayout {
  size: 1 | 2 | 3;
  /** The address of the first block, in words. */
  at: number;
  count: number;
  lanes: number;
  /** Words of a block. */
  words: number;
  /** Mesh space is tree space times `scale`, plus `offset`: exact in float32 (core/mesh/tree/tree-space.ts). */
  scale: number;
  offset: readonly [number, number, number];
}

/** Reads where the blocks of the mesh at an address are. */
export function blockLayout(buffer: ArrayBuffer, mesh: number): BlockLayout {
  const view = new DataView(buffer, mesh, layout.MESH_HEADER_BYTES);
  const word = (at: number) => view.getUint32(at, true);
  const float = (at: number) => view.getFloat64(at, true);
  const isPointLine = word(layout.MESH_MAGIC) === layout.POINT_LINE_MAGIC_VALUE;
  const size = isPointLine ? (word(layout.POINT_LINE_SIZE) as 1 | 2) : 3;
  return {
    size,
    // The blocks of a pose may be at any address, before or after its header.
    at: ((mesh + word(layout.MESH_BLOCKS)) >>> 0) / 4,
    count: word(layout.MESH_BLOCK_COUNT),
    ...BLOCKS[size],
    scale: 2 ** -view.getInt32(layout.MESH_EXPONENT, true),
    offset: [float(layout.MESH_OFFSET), float(layout.MESH_OFFSET + 8), float(layout.MESH_OFFSET + 16)],
  };
}

/** Reads the vertices of a mesh; it may rest after each step. */
export function* readCorners(getMemory: MemoryGetter, mesh: number): Generator<void, Corners> {
  const { size, at, count, lanes, words, scale, offset } = blockLayout(getMemory(), mesh);
  const elementCount = new DataView(getMemory(), mesh).getUint32(layout.MESH_KEPT_COUNT, true);
  const positions = new Float32Array(3 * size * elementCount);
  const slots = new Uint32Array(elementCount);
  let to = 0;
  for (let from = 0; from < count; from += BLOCKS_PER_STEP) {
    const floats = new Float32Array(getMemory());
    const numbers = new Int32Array(getMemory());
    const end = Math.min(count, from + BLOCKS_PER_STEP);
    for (let block = from; block < end; block++) {
      const first = at + block * words;
      for (let lane = 0; lane < lanes && to < elementCount; lane++) {
        const word = first + lane;
        if (numbers[word + 3 * size * lanes] < 0) continue;
        slots[to] = block * lanes + lane;
        for (let k = 0; k < 3 * size; k++) {
          positions[3 * size * to + k] = floats[word + k * lanes] * scale + offset[k % 3];
        }
        to++;
      }
    }
    yield;
  }
  return { size, positions, slots };
}
