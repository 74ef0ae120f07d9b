// The boxes that inspection finds, INSPECTED_* (layout.ts), and the elements of leaves, until they are freed.

import { INSPECTED_BYTES, INSPECTED_WORDS } from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { release, reserve } from '../../memory';

let records: usize = 0;
let elements: usize = 0;
export let boxCount: u32 = 0;
export let elementCount: u32 = 0;

export function clearBoxes(): void {
  boxCount = elementCount = 0;
}

/** Makes room, so that adding this many needs no copies of large arrays. Throws OUT_OF_MEMORY. */
export function reserveBoxes(maxBoxes: u64, maxElements: u64): void {
  const used = <usize>boxCount * INSPECTED_BYTES;
  records = reserve(records, used, maxBoxes * INSPECTED_BYTES);
  elements = reserve(elements, 0, min<u64>(maxElements, maxBoxes << 2) << 2);
}

/** Adds a box and four words of data. Returns its frame, which the caller must fill in. Throws OUT_OF_MEMORY. */
export function addBox(a: u32, b: u32, c: u32, d: u32): Affine {
  const used = <usize>boxCount * INSPECTED_BYTES;
  records = reserve(records, used, <u64>used + INSPECTED_BYTES);
  const at = records + used;
  store<u32>(at, a, INSPECTED_WORDS);
  store<u32>(at, b, INSPECTED_WORDS + 4);
  store<u32>(at, c, INSPECTED_WORDS + 8);
  store<u32>(at, d, INSPECTED_WORDS + 12);
  boxCount++;
  return changetype<Affine>(at);
}

/** Adds an element of a leaf. Throws OUT_OF_MEMORY. */
export function addElement(element: u32): void {
  const used = <usize>elementCount << 2;
  elements = reserve(elements, used, <u64>used + 4);
  store<u32>(elements + used, element);
  elementCount++;
}

export function inspectedBoxCount(): u32 {
  return boxCount;
}

/** Returns the address of the boxes. */
export function inspectedBoxes(): usize {
  return records;
}

export function inspectedElementCount(): u32 {
  return elementCount;
}

/** Returns the address of the leaves' elements, u32 each. */
export function inspectedElements(): usize {
  return elements;
}

/** Frees the memory. */
export function freeInspected(): void {
  release(records);
  release(elements);
  records = elements = 0;
  boxCount = elementCount = 0;
}
