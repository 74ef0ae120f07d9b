import { Box3, type Matrix4, Triangle, Vector3 } from 'three';
import { intersectionSegment } from './cut.js';
import { type Corners, trianglesIntersect } from './exact.js';
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
    const idByPosition = new Map<string, number>();
    const world = Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
    const vertexIds = world.map((vertex) => {
      const key = vertex.toArray().join();
      if (!idByPosition.has(key)) idByPosition.set(key, idByPosition.size);
      return idByPosition.get(key)!;
    });
    for (const vertex of world) vertex.applyMatrix4(matrix);
    this.faces = Array.from({ length: indices.length / 3 }, (_, i) => {
      const faceIndices = [...indices.subarray(3 * i, 3 * i + 3)];
      const corners = faceIndices.map((index) => world[index]) as unknown as Corners;
      return {
        corners,
        box: new Box3().setFromPoints([...corners]),
        vertices: faceIndices.map((index) => vertexIds[index]),
      };
    });
  }

  contains(point: Vector3): boolean {
    return Math.abs(windingNumber(this.#mesh, point.clone().applyMatrix4(this.#toMesh))) > 0.5;
  }
}

/** Every pair of the given faces that meet while b is moved. Stops at the first one unless `all`. */
export function intersectingFaces(
  a: Surface,
  b: Surface,
  offset: Vector3,
  options: { facesA?: Iterable<number>; facesB?: Iterable<number>; all?: boolean } = {},
): [number, number][] {
  const { facesA = a.faces.keys(), facesB = b.faces.keys(), all = false } = options;
  const movedBoxes = Array.from(facesB, (face) => ({ face, box: b.faces[face].box.clone().translate(offset) }));
  const bounds = movedBoxes.reduce((union, { box }) => union.union(box), new Box3());
  const candidatesA = Array.from(facesA).filter((face) => a.faces[face].box.intersectsBox(bounds));
  const boundsA = candidatesA.reduce((union, face) => union.union(a.faces[face].box), new Box3());
  const candidatesB = movedBoxes.filter(({ box }) => box.intersectsBox(boundsA));
  // Sweep and prune along x.
  candidatesA.sort((p, q) => a.faces[p].box.min.x - a.faces[q].box.min.x);
  candidatesB.sort((p, q) => p.box.min.x - q.box.min.x);
  const pairs: [number, number][] = [];
  let start = 0;
  const maxWidth = Math.max(0, ...candidatesB.map(({ box }) => box.max.x - box.min.x));
  for (const face of candidatesA) {
    const { box, corners } = a.faces[face];
    while (start < candidatesB.length && candidatesB[start].box.min.x < box.min.x - maxWidth) start++;
    for (let j = start; j < candidatesB.length && candidatesB[j].box.min.x <= box.max.x; j++) {
      if (!candidatesB[j].box.intersectsBox(box)) continue;
      const moved = b.faces[candidatesB[j].face].corners.map((corner) =>
        corner.clone().add(offset),
      ) as unknown as Corners;
      if (!trianglesIntersect(corners, moved)) continue;
      pairs.push([face, candidatesB[j].face]);
      if (!all) return pairs;
    }
  }
  return pairs;
}

/** Faces of both meshes that belong to a contact region. */
export interface Region {
  facesA: Set<number>;
  facesB: Set<number>;
}

/** The segment in which two faces intersect. */
interface CutSegment {
  faces: readonly [number, number];
  ends: readonly [Vector3, Vector3];
}

/** Ends of cuts this close are the same place, up to rounding of exact numbers. */
const SAME_POINT_DISTANCE = 1e-12;

/**
 * Finds the regions: the curves in which two meshes intersect, joined where a piece of one surface inside the other mesh connects
 * them, with the faces that are cut and the faces of these pieces. Faces that share a corner do not join curves: large faces may
 * be cut by several.
 */
export function regionsOf(a: Surface, b: Surface): Region[] {
  const cuts = intersectingFaces(a, b, new Vector3(), { all: true }).map((faces): CutSegment => {
    return { faces, ends: intersectionSegment(a.faces[faces[0]].corners, b.faces[faces[1]].corners)! };
  });
  const sets = new DisjointSets(cuts.length);
  cuts.forEach((cut, i) => {
    for (let j = 0; j < i; j++) {
      if (cut.ends.some((end) => cuts[j].ends.some((other) => end.distanceTo(other) <= SAME_POINT_DISTANCE)))
        sets.unite(i, j);
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

const SAMPLE_FRACTIONS = Array.from({ length: 15 }, (_, i) => (i + 1) / 16);

/** Joins the parts of a surface inside the other one: vertices, whose numbers in the sets are returned, and cuts. */
function joinPieces(
  surface: Surface,
  other: Surface,
  cuts: readonly CutSegment[],
  side: 0 | 1,
  sets: DisjointSets,
): Map<number, number> {
  const box = other.faces.reduce((union, face) => union.union(face.box), new Box3());
  const visited = new Set<number>();
  const insideVertices = new Map<number, number>();
  for (const { corners, vertices } of surface.faces) {
    vertices.forEach((vertex, i) => {
      if (visited.has(vertex)) return;
      visited.add(vertex);
      if (box.containsPoint(corners[i]) && other.contains(corners[i])) insideVertices.set(vertex, sets.add());
    });
  }
  const cutsOf = new Map<number, number[]>();
  cuts.forEach(({ faces }, i) => {
    const face = faces[side];
    cutsOf.set(face, [...(cutsOf.get(face) ?? []), i]);
  });
  surface.faces.forEach(({ corners, vertices }, face) => {
    const faceCuts = cutsOf.get(face) ?? [];
    const points = faceCuts.flatMap((i) => cuts[i].ends.map((place) => ({ place, piece: i })));
    vertices.forEach((vertex, i) => {
      const piece = insideVertices.get(vertex);
      if (piece !== undefined) points.push({ place: corners[i], piece });
    });
    const normal = new Triangle(...corners).getNormal(new Vector3());
    points.forEach((from, i) => {
      for (const to of points.slice(0, i)) {
        if (sets.rootOf(from.piece) === sets.rootOf(to.piece)) continue;
        if (faceCuts.some((cut) => isPathCut(cuts[cut].ends, from.place, to.place, normal))) continue;
        // A path that passes the ends of two cuts crosses neither of them.
        const isInside = (fraction: number) => other.contains(from.place.clone().lerp(to.place, fraction));
        if (faceCuts.length === 0 || SAMPLE_FRACTIONS.every(isInside)) sets.unite(from.piece, to.piece);
      }
    });
  });
  return insideVertices;
}

/** Returns whether a cut crosses the path between two places of a face. */
function isPathCut([p, q]: readonly [Vector3, Vector3], from: Vector3, to: Vector3, normal: Vector3): boolean {
  const [u, v] = [from.clone().lerp(to, 1e-6), to.clone().lerp(from, 1e-6)];
  return (
    orientation(u, v, p, normal) * orientation(u, v, q, normal) <= 0 &&
    orientation(p, q, u, normal) * orientation(p, q, v, normal) <= 0
  );
}

function orientation(a: Vector3, b: Vector3, c: Vector3, normal: Vector3): number {
  return b.clone().sub(a).cross(c.clone().sub(a)).dot(normal);
}

/** Disjoint sets of numbers (union-find). */
class DisjointSets {
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
