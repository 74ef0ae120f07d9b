import { transfer } from 'comlink';
import type { SectionRequest } from '../shared/protocol.js';
import type { Section } from '../shared/types.js';
import type { CoreSections } from './binding/sections.js';
import { fill } from './caps.js';
import { nest } from './outline-nesting.js';

/**
 * Cuts the objects of a core with a plane. Works for `sliceMs` at a time, between which `pause` has messages served;
 * `frame` answers the frame of the core as it is.
 */
export async function section(
  sections: CoreSections,
  { plane, filter, roundPoints, weld, caps }: SectionRequest,
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
  const inSlices = async <T>(work: Generator<void, T>): Promise<T> => {
    let step = work.next();
    for (; !step.done; step = work.next()) if (performance.now() - start >= sliceMs) await nextSlice();
    return step.value;
  };
  try {
    for (const object of sections.candidates(plane, filter, roundPoints, weld)) {
      if (performance.now() - start >= sliceMs) await nextSlice();
      sections.begin(object);
      while (!sections.step(start + sliceMs)) await nextSlice();
    }
    const outlines = sections.outlines();
    const parents = await inSlices(nest(outlines, plane));
    const filled = caps ? await inSlices(fill(outlines, parents, plane)) : new Uint32Array();
    const answer: Section = { ...outlines, parents, caps: filled, frame: seen, ms: ms + performance.now() - start };
    const { objects, starts, closed, points, triangles } = answer;
    const arrays = [objects, starts, closed, points, triangles, parents, filled];
    return transfer(
      answer,
      arrays.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } finally {
    sections.end();
  }
}
