// Named boxes as both sides exchange them, and as they follow a baked mesh: a section that is located from its end.
//
//   f64 × 10 of each box · the names as JSON, in UTF-8 · zeros up to 16 · the tail: u32 count, bytes of the names,
//   u32 bytes of the section, checksum, version, magic, two spare

/** Boxes that stand for a mesh. */
export interface PackedBoxes {
  names: readonly string[];
  /** Ten numbers for each: its centre, its half extents, its rotation as a unit quaternion xyzw. */
  records: Float64Array;
}

export const BOX_NUMBERS = 10;
const MAGIC = 0x58425743; // 'CWBX'
const VERSION = 1;
/** Bytes that are copied between two yields: some 0.3 ms. */
const BYTES_PER_STEP = 1 << 20;
const TAIL_WORDS = 8;
const TAIL_BYTES = 4 * TAIL_WORDS;

/** Returns the section of some boxes, to be appended to a baked mesh of this many bytes. */
function boxSection({ names, records }: PackedBoxes, bakedBytes: number): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(names));
  const start = padding(bakedBytes, 16);
  const contentEnd = start + records.byteLength + text.length;
  const bytes = contentEnd + padding(contentEnd - start, 16) + TAIL_BYTES;
  const section = new Uint8Array(bytes);
  section.set(new Uint8Array(records.buffer, records.byteOffset, records.byteLength), start);
  section.set(text, start + records.byteLength);
  const tail = Uint32Array.of(names.length, text.length, bytes, 0, VERSION, MAGIC, 0, 0);
  section.set(new Uint8Array(tail.buffer), bytes - TAIL_BYTES);
  tail[3] = checksumOf(section);
  section.set(new Uint8Array(tail.buffer), bytes - TAIL_BYTES);
  return section;
}

/** Appends boxes to a baked mesh. Yields after each step. */
export function* appendBoxes(baked: ArrayBuffer, boxes: PackedBoxes): Generator<void, ArrayBuffer> {
  const section = boxSection(boxes, baked.byteLength);
  const combined = new Uint8Array(baked.byteLength + section.length);
  for (let from = 0; from < baked.byteLength; from += BYTES_PER_STEP) {
    combined.set(new Uint8Array(baked, from, Math.min(BYTES_PER_STEP, baked.byteLength - from)), from);
    yield;
  }
  combined.set(section, baked.byteLength);
  return combined.buffer;
}

/** Returns how many bytes of a baked mesh precede its boxes: all if it has none. */
export function bytesWithoutBoxes(baked: ArrayBuffer): number {
  const tail = tailOf(baked);
  return tail ? baked.byteLength - tail[2] : baked.byteLength;
}

/** Reads the boxes behind a baked mesh: undefined if there are none, null if they cannot be trusted. */
export function readBoxes(baked: ArrayBuffer): PackedBoxes | null | undefined {
  const tail = tailOf(baked);
  if (!tail) return undefined;
  const [count, textBytes, bytes, checksum, version] = tail;
  const section = new Uint8Array(baked, baked.byteLength - bytes, bytes).slice();
  section.fill(0, bytes - TAIL_BYTES + 12, bytes - TAIL_BYTES + 16);
  if (version !== VERSION || checksumOf(section) !== checksum) return null;
  const numberBytes = 8 * BOX_NUMBERS * count;
  const start = padding(baked.byteLength - bytes, 16);
  if (start + numberBytes + textBytes > bytes - TAIL_BYTES) return null;
  const records = new Float64Array(section.slice(start, start + numberBytes).buffer);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      section.subarray(start + numberBytes).subarray(0, textBytes),
    );
    const names: unknown = JSON.parse(text);
    if (!Array.isArray(names) || names.length !== count) return null;
    return { names: names as string[], records };
  } catch {
    return null;
  }
}

function tailOf(baked: ArrayBuffer): Uint32Array | undefined {
  const { byteLength } = baked;
  if (byteLength < TAIL_BYTES) return undefined;
  const tail = new Uint32Array(baked.slice(byteLength - TAIL_BYTES));
  return tail[5] === MAGIC && tail[2] >= TAIL_BYTES && tail[2] <= byteLength ? tail : undefined;
}

/** Hashes bytes (FNV-1a). */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}

function padding(bytes: number, alignment: number): number {
  return (alignment - (bytes % alignment)) % alignment;
}
