import * as layout from '../../shared/layout.js';
import type { ContactSet, FrameResult, VisibleSet } from '../../shared/types.js';
import { ContactSetView } from './contact-set.js';
import { OutBuffer } from './out-buffer.js';

/** The answer of a frame, read from the frame out (layout.ts) on access. */
export class FrameView implements FrameResult {
  readonly frame: number;
  readonly #out: OutBuffer;
  readonly #names: readonly (string | undefined)[];
  #views: Map<string, VisibleSet> | undefined;
  #contacts: ContactSet | undefined;

  /** Reads the frame's number; `names` are those of the view slots when the frame was requested. */
  constructor(buffer: ArrayBuffer, names: readonly (string | undefined)[]) {
    this.#out = new OutBuffer(buffer);
    this.#names = names;
    this.frame = this.#out.word(layout.OUT_FRAME);
  }

  get visible(): VisibleSet {
    return this.views.get('main') ?? nothingVisible(this.frame);
  }

  get views(): ReadonlyMap<string, VisibleSet> {
    this.#out.check(); // arrays that were read before are detached, too
    this.#views ??= this.#readViews();
    return this.#views;
  }

  get contacts(): ContactSet {
    this.#out.check();
    this.#contacts ??= new ContactSetView(this.#out);
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
      occlusion: this.#out.double(layout.OUT_MS_OCCLUSION),
      contacts: this.#out.double(layout.OUT_MS_CONTACTS),
      broadPhase: this.#out.double(layout.OUT_MS_BROAD_PHASE),
      narrowPhase: this.#out.double(layout.OUT_MS_NARROW_PHASE),
      answer: this.#out.double(layout.OUT_MS_ANSWER),
      commands: this.#out.double(layout.OUT_MS_COMMANDS),
    };
  }

  /** Whether the buffer was recycled, or transferred by the caller. */
  get isGone(): boolean {
    return this.#out.isDetached;
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
        occluded: out.u32(at + layout.OUT_VIEW_OCCLUDED, out.word(at + layout.OUT_VIEW_OCCLUDED_COUNT)),
        occluders: out.u32(at + layout.OUT_VIEW_OCCLUDERS, out.word(at + layout.OUT_VIEW_OCCLUDER_COUNT)),
        frame: this.frame,
      });
    }
    return views;
  }
}

function nothingVisible(frame: number): VisibleSet {
  const noIds = () => new Uint32Array(0);
  return { ids: noIds(), inside: 0, entered: noIds(), left: noIds(), occluded: noIds(), occluders: noIds(), frame };
}
