// Pairs of triangles that meet, and where they cut each other.

import { Affine, relate } from '../../math/affine';
import { cutTriangles, fromX, fromY, fromZ, toX, toY, toZ } from '../../math/triangle-intersection-segment';
import { Triangle } from '../../math/triangles';
import { reserve } from '../../memory';
import { Mesh, placeTree } from '../../mesh/tree/layout';
import { intersectMeshes, pairCount, pairs, readPair } from '../../mesh/query/mesh-pair';
import { Solid, mapOf } from '../../shape/placed-shape';
import { addCrossing } from '../manifold/contact';

const map = changetype<Affine>(memory.data(96, 16));
const place = changetype<Affine>(memory.data(96, 16));
const triangleA = changetype<Triangle>(memory.data(72, 16));
const triangleB = changetype<Triangle>(memory.data(72, 16));

/** A pair on its way to its place in the order. */
@unmanaged
class Entry {
  b: u32;
  a: u32;
  pair: u32;
  pad: u32;
}

const ENTRY_BYTES: usize = 16;
let entries: usize = 0;
let sorted: usize = 0;

/** Two meshes of which the surfaces meet: adds all pairs of triangles that do, sorted. Throws OUT_OF_MEMORY. */
export function addCrossings(a: Solid, b: Solid): void {
  const meshA = changetype<Mesh>(a.mesh), meshB = changetype<Mesh>(b.mesh);
  relate(map, mapOf(a), mapOf(b));
  intersectMeshes(meshA, meshB, map);
  placeTree(place, meshA, mapOf(a));
  listEntries();
  sort(offsetof<Entry>('b'), meshB.triangleCount);
  sort(offsetof<Entry>('a'), meshA.triangleCount);
  for (let i: u32 = 0; i < pairCount; i++) {
    const entry = changetype<Entry>(entries + i * <u32>ENTRY_BYTES);
    readPair(entry.pair, triangleA, triangleB);
    cutTriangles(triangleA, triangleB, place);
    addCrossing(entry.a, entry.b, fromX, fromY, fromZ, toX, toY, toZ);
  }
}

function listEntries(): void {
  const bytes = <u64>pairCount * ENTRY_BYTES;
  entries = reserve(entries, 0, bytes);
  sorted = reserve(sorted, 0, bytes);
  for (let i: u32 = 0; i < pairCount; i++) {
    const entry = changetype<Entry>(entries + i * <u32>ENTRY_BYTES);
    entry.a = load<u32>(pairs + (<usize>i << 3));
    entry.b = load<u32>(pairs + (<usize>i << 3), 4);
    entry.pair = i;
  }
}

const counts: usize = memory.data(256 * 4, 16);

/** Radix sort by the numbers at `field`, which are below `limit`, eight bits at a time. */
function sort(field: usize, limit: u32): void {
  for (let shift: u32 = 0; shift < 32 && (limit - 1) >> shift != 0; shift += 8) sortByDigit(field, shift);
}

function sortByDigit(field: usize, shift: u32): void {
  memory.fill(counts, 0, 256 * 4);
  const end = entries + pairCount * <u32>ENTRY_BYTES;
  for (let from = entries; from < end; from += ENTRY_BYTES) {
    const at = counts + (<usize>((load<u32>(from + field) >> shift) & 255) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let to = sorted;
  for (let at = counts; at < counts + 256 * 4; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, <u32>to);
    to += count * <u32>ENTRY_BYTES;
  }
  for (let from = entries; from < end; from += ENTRY_BYTES) {
    const at = counts + (<usize>((load<u32>(from + field) >> shift) & 255) << 2);
    const place = <usize>load<u32>(at);
    v128.store(place, v128.load(from));
    store<u32>(at, <u32>(place + ENTRY_BYTES));
  }
  const made = sorted;
  sorted = entries;
  entries = made;
}
