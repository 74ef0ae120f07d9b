// The state of a derivation in progress: what is known of a mesh so far. Several derivations may run at once, step by
// step in turn.

import { release } from '../../memory';
import { Mesh } from '../tree/layout';
import { Derived } from './derived-layout';

/** How many blocks or clusters are processed between two checks of the clock: a tenth of a millisecond, or less. */
export const STEP: u32 = 512;

@unmanaged
export class Derivation {
  mesh: u32;
  phase: u32;
  /** The position of the current phase: a block, a slot, a cluster. */
  cursor: u32;
  /** u32, three per slot: the vertex of each corner; undefined for lanes without a triangle. */
  corners: usize;
  /** 1 if `corners` initially contains the mesh's own indices. */
  areIndices: u32;
  /**
   * A vertex for each position: f32 x, y, z, 0, in the order in which they occur in the blocks. Zeros lose their sign.
   */
  vertices: usize;
  vertexCount: u32;
  /**
   * For each hash, one more than the last vertex of the list of vertices whose positions have that hash; 0 if none. It
   * is followed by a bit filter of hashes: if a bit is not set, there is no such vertex (Bloom, "Space/Time Trade-offs
   * in Hash Coding", 1970).
   */
  table: usize;
  /** One more than the previous vertex in the same list. */
  next: usize;
  tableMask: u32;
  /** One more than the vertex of each of the mesh's own indices; 0 if none yet. 0 for meshes without indices. */
  vertexOfIndex: usize;
  /** For the vertices that a step has added: first their indices, then the vertices to which they were welded. */
  addedVertices: usize;
  /** How many triangles each vertex has, if edges are matched by that. */
  degrees: usize;
  /** Lists of the other pending edges, at one of their ends: half edge plus 1, 0 if none. */
  heads: usize;
  /** The first four pending edges of each vertex (adjacency.ts); and how many vertices are prepared. */
  pendingEdges: usize;
  clearedCount: u32;
  /** BY_NUMBER, COUNTING or BY_DEGREE. */
  matching: u32;
  /** u32, three per slot: MATCHED and the neighbour's slot, otherwise the next pending half edge plus 1. */
  links: usize;
  /** Union-find: another vertex of the same part; a root's own number. */
  parents: usize;
  farCount: u32;
  partCount: u32;
  /** The first vertices of all listed parts are lower than this one. */
  partEnd: u32;
  /**
   * The number of edges without a triangle on their other side; and the list of these, if it is not known yet whether
   * the mesh is closed.
   */
  openCount: u32;
  openEdges: usize;
  /** 1 if the caller determines whether the mesh is closed, as soon as the open edges are known. */
  asksWhetherClosed: u32;
  /** 1 while the derivation waits for that. */
  isWaiting: u32;
  /** 1 if the edges alone do not prove that the mesh is convex. */
  isUncertain: u32;
  /** 1 if the mesh is not convex. */
  isConcave: u32;
  /** The orientation of the faces: 1 or -1, 0 while it is not known. */
  side: i32;
  outwardCount: u32;
  planeCount: u32;
  /** The first slots of the parts, u32 each. */
  parts: usize;
  /** Neighbours that do not fit into 16 bits, as in the result. */
  farNeighbours: usize;
  /** The number of planes that are proven to have nothing in front (convex.ts), and the position of the last one. */
  provenCount: u32;
  provenLast: u32;
  proven: usize;
  result: usize;
  // If two builders derive (join-parts.ts):
  /** In the first one: the first block of the second part, 0 if there is none; and 1 while the part may be joined. */
  cutBlock: u32;
  isAtCut: u32;
  /**
   * The second part and the numbers of its vertices in the whole mesh, 0 if there is none; and how many the first part
   * has.
   */
  secondPart: usize;
  partVertexMap: usize;
  firstVertexCount: u32;
  /** In the second one: 1, and the bounds of the first part. */
  isPart: u32;
  firstPartBoxes: usize;
  firstPartBoxCount: u32;
  /** 1 if more edges were pending at a vertex than half of MAX_EXAMINED_EDGES. */
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

/** Returns the vertex of a slot's corner 0, 1 or 2. */
// @ts-ignore: decorator
@inline
export function vertexOf(d: Derivation, slot: u32, corner: u32): u32 {
  return load<u32>(d.corners + (<usize>slot * 3 + corner << 2));
}

/** Frees what is needed while edges are matched. */
export function freePending(d: Derivation): void {
  release(d.degrees);
  release(d.heads);
  release(d.pendingEdges);
  d.degrees = d.heads = d.pendingEdges = 0;
}

/** Frees everything except the derivation itself and its result. */
export function freeScratch(d: Derivation): void {
  freePending(d);
  release(d.corners);
  release(d.vertices);
  release(d.table);
  release(d.next);
  release(d.vertexOfIndex);
  release(d.addedVertices);
  release(d.links);
  release(d.parents);
  release(d.proven);
  release(d.openEdges);
  release(d.parts);
  release(d.farNeighbours);
  release(d.secondPart);
  release(d.partVertexMap);
  release(d.firstPartBoxes);
  d.corners = d.vertices = d.table = d.next = d.vertexOfIndex = d.addedVertices = d.links = d.parents = d.proven = 0;
  d.openEdges = d.parts = d.farNeighbours = 0;
  d.secondPart = d.partVertexMap = d.firstPartBoxes = 0;
}

export function freeDerivation(d: Derivation): void {
  freeScratch(d);
  release(d.result);
  release(changetype<usize>(d));
}
