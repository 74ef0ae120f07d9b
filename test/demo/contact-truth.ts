// The contacts in the demo's hall, triangle by triangle in exact arithmetic.
import {
  BoxGeometry,
  type BufferGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  type Object3D,
  Triangle,
  Vector3,
} from 'three';
import type { Hall } from '../../demo/contacts/hall.js';
import { labelOf } from '../../demo/contacts/labels.js';
import { CRATE } from '../../demo/contacts/work-cell.js';
import { type Corners, trianglesIntersect } from '../oracle/exact.js';

/** A mesh or an instance at its current transform. */
export interface Thing {
  label: string;
  /** Objects from the root down to it. */
  path: readonly Object3D[];
  matrix: Matrix4;
  /** For solid boxes: half of the edges, about the centre. */
  box: Vector3 | null;
  /** Nine numbers for each triangle that has an area, in world space. */
  corners: Float64Array;
  min: Vector3;
  max: Vector3;
}

export type Pair = readonly [Thing, Thing];

export function thingsIn(hall: Hall): Thing[] {
  const things: Thing[] = [];
  hall.root.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const geometry = object === hall.cell.crate ? new BoxGeometry(CRATE, CRATE, CRATE) : object.geometry;
    const count = object instanceof InstancedMesh ? object.count : 1;
    for (let i = 0; i < count; i++) {
      const matrix = object.matrixWorld.clone();
      const instance = new Matrix4();
      if (object instanceof InstancedMesh) object.getMatrixAt(i, instance);
      const instanceId = object instanceof InstancedMesh ? i : undefined;
      things.push(place(labelOf({ object, instanceId }), pathOf(object), geometry, matrix.multiply(instance)));
    }
  });
  return things;
}

/** All pairs that collide, except those within one robot. */
export function pairsThatMeet(hall: Hall, things: readonly Thing[]): Pair[] {
  const robots: readonly Object3D[] = hall.cell.robots.map(({ root }) => root);
  const robotOf = ({ path }: Thing): number => robots.findIndex((robot) => path.includes(robot));
  const pairs: Pair[] = [];
  things.forEach((a, i) => {
    for (const b of things.slice(i + 1)) {
      if (robotOf(a) >= 0 && robotOf(a) === robotOf(b)) continue;
      if (surfacesMeet(a, b) || isInBox(a, b) || isInBox(b, a)) pairs.push([a, b]);
    }
  });
  return pairs;
}

/** Whether a point is within a distance of a thing's surface. */
export function isNear({ corners }: Thing, point: Vector3, distance: number): boolean {
  const [low, high] = [point.clone().subScalar(distance), point.clone().addScalar(distance)];
  const triangle = new Triangle();
  const closest = new Vector3();
  return trianglesIn(corners, low, high).some((at) => {
    const [a, b, c] = cornersAt(corners, at);
    return triangle.set(a, b, c).closestPointToPoint(point, closest).distanceTo(point) <= distance;
  });
}

function pathOf(object: Object3D): Object3D[] {
  return object.parent === null ? [object] : [...pathOf(object.parent), object];
}

function place(label: string, path: readonly Object3D[], geometry: BufferGeometry, matrix: Matrix4): Thing {
  const { position } = geometry.attributes;
  const { index } = geometry;
  const vertexAt = (i: number) => new Vector3().fromBufferAttribute(position, index === null ? i : index.getX(i));
  const corners: number[] = [];
  const [min, max] = [new Vector3().setScalar(Number.POSITIVE_INFINITY), new Vector3().setScalar(-Infinity)];
  for (let i = 0; i < (index ?? position).count; i += 3) {
    const vertices = [vertexAt(i), vertexAt(i + 1), vertexAt(i + 2)];
    if (new Triangle(...(vertices as [Vector3, Vector3, Vector3])).getArea() === 0) continue;
    for (const vertex of vertices) {
      vertex.applyMatrix4(matrix);
      corners.push(vertex.x, vertex.y, vertex.z);
      min.min(vertex);
      max.max(vertex);
    }
  }
  const size = geometry instanceof BoxGeometry ? geometry.parameters : null;
  const box = size === null ? null : new Vector3(size.width, size.height, size.depth).divideScalar(2);
  return { label, path, matrix, box, corners: Float64Array.from(corners), min, max };
}

/** Sweeps along x over the triangles that reach into the bounds of both. */
function surfacesMeet(a: Thing, b: Thing): boolean {
  const [low, high] = [a.min.clone().max(b.min), a.max.clone().min(b.max)];
  if (low.x > high.x || low.y > high.y || low.z > high.z) return false;
  const [left, right] = [a, b].map(({ corners }) => {
    const found = trianglesIn(corners, low, high).map((at) => ({ at, ...rangeOf(corners, at) }));
    return found.sort((first, second) => first.min[0] - second.min[0]);
  });
  const longest = right.reduce((most, { min, max }) => Math.max(most, max[0] - min[0]), 0);
  let from = 0;
  for (const one of left) {
    while (from < right.length && right[from].min[0] < one.min[0] - longest) from++;
    for (let i = from; i < right.length && right[i].min[0] <= one.max[0]; i++) {
      const other = right[i];
      const isApart = [0, 1, 2].some((k) => one.min[k] > other.max[k] || other.min[k] > one.max[k]);
      if (!isApart && trianglesIntersect(cornersAt(a.corners, one.at), cornersAt(b.corners, other.at))) return true;
    }
  }
  return false;
}

/** Whether a corner of `a` is in the box `b`. */
function isInBox(a: Thing, b: Thing): boolean {
  if (b.box === null) return false;
  const { box } = b;
  const point = new Vector3().fromArray(a.corners).applyMatrix4(b.matrix.clone().invert());
  return Math.abs(point.x) <= box.x && Math.abs(point.y) <= box.y && Math.abs(point.z) <= box.z;
}

/** The offsets of the triangles whose bounds reach into a box. */
function trianglesIn(corners: Float64Array, low: Vector3, high: Vector3): number[] {
  const found: number[] = [];
  const isOut = (at: number, axis: number, from: number, to: number): boolean => {
    const [p, q, r] = [corners[at + axis], corners[at + 3 + axis], corners[at + 6 + axis]];
    return (p < from && q < from && r < from) || (p > to && q > to && r > to);
  };
  for (let at = 0; at < corners.length; at += 9) {
    if (!isOut(at, 0, low.x, high.x) && !isOut(at, 1, low.y, high.y) && !isOut(at, 2, low.z, high.z)) found.push(at);
  }
  return found;
}

function cornersAt(corners: Float64Array, at: number): Corners {
  return [0, 3, 6].map((offset) => new Vector3().fromArray(corners, at + offset)) as unknown as Corners;
}

function rangeOf(corners: Float64Array, at: number): { min: number[]; max: number[] } {
  const along = [0, 1, 2].map((axis) => [corners[at + axis], corners[at + 3 + axis], corners[at + 6 + axis]]);
  return { min: along.map((values) => Math.min(...values)), max: along.map((values) => Math.max(...values)) };
}
