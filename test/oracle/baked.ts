import * as layout from '../../src/shared/layout.js';

// Offsets in a node and in a block of a baked mesh: src/worker/core/mesh/tree/layout.ts.
export const NODE_MIN = [0, 8, 16]; // u8 × 4 per axis
export const NODE_MAX = [4, 12, 20];
export const NODE_QUATERNION = 24; // i16 × 4
export const NODE_ORIGIN = 32; // f32 × 3
export const NODE_CHILDREN = 44; // u32
export const NODE_SCALE = 48; // f32 × 3
export const NODE_BLOCKS = 60; // u32
const BLOCK_TRIANGLES = 144; // i32 × 4
// Offsets in the derived data: src/worker/core/mesh/topology/derived-layout.ts.
export const DERIVED_BYTES = 0; // u32, like all of these
export const DERIVED_CONVEX = 4;
export const DERIVED_FAR_COUNT = 8;
export const DERIVED_PART_COUNT = 12;
export const DERIVED_CLUSTER_COUNT = 16;
const DERIVED_HEADER_BYTES = 32;
// Offsets in the deformation data: src/worker/core/mesh/tree/deform-layout.ts.
export const DEFORM_VERTEX_COUNT = 0; // u32, like the next ones
export const DEFORM_BONE_COUNT = 4;
export const DEFORM_TARGET_COUNT = 8;
export const DEFORM_REACH = 12; // f32, like the next ones
export const DEFORM_MIN_REST = 16;
export const DEFORM_MAX_REST = 20;
export const DEFORM_ABSOLUTE = 24; // u32
export const DEFORM_PAD = 28; // u32
const DEFORM_BYTES = 32;
export const BONE_HIT_MIN = 96; // f64 × 3
export const BONE_HIT_MAX = 120; // f64 × 3
export const BONE_USED = 144; // u32
export const BONE_HAS_HIT = 148; // u32
export const BONE_PAD = 152; // u32 × 2
const BONE_BOX_BYTES = 160;
const TARGET_RANGE_BYTES = 32;
const DIPOLE_BYTES = 64;
const FAR_NEIGHBOUR = -32768;
/** This bit is set in both link words. */
const FLOAT = 0x40000000;
/** Flag in the number of a triangle that currently has no area. */
export const FLAT = 0x80000000;

/** The links of a node: this many children from there on, of which the first `inner` are nodes and the others blocks. */
export interface Links {
  count: number;
  inner: number;
  firstNode: number;
  firstBlock: number;
}

/** A baked mesh whose contents tests can read and tamper with. */
export class BakedMesh {
  readonly buffer: ArrayBuffer;
  readonly view: DataView;

  constructor(baked: ArrayBuffer) {
    this.buffer = baked.slice(0);
    this.view = new DataView(this.buffer);
  }

  word(offset: number): number {
    return this.view.getUint32(offset, true);
  }

  setWord(offset: number, value: number): this {
    this.view.setUint32(offset, value, true);
    return this;
  }

  get nodeCount(): number {
    return this.word(layout.MESH_NODE_COUNT);
  }

  get blockCount(): number {
    return this.word(layout.MESH_BLOCK_COUNT);
  }

  nodeAt(node: number): number {
    const nodes = this.word(layout.MESH_NODES);
    return nodes + (node * (this.word(layout.MESH_BLOCKS) - nodes)) / this.nodeCount;
  }

  links(node: number): Links {
    const children = this.word(this.nodeAt(node) + NODE_CHILDREN);
    return {
      count: 1 + ((children >>> 24) & 3),
      inner: (children >>> 26) & 7,
      firstNode: children & 0xffffff,
      firstBlock: this.word(this.nodeAt(node) + NODE_BLOCKS) & 0x1fffffff,
    };
  }

  /** Changes some links and keeps the others. */
  setLinks(node: number, change: Partial<Links>): this {
    const { count, inner, firstNode, firstBlock } = { ...this.links(node), ...change };
    this.setWord(this.nodeAt(node) + NODE_CHILDREN, FLOAT | (inner << 26) | ((count - 1) << 24) | firstNode);
    return this.setWord(this.nodeAt(node) + NODE_BLOCKS, FLOAT | firstBlock);
  }

  blockAt(block: number): number {
    const blocks = this.word(layout.MESH_BLOCKS);
    return blocks + (block * (this.word(layout.MESH_INDICES) - blocks)) / this.blockCount;
  }

  triangleAt(block: number, lane: number): number {
    return this.blockAt(block) + BLOCK_TRIANGLES + 4 * lane;
  }

  get lastIndexAt(): number {
    return this.word(layout.MESH_INDICES) + 12 * this.word(layout.MESH_TRIANGLE_COUNT) - 4;
  }

  /** Byte offset of a word in the header of the deformation data. */
  deformAt(offset: number): number {
    return this.word(layout.MESH_DIPOLES) + DIPOLE_BYTES * this.nodeCount + offset;
  }

  /** Byte offset of the first vertex at rest: four f32 each. */
  get restAt(): number {
    return this.deformAt(DEFORM_BYTES);
  }

  /** Byte offset of the weights of the first vertex: four f32 each. */
  get weightsAt(): number {
    return this.restAt + 16 * this.#deformWord(DEFORM_VERTEX_COUNT);
  }

  /** Byte offset of the bones of the first vertex: four u16 each. */
  get bonesAt(): number {
    return this.weightsAt + 16 * this.#deformWord(DEFORM_VERTEX_COUNT);
  }

  /** Byte offset of the box of a bone. */
  boneBoxAt(bone: number): number {
    return this.bonesAt + align16(8 * this.#deformWord(DEFORM_VERTEX_COUNT)) + BONE_BOX_BYTES * bone;
  }

  /** Byte offset of the range of a target: six f32, for a mesh with bones. */
  targetRangeAt(target: number): number {
    return this.boneBoxAt(this.#deformWord(DEFORM_BONE_COUNT)) + TARGET_RANGE_BYTES * target;
  }

  /** Byte offset of the displacements of all targets: three f32 per vertex. */
  get shiftsAt(): number {
    return this.targetRangeAt(this.#deformWord(DEFORM_TARGET_COUNT));
  }

  /** Byte offset of the positions of all targets. */
  get placesAt(): number {
    const shifts = 12 * this.#deformWord(DEFORM_VERTEX_COUNT) * this.#deformWord(DEFORM_TARGET_COUNT);
    return this.shiftsAt + align16(shifts + 16);
  }

  #deformWord(offset: number): number {
    return this.word(this.deformAt(offset));
  }

  /** Byte offset of a word in the derived data. */
  derivedAt(offset: number): number {
    return this.word(layout.MESH_DERIVED) + offset;
  }

  /** Byte offset of the distance to the neighbour across an edge: i16. */
  neighbourAt(slot: number, edge: number): number {
    return this.derivedAt(DERIVED_HEADER_BYTES + 6 * slot + 2 * edge);
  }

  get farAt(): number {
    return this.derivedAt(DERIVED_HEADER_BYTES + align16(24 * this.blockCount));
  }

  get partsAt(): number {
    return this.farAt + align16(8 * this.word(this.derivedAt(DERIVED_FAR_COUNT)));
  }

  get hullAt(): number {
    return this.partsAt + align16(4 * this.word(this.derivedAt(DERIVED_PART_COUNT)));
  }

  /** The slot of the neighbour across an edge; -1 if there is none. */
  neighbour(slot: number, edge: number): number {
    const delta = this.view.getInt16(this.neighbourAt(slot, edge), true);
    if (delta === 0) return -1;
    if (delta !== FAR_NEIGHBOUR) return slot + delta;
    for (let at = this.farAt; ; at += 8) if (this.word(at) === 4 * slot + edge) return this.word(at + 4);
  }

  /** One slot of each connected part. */
  get parts(): number[] {
    const count = this.word(this.derivedAt(DERIVED_PART_COUNT));
    return Array.from({ length: count }, (_, i) => this.word(this.partsAt + 4 * i));
  }

  get isConvex(): boolean {
    return this.word(this.derivedAt(DERIVED_CONVEX)) === 1;
  }

  /** The triangle in a slot; negative if it is empty. */
  triangleIn(slot: number): number {
    return this.word(this.triangleAt(slot >> 2, slot & 3)) | 0;
  }

  /** The nodes whose links satisfy a predicate. */
  nodesWhere(test: (links: Links, node: number) => boolean): number[] {
    return [...Array(this.nodeCount).keys()].filter((node) => test(this.links(node), node));
  }

  /** The last step of a forger: makes the checksum valid. */
  seal(): this {
    return this.setWord(layout.MESH_CHECKSUM, checksumOf(this.buffer));
  }
}

function align16(bytes: number): number {
  return Math.ceil(bytes / 16) * 16;
}

/** The checksum as described in src/worker/core/mesh/tree/checksum.ts, over whole words of the buffer. */
export function checksumOf(buffer: ArrayBuffer): number {
  const bytes = buffer.byteLength;
  const view = new DataView(buffer);
  const vectors = Uint32Array.from({ length: 16 }, (_, i) => i);
  const sums = new Uint32Array(16);
  const shifted = new Uint32Array(16);
  let at = layout.MESH_CHECKED;
  for (; at + 64 <= bytes; at += 64) {
    for (let i = 0; i < 16; i++) {
      const [next, nextButOne] = [(i & 12) | ((i + 1) & 3), (i & 12) | ((i + 2) & 3)];
      shifted[i] = (vectors[next] >>> 8) | (vectors[nextButOne] << 24);
    }
    for (let i = 0; i < 16; i++) {
      vectors[i] = shifted[i] + view.getUint32(at + 4 * i, true);
      sums[i] += vectors[i];
    }
  }
  let hash = bytes | 0;
  const absorb = (word: number) => {
    const sum = (hash + Math.imul(word, 3266489917)) | 0;
    hash = Math.imul((sum << 17) | (sum >>> 15), 668265263);
  };
  for (const word of [...vectors, ...sums]) absorb(word);
  for (; at + 4 <= bytes; at += 4) absorb(view.getUint32(at, true));
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return (hash ^ (hash >>> 13)) >>> 0;
}
