import { Box3, Matrix4, type Mesh, Ray, Triangle, Vector3 } from 'three';
import { OBB } from 'three/addons/math/OBB.js';
import type { Outcome } from './outcome.js';
import { MAX_BOXES, type World } from './world.js';

/** No smaller than any box is long, so that boxes that touch are in neighbouring cells. */
const CELL = 0.6;
/** Of a dragon's triangle in the world. */
const LONGEST_EDGE = 0.2;
const CUBE = new Box3(new Vector3(-0.5, -0.5, -0.5), new Vector3(0.5, 0.5, 0.5));

/** Which boxes and dragons touch, by three's classes and loops: a grid for the boxes, triangle by triangle for the rest. */
export class MainThreadContacts {
  readonly #world: World;
  readonly #boxes = Array.from({ length: MAX_BOXES }, () => new OBB());
  readonly #cells = new Map<number, number[]>();

  constructor(world: World) {
    this.#world = world;
  }

  find(outcome: Outcome): void {
    this.#boxesAndBoxes(outcome);
    this.#dragonsAndBoxes(outcome);
    this.#dragonsAndDragons(outcome);
  }

  #boxesAndBoxes(outcome: Outcome): void {
    const { boxes } = this.#world;
    this.#cells.clear();
    for (let i = 0; i < boxes.count; i++) {
      boxes.getMatrixAt(i, MATRIX);
      const { center } = this.#boxes[i].fromBox3(CUBE).applyMatrix4(MATRIX);
      for (let dx = -1; dx <= 1; dx++) {
        for (let dy = -1; dy <= 1; dy++) {
          for (let dz = -1; dz <= 1; dz++) this.#boxAndCell(i, keyOf(center, dx, dy, dz), outcome);
        }
      }
      const key = keyOf(center, 0, 0, 0);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [i]);
      else cell.push(i);
    }
  }

  /** Only boxes that came before are in a cell, so each pair is tested once. */
  #boxAndCell(i: number, key: number, outcome: Outcome): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    for (const j of cell) {
      if (!this.#boxes[i].intersectsOBB(this.#boxes[j])) continue;
      outcome.touching[i] = 1;
      outcome.touching[j] = 1;
      outcome.pairs++;
    }
  }

  #dragonsAndBoxes(outcome: Outcome): void {
    const { boxes, dragons } = this.#world;
    dragons.forEach((dragon, d) => {
      const bounds = dragon.geometry.boundingBox!;
      const around = new OBB().fromBox3(bounds).applyMatrix4(dragon.matrixWorld);
      bounds.getCenter(around.center).applyMatrix4(dragon.matrixWorld); // which OBB only moves, not turns
      for (let i = 0; i < boxes.count; i++) {
        if (!around.intersectsOBB(this.#boxes[i])) continue;
        boxes.getMatrixAt(i, MATRIX);
        if (!meshTouchesCube(dragon, MATRIX)) continue;
        outcome.touching[i] = 1;
        outcome.touchingDragons[d] = true;
        outcome.pairs++;
      }
    });
  }

  #dragonsAndDragons(outcome: Outcome): void {
    const { dragons } = this.#world;
    for (let a = 0; a < dragons.length; a++) {
      for (let b = a + 1; b < dragons.length; b++) {
        if (!meshesTouch(dragons[a], dragons[b])) continue;
        outcome.touchingDragons[a] = true;
        outcome.touchingDragons[b] = true;
        outcome.pairs++;
      }
    }
  }
}

const MATRIX = new Matrix4();
const TO_CUBE = new Matrix4();
const TRIANGLE = new Triangle();
const BOX = new Box3();

function keyOf({ x, y, z }: Vector3, dx: number, dy: number, dz: number): number {
  const cell = (value: number, offset: number): number => Math.floor(value / CELL) + offset + 512;
  return (cell(x, dx) * 1024 + cell(y, dy)) * 1024 + cell(z, dz);
}

/** Whether a triangle of `mesh` touches the unit cube under `cube`. */
function meshTouchesCube(mesh: Mesh, cube: Matrix4): boolean {
  TO_CUBE.copy(mesh.matrixWorld).invert().multiply(cube);
  BOX.copy(CUBE).applyMatrix4(TO_CUBE); // in the mesh's space, to skip most triangles without moving them
  TO_CUBE.invert();
  return someTriangle(mesh, BOX, ({ a, b, c }) => {
    a.applyMatrix4(TO_CUBE);
    b.applyMatrix4(TO_CUBE);
    c.applyMatrix4(TO_CUBE);
    return CUBE.intersectsTriangle(TRIANGLE);
  });
}

/** Whether two meshes have triangles that cut each other. */
function meshesTouch(first: Mesh, second: Mesh): boolean {
  const box = boundsOf(first).intersect(boundsOf(second));
  if (box.isEmpty()) return false;
  const left = trianglesNear(first, box);
  const right = trianglesNear(second, box);
  // Sweep along x: both lists begin with what begins first.
  let from = 0;
  for (const { box: around, triangle } of left) {
    while (from < right.length && right[from].box.min.x < around.min.x - LONGEST_EDGE) from++;
    for (let i = from; i < right.length && right[i].box.min.x <= around.max.x; i++) {
      const other = right[i];
      if (!around.intersectsBox(other.box)) continue;
      if (cuts(triangle, other.triangle) || cuts(other.triangle, triangle)) return true;
    }
  }
  return false;
}

interface BoxedTriangle {
  triangle: Triangle;
  box: Box3;
}

/** In world space, sorted by where they begin along x. */
function trianglesNear(mesh: Mesh, box: Box3): BoxedTriangle[] {
  const near: BoxedTriangle[] = [];
  someTriangle(mesh, box.clone().applyMatrix4(MATRIX.copy(mesh.matrixWorld).invert()), ({ a, b, c }) => {
    for (const corner of [a, b, c]) corner.applyMatrix4(mesh.matrixWorld);
    const around = new Box3().setFromPoints([a, b, c]);
    if (around.intersectsBox(box)) near.push({ triangle: TRIANGLE.clone(), box: around });
    return false;
  });
  return near.sort((a, b) => a.box.min.x - b.box.min.x);
}

/** Whether `test` holds for a triangle of `mesh` near `box`, both in the mesh's own space. */
function someTriangle(mesh: Mesh, box: Box3, test: (triangle: Triangle) => boolean): boolean {
  const indices = mesh.geometry.index!.array;
  const positions = mesh.geometry.attributes.position.array;
  const { min, max } = box;
  for (let i = 0; i < indices.length; i += 3) {
    const a = 3 * indices[i];
    const b = 3 * indices[i + 1];
    const c = 3 * indices[i + 2];
    if (
      outside(positions[a], positions[b], positions[c], min.x, max.x) ||
      outside(positions[a + 1], positions[b + 1], positions[c + 1], min.y, max.y) ||
      outside(positions[a + 2], positions[b + 2], positions[c + 2], min.z, max.z)
    ) {
      continue;
    }
    TRIANGLE.a.fromArray(positions, a);
    TRIANGLE.b.fromArray(positions, b);
    TRIANGLE.c.fromArray(positions, c);
    if (test(TRIANGLE)) return true;
  }
  return false;
}

function outside(a: number, b: number, c: number, low: number, high: number): boolean {
  return (a < low && b < low && c < low) || (a > high && b > high && c > high);
}

function boundsOf({ geometry, matrixWorld }: Mesh): Box3 {
  return geometry.boundingBox!.clone().applyMatrix4(matrixWorld);
}

const EDGE = new Ray();
const CROSSING = new Vector3();

/** Whether an edge of one triangle passes through the other. */
function cuts(edges: Triangle, face: Triangle): boolean {
  const { a, b, c } = edges;
  return edgeCuts(a, b, face) || edgeCuts(b, c, face) || edgeCuts(c, a, face);
}

function edgeCuts(from: Vector3, to: Vector3, { a, b, c }: Triangle): boolean {
  EDGE.origin.copy(from);
  EDGE.direction.subVectors(to, from); // its length is the ray's unit
  if (EDGE.intersectTriangle(a, b, c, false, CROSSING) === null) return false;
  return CROSSING.distanceToSquared(from) <= EDGE.direction.lengthSq();
}
