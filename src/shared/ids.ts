import { GENERATION_BITS } from './layout.js';

/** The object's id if a ray hit nothing. No real id has this value. */
export const NO_OBJECT = 0xffffffff;

/** Makes an id: the slot in the high bits, so that sorting by id sorts by slot. Generations start at 1: no id is 0. */
export function makeId(slot: number, generation: number): number {
  return ((slot << GENERATION_BITS) | generation) >>> 0;
}

export function slotOf(id: number): number {
  return id >>> GENERATION_BITS;
}
