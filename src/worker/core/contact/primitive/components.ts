// Which of the triangles that a solid meets hang together: those that share a corner, by its place. Sets of them by
// union and find (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975), corners by a table of
// hashes.

import { reserve } from '../../memory';
import { NONE, metAt, metCount } from '../met';

/** Of each patch the first of its triangles, which lead on by `next`; NONE ends. */
let heads: usize = 0;
export let patchCount: u32 = 0;

let table: usize = 0;
let tails: usize = 0;
/** As many triangles are compared with each other. */
const FEW: u32 = 6;

// @ts-ignore: decorator
@inline
export function patchAt(i: u32): u32 {
  return load<u32>(heads + (<usize>i << 2));
}

/** Patches in the order of their first triangles, and so theirs. Throws OUT_OF_MEMORY. */
export function findPatches(): void {
  for (let i: u32 = 0; i < metCount; i++) metAt(i).parent = i;
  if (metCount <= FEW) joinFew();
  else joinMany();
  heads = reserve(heads, 0, <u64>metCount << 2);
  tails = reserve(tails, 0, <u64>metCount << 2);
  patchCount = 0;
  for (let i: u32 = 0; i < metCount; i++) {
    const root = rootOf(i), met = metAt(i);
    met.next = NONE;
    if (root == i) {
      store<u32>(heads + (<usize>patchCount << 2), i);
      patchCount++;
    } else metAt(load<u32>(tails + (<usize>root << 2))).next = i;
    store<u32>(tails + (<usize>root << 2), i);
  }
}

/** The first triangle of its patch. */
export function rootOf(i: u32): u32 {
  let at = i;
  while (metAt(at).parent != at) {
    const met = metAt(at);
    met.parent = metAt(met.parent).parent;
    at = met.parent;
  }
  return at;
}

function join(i: u32, j: u32): void {
  const a = rootOf(i), b = rootOf(j);
  if (a < b) metAt(b).parent = a;
  else metAt(a).parent = b;
}

// @ts-ignore: decorator
@inline
function cornerOf(i: u32, k: usize): usize {
  return changetype<usize>(metAt(i)) + k * 24;
}

// @ts-ignore: decorator
@inline
function isSamePlace(p: usize, q: usize): bool {
  return load<f64>(p) == load<f64>(q) && load<f64>(p, 8) == load<f64>(q, 8) && load<f64>(p, 16) == load<f64>(q, 16);
}

function joinFew(): void {
  for (let i: u32 = 1; i < metCount; i++) {
    for (let j: u32 = 0; j < i; j++) {
      for (let k: usize = 0; k < 9; k++) {
        if (!isSamePlace(cornerOf(i, k / 3), cornerOf(j, k % 3))) continue;
        join(i, j);
        break;
      }
    }
  }
}

/** The table has the corner of one triangle for each place: 3 · index + corner + 1, 0 where there is none. */
function joinMany(): void {
  const slots = <u32>1 << (32 - clz(metCount * 6));
  table = reserve(table, 0, <u64>slots << 2);
  memory.fill(table, 0, <usize>slots << 2);
  for (let i: u32 = 0; i < metCount; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      const corner = cornerOf(i, k);
      let slot = hashOf(corner) & (slots - 1);
      for (;;) {
        const known = load<u32>(table + (<usize>slot << 2));
        if (known == 0) {
          store<u32>(table + (<usize>slot << 2), 3 * i + k + 1);
          break;
        }
        const other = (known - 1) / 3;
        if (isSamePlace(corner, cornerOf(other, (known - 1) % 3))) {
          join(i, other);
          break;
        }
        slot = (slot + 1) & (slots - 1);
      }
    }
  }
}

/** Multiplied and mixed as in MurmurHash3 (Appleby, 2011). */
// @ts-ignore: decorator
@inline
function hashOf(corner: usize): u32 {
  let h = load<u64>(corner) * 0x9e3779b97f4a7c15;
  h = (rotl<u64>(h, 29) ^ load<u64>(corner, 8)) * 0xbf58476d1ce4e5b9;
  h = (rotl<u64>(h, 31) ^ load<u64>(corner, 16)) * 0x94d049bb133111eb;
  return <u32>((h ^ (h >> 29)) >> 32) ^ <u32>h;
}
