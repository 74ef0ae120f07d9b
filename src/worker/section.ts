import { transfer } from '../shared/calls.js';
import type { SectionRequest } from '../shared/protocol.js';
import type { Section } from '../shared/types.js';
import type { CoreSections } from './binding/sections.js';
import { buffersOf } from './buffers-of.js';
import { fillOutlines } from './caps.js';
import { nest } from './outline-nesting.js';
import type { Slices } from './slices.js';

/** Cuts the objects of a core with a plane, in slices; `currentFrame` returns the core's current frame. */
export async function section(
  sections: CoreSections,
  { plane, filter, roundPoints, weld, caps }: SectionRequest,
  slices: Slices,
  currentFrame: () => number,
): Promise<Section> {
  const frameAtStart = currentFrame();
  try {
    for (const object of sections.candidates(plane, filter, roundPoints, weld)) {
      if (slices.isOver) await slices.next();
      sections.begin(object);
      while (!sections.step(slices.end)) await slices.next();
    }
    const outlines = sections.outlines();
    const parents = await slices.run(nest(outlines, plane));
    const capTriangles = caps ? await slices.run(fillOutlines(outlines, parents, plane)) : new Uint32Array();
    const answer: Section = { ...outlines, parents, caps: capTriangles, frame: frameAtStart, ms: slices.ms };
    return transfer(answer, buffersOf(answer));
  } finally {
    sections.end();
  }
}
