import { CollisionError } from '../../shared/errors.js';
import {
  BLOCK_COUNT,
  BLOCK_FLOAT_BYTES,
  BLOCK_HEADER_BYTES,
  BLOCK_IDS,
  BLOCK_MATRICES,
  BLOCK_NEXT,
  BLOCK_PARENT,
  IN_BLOCK_COUNT,
  IN_BLOCKS,
  IN_BYTES,
  IN_CONTACT_BUDGET,
  IN_EPOCH,
  IN_FRAME,
  IN_HEADER_BYTES,
  IN_IDS,
  IN_MATRICES,
  IN_MOVE_COUNT,
  IN_MOVES,
  IN_POSE_COUNT,
  IN_POSES,
  IN_TRANSFORM_COUNT,
  IN_VIEW_COUNT,
  IN_VIEWS,
  MATRIX_BYTES,
  VIEW_BYTES,
} from '../../shared/layout.js';
import { isShared } from '../../shared/shared-memory.js';

const IDS_AT = IN_HEADER_BYTES;
const MIN_SINGLES = 64;

/** The poses or the moves of a frame: their count, their size in bytes, and the function that writes them. */
export interface FramePart {
  count: number;
  bytes: number;
  write(u32: Uint32Array, f32: Float32Array, f64: Float64Array, at: number): void;
}

/** The ids of a borrowed block, which nobody writes, and where they are in the buffer. */
interface RetainedIds {
  readonly ids: Uint32Array;
  readonly at: number;
  readonly floatBytes: number;
}

const EMPTY_PART: FramePart = { count: 0, bytes: 0, write() {} };

/**
 * Builds a frame in the buffer that is sent: the ids of single transforms, their matrices, then the blocks of
 * instances. Parts grow in place while the buffer has room, else into a buffer twice as large.
 */
export class FrameBuffer {
  /** Buffers allocated so far. */
  allocations = 0;
  /** Single transforms in it. */
  singles = 0;
  /** The byte offset of the header of each block of instances. */
  readonly blocks: number[] = [];

  u32 = new Uint32Array(0);
  f32 = new Float32Array(0);
  f64 = new Float64Array(0);

  /**
   * Ids of borrowed blocks, by block index, that the buffer still has from the previous frame: the worker returns it as it was.
   * Writing those of 50,000 objects again would take a tenth of the time that their matrices take.
   */
  readonly #retainedIds: (RetainedIds | undefined)[] = [];
  #singlesCapacity = MIN_SINGLES;
  #matricesAt = matricesAt(MIN_SINGLES);
  #blocksAt = blocksAt(MIN_SINGLES);
  #blockBytes = 0;
  /** The size of the buffer, which has none itself while it is away. */
  #bytes = 0;
  /** Returns whether buffers may be in memory that is shared with the worker. */
  readonly #mayShare: () => boolean;

  constructor(mayShare = () => false) {
    this.#mayShare = mayShare;
  }

  /** Returns the index in `u32` of the id of a single. */
  idAt(single: number): number {
    return IDS_AT / 4 + single;
  }

  /** Returns the index in `f64` of the twelve numbers of a single. */
  matrixAt(single: number): number {
    return this.#matricesAt / 8 + 12 * single;
  }

  /** Adds a single transform and returns its index; the caller writes its id and matrix. */
  addSingle(): number {
    return this.addSingles(1);
  }

  /** Adds `count` single transforms and returns the index of the first. */
  addSingles(count: number): number {
    const first = this.singles;
    this.#reserve(first + count, this.#blockBytes);
    this.singles = first + count;
    return first;
  }

  /**
   * Adds a block, and returns its index; the caller writes its matrices and parent. `borrowedIds`: the same ids, in an array that
   * is never written.
   */
  addBlock(ids: Uint32Array, floatBytes: number, borrowedIds?: Uint32Array): number {
    const matricesOffset = BLOCK_HEADER_BYTES + align(ids.length * 4, 16);
    const bytes = matricesOffset + ids.length * 16 * floatBytes;
    this.#reserve(this.singles, this.#blockBytes + bytes);
    const at = this.#blocksAt + this.#blockBytes;
    this.#blockBytes += bytes;
    const index = this.blocks.push(at) - 1;
    const retained = this.#retainedIds[index];
    if (retained && retained.ids === borrowedIds && retained.at === at && retained.floatBytes === floatBytes)
      return index;
    this.#retainedIds.length = index; // the block may be written over those of later ones
    this.#retainedIds.push(borrowedIds && { ids: borrowedIds, at, floatBytes });
    this.u32[(at + BLOCK_COUNT) / 4] = ids.length;
    this.u32[(at + BLOCK_FLOAT_BYTES) / 4] = floatBytes;
    this.u32[(at + BLOCK_IDS) / 4] = at + BLOCK_HEADER_BYTES;
    this.u32[(at + BLOCK_MATRICES) / 4] = at + matricesOffset;
    this.u32[(at + BLOCK_NEXT) / 4] = at + bytes;
    this.u32.set(ids, (at + BLOCK_HEADER_BYTES) / 4);
    return index;
  }

  /** Writes the matrices of a block, as many as it has ids, and its parent's matrix. */
  writeBlock(block: number, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    const header = this.blocks[block];
    const floatBytes = this.blockFloat(block);
    // There are no views of single blocks: with 50,000 instances, they were a quarter of a frame's garbage.
    (floatBytes === 4 ? this.f32 : this.f64).set(matrices, this.u32[(header + BLOCK_MATRICES) / 4] / floatBytes);
    this.f64.set(parent, this.parentAt(block));
  }

  /** Returns the bytes per float of the block. */
  blockFloat(block: number): number {
    return this.u32[(this.blocks[block] + BLOCK_FLOAT_BYTES) / 4];
  }

  blockIds(block: number): Uint32Array {
    const header = this.blocks[block] / 4;
    const at = this.u32[header + BLOCK_IDS / 4] / 4;
    return this.u32.subarray(at, at + this.u32[header + BLOCK_COUNT / 4]);
  }

  blockMatrices(block: number): Float32Array | Float64Array {
    const header = this.blocks[block] / 4;
    const floatBytes = this.blockFloat(block);
    const at = this.u32[header + BLOCK_MATRICES / 4] / floatBytes;
    return (floatBytes === 4 ? this.f32 : this.f64).subarray(at, at + 16 * this.u32[header + BLOCK_COUNT / 4]);
  }

  /** Returns the index in `f64` of the parent's matrix of a block. */
  parentAt(block: number): number {
    return (this.blocks[block] + BLOCK_PARENT) / 8;
  }

  blockParent(block: number): Float64Array {
    const at = this.parentAt(block);
    return this.f64.subarray(at, at + 16);
  }

  /** Completes the frame with its views, poses and moves, and returns the buffer, which is to be transferred or is shared. */
  seal(
    frameNumber: number,
    epoch: number,
    contactBudget: number,
    views: Uint32Array,
    poses = EMPTY_PART,
    moves = EMPTY_PART,
  ): ArrayBuffer {
    this.#reserve(this.singles, this.#blockBytes + views.byteLength + poses.bytes + moves.bytes);
    if (isShared(this.u32.buffer) && !this.#mayShare()) this.#attach(this.#copyBytes(this.u32.byteLength)); // for another worker
    const posesAt = this.#blocksAt + this.#blockBytes + views.byteLength;
    const movesAt = posesAt + poses.bytes;
    if (this.#retainedIds.length > this.blocks.length) this.#retainedIds.length = this.blocks.length; // the views etc. overwrite these
    poses.write(this.u32, this.f32, this.f64, posesAt);
    moves.write(this.u32, this.f32, this.f64, movesAt);
    const viewsAt = this.#blocksAt + this.#blockBytes;
    const u32 = this.u32;
    u32.set(views, viewsAt / 4);
    u32[IN_FRAME / 4] = frameNumber;
    u32[IN_EPOCH / 4] = epoch;
    u32[IN_VIEW_COUNT / 4] = views.byteLength / VIEW_BYTES;
    u32[IN_VIEWS / 4] = viewsAt;
    u32[IN_TRANSFORM_COUNT / 4] = this.singles;
    u32[IN_IDS / 4] = IDS_AT;
    u32[IN_MATRICES / 4] = this.#matricesAt;
    u32[IN_BLOCK_COUNT / 4] = this.blocks.length;
    u32[IN_BLOCKS / 4] = this.#blocksAt;
    u32[IN_POSE_COUNT / 4] = poses.count;
    u32[IN_POSES / 4] = posesAt;
    u32[IN_MOVE_COUNT / 4] = moves.count;
    u32[IN_MOVES / 4] = movesAt;
    u32[IN_BYTES / 4] = movesAt + moves.bytes;
    this.f64[IN_CONTACT_BUDGET / 8] = contactBudget;
    return u32.buffer;
  }

  /** Returns a copy of the frame, completed without views, in a buffer of its own. */
  copy(frameNumber: number, epoch: number, poses = EMPTY_PART): ArrayBuffer {
    this.seal(frameNumber, epoch, 0, new Uint32Array(0), poses);
    return this.#copyBytes(this.u32[IN_BYTES / 4]);
  }

  /** Copies the first `bytes` bytes to a buffer that is not shared. */
  #copyBytes(bytes: number): ArrayBuffer {
    const copy = allocate(bytes, false);
    new Uint8Array(copy).set(new Uint8Array(this.u32.buffer, 0, bytes));
    return copy;
  }

  /** Takes the buffer back with its contents. */
  reopen(buffer: ArrayBuffer): void {
    this.#attach(buffer);
  }

  /** Empties the frame, in its own buffer or in the one that the worker returned. */
  restart(buffer: ArrayBuffer): void {
    if (buffer.byteLength !== this.#bytes) this.#retainedIds.length = 0; // not the buffer that was sent
    if (buffer !== this.u32.buffer) this.#attach(buffer);
    // Room for a few more singles than last time and no more, since the gap behind them is sent as well.
    const capacity = Math.max(MIN_SINGLES, Math.ceil(this.singles * 1.25));
    if (blocksAt(capacity) <= buffer.byteLength) this.#setCapacity(capacity);
    this.singles = 0;
    this.blocks.length = 0;
    this.#blockBytes = 0;
  }

  /** Makes room for `singles` singles, and `tailBytes` bytes behind them. Moves the contents up. */
  #reserve(singles: number, tailBytes: number): void {
    const capacity = this.#singlesCapacity;
    if (singles <= capacity && this.#blocksAt + tailBytes <= this.u32.byteLength) return;
    this.#retainedIds.length = 0;
    const oldMatricesAt = this.#matricesAt;
    const oldBlocksAt = this.#blocksAt;
    const old = new Uint8Array(this.u32.buffer);
    const newCapacity = singles <= capacity ? capacity : Math.max(singles, 2 * capacity);
    let target = old;
    if (blocksAt(newCapacity) + tailBytes > old.length) {
      const bytes = Math.max(align(blocksAt(newCapacity) + tailBytes, 16), 2 * old.length);
      target = new Uint8Array(allocate(bytes, this.#mayShare()));
      target.set(old.subarray(IDS_AT, IDS_AT + 4 * this.singles), IDS_AT);
      this.#attach(target.buffer);
      this.allocations++;
    }
    this.#setCapacity(newCapacity);
    // The last part first: each moves over the old place of a part that has been moved.
    moveBytes(old, oldBlocksAt, target, this.#blocksAt, this.#blockBytes);
    moveBytes(old, oldMatricesAt, target, this.#matricesAt, MATRIX_BYTES * this.singles);
    const shift = this.#blocksAt - oldBlocksAt;
    for (let i = 0; i < this.blocks.length; i++) {
      this.blocks[i] += shift;
      const header = this.blocks[i] / 4;
      this.u32[header + BLOCK_IDS / 4] += shift;
      this.u32[header + BLOCK_MATRICES / 4] += shift;
      this.u32[header + BLOCK_NEXT / 4] += shift;
    }
  }

  #setCapacity(singlesCapacity: number): void {
    this.#singlesCapacity = singlesCapacity;
    this.#matricesAt = matricesAt(singlesCapacity);
    this.#blocksAt = blocksAt(singlesCapacity);
  }

  #attach(buffer: ArrayBuffer): void {
    this.#bytes = buffer.byteLength;
    this.u32 = new Uint32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
  }
}

function matricesAt(singlesCapacity: number): number {
  return align(IDS_AT + 4 * singlesCapacity, 64);
}

function blocksAt(singlesCapacity: number): number {
  return matricesAt(singlesCapacity) + MATRIX_BYTES * singlesCapacity;
}

function align(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function moveBytes(source: Uint8Array, from: number, target: Uint8Array, to: number, bytes: number): void {
  if (source === target) source.copyWithin(to, from, from + bytes);
  else target.set(source.subarray(from, from + bytes), to);
}

function allocate(bytes: number, mayShare: boolean): ArrayBuffer {
  try {
    return mayShare ? (new SharedArrayBuffer(bytes) as ArrayBufferLike as ArrayBuffer) : new ArrayBuffer(bytes);
  } catch (cause) {
    throw new CollisionError('OUT_OF_MEMORY', `a frame needs ${bytes} bytes, which cannot be allocated`, { cause });
  }
}
