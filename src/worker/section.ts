import { transfer } from 'comlink';
import type { Filter } from '../shared/protocol.js';
import type { Section } from '../shared/types.js';
import type { CoreSections } from './binding/sections.js';
import { nest } from './outline-nesting.js';

/** What a section is asked for, beside how objects are filtered. */
export interface SectionRequest {
  /** Four numbers: n · p + d. */
  plane: Float64Array;
  filter: Filter;
  /** The points of the outline of a round shape. */
  roundPoints: number;
  /** How near open ends are one; by default a share of the object's size. */
  weld: number | undefined;
}

/**
 * Cuts the objects of a core with a plane. Works for `sliceMs` at a time, between which `pause` has messages served;
 * `frame` answers the frame of the core as it is.
 */
export async function section(
  sections: CoreSections,
  { plane, filter, roundPoints, weld }: SectionRequest,
  sliceMs: number,
  frame: () => number,
  pause: () => Promise<void>,
): Promise<Section> {
  let ms = 0;
  let start = performance.now();
  const seen = frame();
  const nextSlice = async (): Promise<void> => {
    ms += performance.now() - start;
    await pause();
    start = performance.now();
  };
  try {
    for (const object of sections.candidates(plane, filter, roundPoints, weld)) {
      if (performance.now() - start >= sliceMs) await nextSlice();
      sections.begin(object);
      while (!sections.step(start + sliceMs)) await nextSlice();
    }
    const outlines = sections.outlines();
    const nesting = nest(outlines, plane);
    let nested = nesting.next();
    for (; !nested.done; nested = nesting.next()) if (performance.now() - start >= sliceMs) await nextSlice();
    const answer: Section = { ...outlines, parents: nested.value, frame: seen, ms: ms + performance.now() - start };
    const { objects, starts, closed, points, triangles, parents } = answer;
    const arrays = [objects, starts, closed, points, triangles, parents];
    return transfer(
      answer,
      arrays.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } finally {
    sections.end();
  }
}
