import * as layout from '../../src/shared/layout.js';

// Where things are in a node and in a block of a baked mesh: src/worker/core/mesh/layout.ts.
const NODE_CHILDREN = 96; // u32 × 4
const NODE_ROTATED = 120; // u32
const NODE_COVERED = 124; // u32
const BLOCK_TRIANGLES = 144; // i32 × 4
export const LEAF = 0x80000000;

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

  childAt(node: number, i: number): number {
    return this.nodeAt(node) + NODE_CHILDREN + 4 * i;
  }

  coveredAt(node: number): number {
    return this.nodeAt(node) + NODE_COVERED;
  }

  rotatedAt(node: number): number {
    return this.nodeAt(node) + NODE_ROTATED;
  }

  blockAt(block: number): number {
    const blocks = this.word(layout.MESH_BLOCKS);
    return blocks + (block * (this.word(layout.MESH_INDICES) - blocks)) / this.blockCount;
  }

  triangleAt(block: number, lane: number): number {
    return this.blockAt(block) + BLOCK_TRIANGLES + 4 * lane;
  }

  /** Of the children there are: where the link is, and where it leads. */
  *links(): Generator<{ node: number; i: number; at: number; child: number }> {
    for (let node = 0; node < this.nodeCount; node++) {
      for (let i = 0; i < 4; i++) {
        if (!(this.word(this.coveredAt(node)) & (1 << i))) continue;
        const at = this.childAt(node, i);
        yield { node, i, at, child: this.word(at) };
      }
    }
  }

  /** What a forger does last. */
  seal(): this {
    return this.setWord(layout.MESH_CHECKSUM, checksumOf(this.buffer));
  }
}

/** As src/worker/core/mesh/checksum.ts describes it; whole words of the buffer. */
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
