import { Box3, type Matrix4, Triangle, Vector3 } from 'three';
import { cutOf } from './cut.js';
import { type Corners, trianglesMeet } from './exact.js';
import type { Triangles } from './meshes.js';
import { windingNumber } from './winding.js';

/** A triangle in world space, with the numbers of its corners, which are shared by equal positions. */
interface Face {
  corners: Corners;
  box: Box3;
  vertices: readonly number[];
}

/** A mesh in world space. */
export class Surface {
  readonly faces: Face[];
  readonly #mesh: Triangles;
  readonly #toMesh: Matrix4;

  constructor(mesh: Triangles, matrix: Matrix4) {
    this.#mesh = mesh;
    this.#toMesh = matrix.clone().invert();
    const { positions, indices } = mesh;
    const numbers = new Map<string, number>();
    const world = Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
    const number = world.map((vertex) => {
      const key = vertex.toArray().join();
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key)!;
    });
    for (const vertex of world) vertex.applyMatrix4(matrix);
    this.faces = Array.from({ length: indices.length / 3 }, (_, i) => {
      const own = [...indices.subarray(3 * i, 3 * i + 3)];
      const corners = own.map((index) => world[index]) as unknown as Corners;
      return { corners, box: new Box3().setFromPoints([...corners]), vertices: own.map((index) => number[index]) };
    });
  }

  contains(point: Vector3): boolean {
    return Math.abs(windingNumber(this.#mesh, point.clone().applyMatrix4(this.#toMesh))) > 0.5;
  }
}

/** Every pair of the given faces that meet while b is moved. Stops at the first one unless `all`. */
export function meetingFaces(
  a: Surface,
  b: Surface,
  move: Vector3,
  options: { facesA?: Iterable<number>; facesB?: Iterable<number>; all?: boolean } = {},
): [number, number][] {
  const { facesA = a.faces.keys(), facesB = b.faces.keys(), all = false } = options;
  const movedBoxes = Array.from(facesB, (face) => ({ face, box: b.faces[face].box.clone().translate(move) }));
  const bounds = movedBoxes.reduce((sum, { box }) => sum.union(box), new Box3());
  const near = Array.from(facesA).filter((face) => a.faces[face].box.intersectsBox(bounds));
  const boundsA = near.reduce((sum, face) => sum.union(a.faces[face].box), new Box3());
  const others = movedBoxes.filter(({ box }) => box.intersectsBox(boundsA));
  // Sweep and prune along x.
  near.sort((p, q) => a.faces[p].box.min.x - a.faces[q].box.min.x);
  others.sort((p, q) => p.box.min.x - q.box.min.x);
  const found: [number, number][] = [];
  let from = 0;
  const widest = Math.max(0, ...others.map(({ box }) => box.max.x - box.min.x));
  for (const face of near) {
    const { box, corners } = a.faces[face];
    while (from < others.length && others[from].box.min.x < box.min.x - widest) from++;
    for (let j = from; j < others.length && others[j].box.min.x <= box.max.x; j++) {
      if (!others[j].box.intersectsBox(box)) continue;
      const moved = b.faces[others[j].face].corners.map((corner) => corner.clone().add(move)) as unknown as Corners;
      if (!trianglesMeet(corners, moved)) continue;
      found.push([face, others[j].face]);
      if (!all) return found;
    }
  }
  return found;
}

/** Faces of both meshes that belong to a contact region. */
export interface Region {
  facesA: Set<number>;
  facesB: Set<number>;
}

/** The segment in which two faces intersect. */
interface Cut {
  faces: readonly [number, number];
  ends: readonly [Vector3, Vector3];
}

/** Ends of cuts this close are the same place, up to rounding of exact numbers. */
const SAME = 1e-12;

/**
 * Finds the regions: the curves in which two meshes intersect, joined where a piece of one surface inside the other mesh connects
 * them, with the faces that are cut and the faces of these pieces. Faces that share a corner do not join curves: large faces may
 * be cut by several.
 */
export function regionsOf(a: Surface, b: Surface): Region[] {
  const cuts = meetingFaces(a, b, new Vector3(), { all: true }).map((faces): Cut => {
    return { faces, ends: cutOf(a.faces[faces[0]].corners, b.faces[faces[1]].corners)! };
  });
  const sets = new Sets(cuts.length);
  cuts.forEach((cut, i) => {
    for (let j = 0; j < i; j++) {
      if (cut.ends.some((end) => cuts[j].ends.some((other) => end.distanceTo(other) <= SAME))) sets.unite(i, j);
    }
  });
  const pieces = [joinPieces(a, b, cuts, 0, sets), joinPieces(b, a, cuts, 1, sets)];
  const regions = new Map<number, Region>();
  const faces = [new Set(cuts.map((cut) => cut.faces[0])), new Set(cuts.map((cut) => cut.faces[1]))];
  cuts.forEach((cut, i) => {
    const root = sets.rootOf(i);
    if (!regions.has(root)) regions.set(root, { facesA: new Set(), facesB: new Set() });
    regions.get(root)!.facesA.add(cut.faces[0]);
    regions.get(root)!.facesB.add(cut.faces[1]);
  });
  [a, b].forEach((surface, side) => {
    surface.faces.forEach(({ vertices }, face) => {
      const piece = pieces[side].get(vertices[0]);
      if (piece === undefined || faces[side].has(face)) return;
      const region = regions.get(sets.rootOf(piece));
      (side === 0 ? region?.facesA : region?.facesB)?.add(face);
    });
  });
  return [...regions.values()];
}

const SHARES = Array.from({ length: 15 }, (_, i) => (i + 1) / 16);

/** Joins the parts of a surface inside the other one: vertices, whose numbers in the sets are returned, and cuts. */
function joinPieces(
  surface: Surface,
  other: Surface,
  cuts: readonly Cut[],
  side: 0 | 1,
  sets: Sets,
): Map<number, number> {
  const box = other.faces.reduce((sum, face) => sum.union(face.box), new Box3());
  const seen = new Set<number>();
  const inside = new Map<number, number>();
  for (const { corners, vertices } of surface.faces) {
    vertices.forEach((vertex, i) => {
      if (seen.has(vertex)) return;
      seen.add(vertex);
      if (box.containsPoint(corners[i]) && other.contains(corners[i])) inside.set(vertex, sets.add());
    });
  }
  const cutsOf = new Map<number, number[]>();
  cuts.forEach(({ faces }, i) => {
    const face = faces[side];
    cutsOf.set(face, [...(cutsOf.get(face) ?? []), i]);
  });
  surface.faces.forEach(({ corners, vertices }, face) => {
    const own = cutsOf.get(face) ?? [];
    const places = own.flatMap((i) => cuts[i].ends.map((place) => ({ place, piece: i })));
    vertices.forEach((vertex, i) => {
      const piece = inside.get(vertex);
      if (piece !== undefined) places.push({ place: corners[i], piece });
    });
    const normal = new Triangle(...corners).getNormal(new Vector3());
    places.forEach((from, i) => {
      for (const to of places.slice(0, i)) {
        if (sets.rootOf(from.piece) === sets.rootOf(to.piece)) continue;
        if (own.some((cut) => isBetween(cuts[cut].ends, from.place, to.place, normal))) continue;
        // A path that passes the ends of two cuts crosses neither of them.
        const isInside = (share: number) => other.contains(from.place.clone().lerp(to.place, share));
        if (own.length === 0 || SHARES.every(isInside)) sets.unite(from.piece, to.piece);
      }
    });
  });
  return inside;
}

/** Returns whether a cut crosses the path between two places of a face. */
function isBetween([p, q]: readonly [Vector3, Vector3], from: Vector3, to: Vector3, normal: Vector3): boolean {
  const [u, v] = [from.clone().lerp(to, 1e-6), to.clone().lerp(from, 1e-6)];
  return turn(u, v, p, normal) * turn(u, v, q, normal) <= 0 && turn(p, q, u, normal) * turn(p, q, v, normal) <= 0;
}

function turn(a: Vector3, b: Vector3, c: Vector3, normal: Vector3): number {
  return b.clone().sub(a).cross(c.clone().sub(a)).dot(normal);
}

/** Disjoint sets of numbers (union-find). */
class Sets {
  readonly #parents: number[];

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, i) => i);
  }

  /** Adds a number in its own set. */
  add(): number {
    return this.#parents.push(this.#parents.length) - 1;
  }

  rootOf(i: number): number {
    while (this.#parents[i] !== i) i = this.#parents[i];
    return i;
  }

  unite(i: number, j: number): void {
    this.#parents[this.rootOf(i)] = this.rootOf(j);
  }
}
