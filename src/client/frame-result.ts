import { CollisionError } from '../shared/errors.js';
import * as layout from '../shared/layout.js';
import type { ContactPair, ContactSet, FrameResult, VisibleSet } from '../shared/types.js';

/** A frame's answer, read from layout.ts's frame out when it is asked for. */
export class FrameView implements FrameResult {
  readonly frame: number;
  readonly #out: OutBuffer;
  readonly #names: readonly (string | undefined)[];
  #views: Map<string, VisibleSet> | undefined;
  #contacts: ContactSet | undefined;

  /** `names` are those of the view slots when the frame was asked for. */
  constructor(buffer: ArrayBuffer, names: readonly (string | undefined)[]) {
    this.#out = new OutBuffer(buffer);
    this.#names = names;
    this.frame = this.#out.word(layout.OUT_FRAME);
  }

  get visible(): VisibleSet {
    return this.views.get('main') ?? nothingVisible(this.frame);
  }

  get views(): ReadonlyMap<string, VisibleSet> {
    this.#views ??= this.#readViews();
    return this.#views;
  }

  get contacts(): ContactSet {
    this.#contacts ??= new ContactView(this.#out);
    return this.#contacts;
  }

  get rejected(): Uint32Array {
    return this.#out.u32(layout.OUT_REJECTED, this.#out.word(layout.OUT_REJECTED_COUNT));
  }

  get ms(): FrameResult['ms'] {
    return {
      total: this.#out.double(layout.OUT_MS_TOTAL),
      update: this.#out.double(layout.OUT_MS_UPDATE),
      cull: this.#out.double(layout.OUT_MS_CULL),
      contacts: this.#out.double(layout.OUT_MS_CONTACTS),
    };
  }

  copy(): FrameResult {
    return new FrameView(this.#out.copy(), this.#names);
  }

  #readViews(): Map<string, VisibleSet> {
    const views = new Map<string, VisibleSet>();
    const out = this.#out;
    const count = out.word(layout.OUT_VIEW_COUNT);
    for (let i = 0; i < count; i++) {
      const at = out.word(layout.OUT_VIEWS) + i * layout.OUT_VIEW_BYTES;
      const name = this.#names[out.word(at + layout.OUT_VIEW_SLOT)];
      if (name === undefined) continue; // removed since
      views.set(name, {
        ids: out.u32(at + layout.OUT_VIEW_IDS, out.word(at + layout.OUT_VIEW_COUNT_IDS)),
        inside: out.word(at + layout.OUT_VIEW_INSIDE),
        entered: out.u32(at + layout.OUT_VIEW_ENTERED, out.word(at + layout.OUT_VIEW_ENTERED_COUNT)),
        left: out.u32(at + layout.OUT_VIEW_LEFT, out.word(at + layout.OUT_VIEW_LEFT_COUNT)),
        frame: this.frame,
      });
    }
    return views;
  }
}

class ContactView implements ContactSet {
  readonly count: number;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly begun: Uint8Array;
  readonly contained: Uint8Array;
  readonly endedA: Uint32Array;
  readonly endedB: Uint32Array;
  readonly start: Uint32Array;
  readonly points: Float32Array;
  readonly normals: Float32Array;
  readonly depths: Float32Array;

  constructor(out: OutBuffer) {
    const pairs = out.word(layout.OUT_PAIR_COUNT);
    const ended = out.word(layout.OUT_ENDED_COUNT);
    const points = out.word(layout.OUT_POINT_COUNT);
    this.count = pairs;
    this.a = out.u32(layout.OUT_PAIR_A, pairs);
    this.b = out.u32(layout.OUT_PAIR_B, pairs);
    this.begun = out.u8(layout.OUT_PAIR_BEGUN, pairs);
    this.contained = out.u8(layout.OUT_PAIR_CONTAINED, pairs);
    this.endedA = out.u32(layout.OUT_ENDED_A, ended);
    this.endedB = out.u32(layout.OUT_ENDED_B, ended);
    this.start = out.u32(layout.OUT_PAIR_START, pairs + 1);
    this.points = out.f32(layout.OUT_POINTS, 3 * points);
    this.normals = out.f32(layout.OUT_NORMALS, 3 * points);
    this.depths = out.f32(layout.OUT_DEPTHS, points);
  }

  *[Symbol.iterator](): Iterator<ContactPair> {
    for (let i = 0; i < this.count; i++) {
      const from = this.start[i];
      const to = this.start[i + 1];
      yield {
        a: this.a[i],
        b: this.b[i],
        begun: this.begun[i] === 1,
        contained: this.contained[i] as 0 | 1 | 2,
        points: this.points.subarray(3 * from, 3 * to),
        normals: this.normals.subarray(3 * from, 3 * to),
        depths: this.depths.subarray(from, to),
      };
    }
  }
}

/** Words of the buffer and arrays that words point to. */
class OutBuffer {
  readonly #data: DataView<ArrayBuffer>;

  constructor(buffer: ArrayBuffer) {
    this.#data = new DataView(buffer);
  }

  word(at: number): number {
    return this.#attached().getUint32(at, true);
  }

  double(at: number): number {
    return this.#attached().getFloat64(at, true);
  }

  u8(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#data.buffer, this.word(at), length);
  }

  u32(at: number, length: number): Uint32Array {
    return new Uint32Array(this.#data.buffer, this.word(at), length);
  }

  f32(at: number, length: number): Float32Array {
    return new Float32Array(this.#data.buffer, this.word(at), length);
  }

  copy(): ArrayBuffer {
    return this.#data.buffer.slice(0, this.word(layout.OUT_BYTES));
  }

  #attached(): DataView<ArrayBuffer> {
    if (this.#data.buffer.byteLength > 0) return this.#data;
    throw new CollisionError(
      'DISPOSED',
      'FrameResult: its buffer was recycled when the next update() resolved; expected copy() before that',
    );
  }
}

function nothingVisible(frame: number): VisibleSet {
  return { ids: new Uint32Array(0), inside: 0, entered: new Uint32Array(0), left: new Uint32Array(0), frame };
}
