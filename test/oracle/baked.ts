import * as layout from '../../src/shared/layout.js';

// Where things are in a node and in a block of a baked mesh: src/worker/core/mesh/tree/layout.ts.
export const NODE_LOW = [0, 8, 16]; // u8 × 4 an axis
export const NODE_HIGH = [4, 12, 20];
export const NODE_QUATERNION = 24; // i16 × 4
export const NODE_ORIGIN = 32; // f32 × 3
export const NODE_CHILDREN = 44; // u32
export const NODE_SCALE = 48; // f32 × 3
export const NODE_BLOCKS = 60; // u32
const BLOCK_TRIANGLES = 144; // i32 × 4
/** The bit that is set in both link words. */
const FLOAT = 0x40000000;
/** In front of the number of a triangle that has no area for the time being. */
export const FLAT = 0x80000000;

/** What a node says of its children: so many, the first `inner` of them nodes from there on, the others blocks. */
export interface Links {
  count: number;
  inner: number;
  firstNode: number;
  firstBlock: number;
}

/** A baked mesh to be looked into and tampered with. */
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

  /** The others stay as they are. */
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

  /** The nodes whose links are like that. */
  nodesWhere(test: (links: Links, node: number) => boolean): number[] {
    return [...Array(this.nodeCount).keys()].filter((node) => test(this.links(node), node));
  }

  /** What a forger does last. */
  seal(): this {
    return this.setWord(layout.MESH_CHECKSUM, checksumOf(this.buffer));
  }
}

/** As src/worker/core/mesh/tree/checksum.ts describes it; whole words of the buffer. */
export function checksumOf(buffer: ArrayBuffer): number {
  const bytes = buffer.byteLength;
  const view = new DataView(buffer);
  const lanes = Uint32Array.from({ length: 16 }, (_, i) => i);
  let at = layout.MESH_CHECKED;
  for (; at + 64 <= bytes; at += 64) {
    for (let i = 0; i < 16; i++) {
      const sum = (lanes[i] + Math.imul(view.getUint32(at + 4 * i, true), 2246822519)) | 0;
      lanes[i] = Math.imul((sum << 13) | (sum >>> 19), 2654435761);
    }
  }
  let hash = bytes | 0;
  const absorb = (word: number) => {
    const sum = (hash + Math.imul(word, 3266489917)) | 0;
    hash = Math.imul((sum << 17) | (sum >>> 15), 668265263);
  };
  for (const lane of lanes) absorb(lane);
  for (; at + 4 <= bytes; at += 4) absorb(view.getUint32(at, true));
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return (hash ^ (hash >>> 13)) >>> 0;
}
