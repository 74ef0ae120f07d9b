import { Box3, type Matrix4, Vector3 } from 'three';
import { type Corners, trianglesMeet } from './exact.js';
import type { Triangles } from './meshes.js';
import { windingNumber } from './winding.js';

/** A triangle in the world, with the numbers of its corners: the same where their positions are. */
interface Face {
  corners: Corners;
  box: Box3;
  vertices: readonly number[];
}

/** A mesh in the world. */
export class Surface {
  readonly faces: Face[];
  readonly #mesh: Triangles;
  readonly #toMesh: Matrix4;
  readonly #byVertex = new Map<number, number[]>();

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
    this.faces.forEach(({ vertices }, face) => {
      for (const vertex of vertices) {
        if (!this.#byVertex.has(vertex)) this.#byVertex.set(vertex, []);
        this.#byVertex.get(vertex)!.push(face);
      }
    });
  }

  /** Faces that share a corner with one, itself included. */
  around(face: number): Set<number> {
    return new Set(this.faces[face].vertices.flatMap((vertex) => this.#byVertex.get(vertex)!));
  }

  contains(point: Vector3): boolean {
    return Math.abs(windingNumber(this.#mesh, point.clone().applyMatrix4(this.#toMesh))) > 0.5;
  }
}

/** Every pair of faces that meet while b is moved; of the given faces only. Stops at the first one unless `all`. */
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
  // Sweep along x.
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

/** Faces of both meshes that belong to a region of contact. */
export interface Region {
  facesA: Set<number>;
  facesB: Set<number>;
}

/**
 * The regions: pairs of faces that meet, joined where both share a corner, with the faces that lie inside of the other
 * mesh and hang together with them.
 */
export function regionsOf(a: Surface, b: Surface): Region[] {
  const pairs = meetingFaces(a, b, new Vector3(), { all: true });
  const crossing = [new Set(pairs.map(([p]) => p)), new Set(pairs.map(([, q]) => q))];
  const pockets = [pocketsOf(a, b, crossing[0]), pocketsOf(b, a, crossing[1])];
  const parents = pairs.map((_, i) => i);
  const rootOf = (i: number): number => (parents[i] === i ? i : rootOf(parents[i]));
  const unite = (i: number, j: number) => {
    parents[rootOf(i)] = rootOf(j);
  };
  const numbers = new Map(pairs.map(([p, q], i) => [`${p} ${q}`, i]));
  pairs.forEach(([p, q], i) => {
    for (const other of a.around(p)) {
      for (const too of b.around(q)) {
        const j = numbers.get(`${other} ${too}`);
        if (j !== undefined) unite(i, j);
      }
    }
  });
  // Pairs about one pocket.
  [a, b].forEach((surface, side) => {
    const first = new Map<number, number>();
    pairs.forEach((pair, i) => {
      for (const face of surface.around(pair[side])) {
        const pocket = pockets[side].get(face);
        if (pocket === undefined) continue;
        const known = first.get(pocket);
        if (known === undefined) first.set(pocket, i);
        else unite(i, known);
      }
    });
  });
  const regions = new Map<number, Region>();
  pairs.forEach(([p, q], i) => {
    const root = rootOf(i);
    if (!regions.has(root)) regions.set(root, { facesA: new Set(), facesB: new Set() });
    const { facesA, facesB } = regions.get(root)!;
    addWithPocket(a, p, pockets[0], facesA);
    addWithPocket(b, q, pockets[1], facesB);
  });
  return [...regions.values()];
}

function addWithPocket(surface: Surface, face: number, pockets: ReadonlyMap<number, number>, to: Set<number>): void {
  to.add(face);
  for (const near of surface.around(face)) {
    const pocket = pockets.get(near);
    if (pocket === undefined || to.has(near)) continue;
    for (const [other, own] of pockets) if (own === pocket) to.add(other);
  }
}

/** Which faces lie inside of another mesh, and in which pocket. */
function pocketsOf(surface: Surface, other: Surface, crossing: ReadonlySet<number>): Map<number, number> {
  const box = other.faces.reduce((sum, face) => sum.union(face.box), new Box3());
  const inside = new Set<number>();
  surface.faces.forEach(({ corners }, face) => {
    if (crossing.has(face)) return;
    const middle = corners[0].clone().add(corners[1]).add(corners[2]).divideScalar(3);
    if (box.containsPoint(middle) && other.contains(middle)) inside.add(face);
  });
  const pockets = new Map<number, number>();
  for (const start of inside) {
    if (pockets.has(start)) continue;
    const waiting = [start];
    pockets.set(start, start);
    for (let face = waiting.pop(); face !== undefined; face = waiting.pop()) {
      for (const near of surface.around(face)) {
        if (!inside.has(near) || pockets.has(near)) continue;
        pockets.set(near, start);
        waiting.push(near);
      }
    }
  }
  return pockets;
}
