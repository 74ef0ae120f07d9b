// A derivation under way: what is known of a mesh so far. Several may be under way at once, a step of each in turn.

import { release } from '../../memory';
import { Mesh } from '../tree/layout';
import { Derived } from './derived-layout';

/** How many blocks or clusters are processed between two looks at the clock: a tenth of a millisecond, or less. */
export const STEP: u32 = 512;

@unmanaged
export class Derivation {
  mesh: u32;
  phase: u32;
  /** Where the phase has got to: a block, a slot, a cluster. */
  cursor: u32;
  /** u32, three each slot: the vertex that each corner is; nothing for lanes without a triangle. */
  corners: usize;
  /** 1 where that begins as the mesh's own indices. */
  areIndices: u32;
  /**
   * A vertex for each position: f32 x, y, z, 0, in the order in which the blocks come to them. Zeros lose their sign.
   */
  vertices: usize;
  vertexCount: u32;
  /**
   * The last vertex of each list of those whose positions have a hash in common, and 1; 0 where there is none. Behind them are bits
   * of hashes: where one is not set, no vertex is there (Bloom, "Space/Time Trade-offs in Hash Coding", 1970).
   */
  table: usize;
  /** The vertex before each in its list, and 1. */
  next: usize;
  tableMask: u32;
  /**
   * The vertices by the mesh's own indices, and 1; 0 where there is none yet. Without indices there is no such list.
   */
  known: usize;
  /** It has the indices of the vertices that a step has numbered, and then the vertices that they are. */
  added: usize;
  /** How many triangles each vertex has, where edges are matched by that. */
  degrees: usize;
  /** The other edges that wait for their other side, at one of their ends: half edge and 1, 0 without any. */
  heads: usize;
  /** The first four edges that wait at each vertex (adjacency.ts); and how many vertices are prepared. */
  waiting: usize;
  cleared: u32;
  /** BY_NUMBER, COUNTING or BY_DEGREE. */
  matching: u32;
  /** u32, three each slot: MATCHED and the neighbour's slot, else the next half edge that waits, and 1. */
  links: usize;
  /** Another vertex of the same part; its own number at the root. */
  parents: usize;
  farCount: u32;
  partCount: u32;
  /** Parts that are listed begin with vertices before this one. */
  partEnd: u32;
  /** How many edges have no triangle on their other side; and these, where it is not known yet whether the mesh is closed. */
  openCount: u32;
  openEdges: usize;
  /** 1 where whoever runs it finds out whether the mesh is closed, as soon as the edges without another side are known. */
  asksWhetherClosed: u32;
  /** 1 while it waits for that. */
  isWaiting: u32;
  /** 1 where the edges alone do not prove that the mesh is convex. */
  isUncertain: u32;
  /** 1 where the mesh is not convex. */
  isConcave: u32;
  /** How the faces are turned: 1 or -1, 0 while it is not known. */
  side: i32;
  turnedOut: u32;
  planeCount: u32;
  /** The first slots of the parts, u32 each. */
  parts: usize;
  /** Neighbours that 16 bits do not lead to, as in the result. */
  far: usize;
  /** The number of planes that nothing is in front of (convex.ts), and where the last of them was put. */
  provenCount: u32;
  provenLast: u32;
  proven: usize;
  result: usize;
  // Where two builders derive (join-parts.ts).
  /** In the first one: the first block of the second part, 0 without; and 1 while it may be joined. */
  cutBlock: u32;
  isAtCut: u32;
  /** The second part and the numbers that its vertices have in the whole, 0 without; and how many the first part has. */
  part: usize;
  map: usize;
  firstVertices: u32;
  /** In the second one: 1, and the bounds of what the first one has. */
  isPart: u32;
  boxes: usize;
  boxCount: u32;
  /** 1 where more edges waited at a vertex than half of those that are looked at. */
  isCrowded: u32;
}

// @ts-ignore: decorator
@inline
export function meshOf(d: Derivation): Mesh {
  return changetype<Mesh>(<usize>d.mesh);
}

// @ts-ignore: decorator
@inline
export function resultOf(d: Derivation): Derived {
  return changetype<Derived>(d.result);
}

/** Answers the vertex of a slot's corner 0, 1 or 2. */
// @ts-ignore: decorator
@inline
export function vertexOf(d: Derivation, slot: u32, corner: u32): u32 {
  return load<u32>(d.corners + (<usize>slot * 3 + corner << 2));
}

/** Frees all but the derivation itself and its result. */
export function freeScratch(d: Derivation): void {
  release(d.corners);
  release(d.vertices);
  release(d.table);
  release(d.next);
  release(d.known);
  release(d.added);
  release(d.degrees);
  release(d.heads);
  release(d.waiting);
  release(d.links);
  release(d.parents);
  release(d.proven);
  release(d.openEdges);
  release(d.parts);
  release(d.far);
  release(d.part);
  release(d.map);
  release(d.boxes);
  d.corners = d.vertices = d.table = d.next = d.known = d.added = d.degrees = d.heads = d.waiting = d.links = d.parents = d.proven = 0;
  d.openEdges = d.parts = d.far = 0;
  d.part = d.map = d.boxes = 0;
}

export function freeDerivation(d: Derivation): void {
  freeScratch(d);
  release(d.result);
  release(changetype<usize>(d));
}
