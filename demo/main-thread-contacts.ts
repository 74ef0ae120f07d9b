import { Box3, Matrix4, type Mesh, Vector3 } from 'three';
import { OBB } from 'three/addons/math/OBB.js';
import type { MeshBVH } from 'three-mesh-bvh';
import type { Outcome } from './outcome.js';
import { MAX_BOXES, type World } from './world.js';

/** At least the length of any box, so that boxes that touch are in neighbouring cells. */
const CELL_SIZE = 0.6;
const CUBE = new Box3(new Vector3(-0.5, -0.5, -0.5), new Vector3(0.5, 0.5, 0.5));

/** Finds which boxes and dragons touch: a grid and three's OBB for boxes, three-mesh-bvh for triangles. */
export class MainThreadContacts {
  readonly #world: World;
  readonly #trees: readonly MeshBVH[];
  readonly #boxes = Array.from({ length: MAX_BOXES }, () => new OBB());
  readonly #cells = new Map<number, number[]>();

  /** `trees` has one tree per dragon. */
  constructor(world: World, trees: readonly MeshBVH[]) {
    this.#world = world;
    this.#trees = trees;
  }

  find(outcome: Outcome): void {
    this.#findBoxPairs(outcome);
    this.#findDragonBoxPairs(outcome);
    this.#findDragonPairs(outcome);
  }

  #findBoxPairs(outcome: Outcome): void {
    const { boxes } = this.#world;
    this.#cells.clear();
    for (let i = 0; i < boxes.count; i++) {
      boxes.getMatrixAt(i, MATRIX);
      const { center } = this.#boxes[i].fromBox3(CUBE).applyMatrix4(MATRIX);
      for (let dx = -1; dx <= 1; dx++) {
        for (let dy = -1; dy <= 1; dy++) {
          for (let dz = -1; dz <= 1; dz++) this.#testBoxAgainstCell(i, keyOf(center, dx, dy, dz), outcome);
        }
      }
      const key = keyOf(center, 0, 0, 0);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [i]);
      else cell.push(i);
    }
  }

  /** A cell contains only earlier boxes, so each pair is tested once. */
  #testBoxAgainstCell(i: number, key: number, outcome: Outcome): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    for (const j of cell) {
      if (!this.#boxes[i].intersectsOBB(this.#boxes[j])) continue;
      outcome.touching[i] = 1;
      outcome.touching[j] = 1;
      outcome.pairs++;
    }
  }

  #findDragonBoxPairs(outcome: Outcome): void {
    const { boxes, dragons } = this.#world;
    dragons.forEach((dragon, d) => {
      const bounds = dragon.geometry.boundingBox!;
      const dragonBox = new OBB().fromBox3(bounds).applyMatrix4(dragon.matrixWorld);
      bounds.getCenter(dragonBox.center).applyMatrix4(dragon.matrixWorld); // OBB itself only moves its centre, and does not rotate
      TO_DRAGON.copy(dragon.matrixWorld).invert();
      for (let i = 0; i < boxes.count; i++) {
        if (!dragonBox.intersectsOBB(this.#boxes[i])) continue;
        boxes.getMatrixAt(i, MATRIX);
        if (!this.#trees[d].intersectsBox(CUBE, MATRIX.premultiply(TO_DRAGON))) continue;
        outcome.touching[i] = 1;
        outcome.touchingDragons[d] = true;
        outcome.pairs++;
      }
    });
  }

  #findDragonPairs(outcome: Outcome): void {
    const { dragons } = this.#world;
    for (let a = 0; a < dragons.length; a++) {
      for (let b = a + 1; b < dragons.length; b++) {
        if (!this.#dragonsTouch(a, b)) continue;
        outcome.touchingDragons[a] = true;
        outcome.touchingDragons[b] = true;
        outcome.pairs++;
      }
    }
  }

  #dragonsTouch(a: number, b: number): boolean {
    const { dragons } = this.#world;
    if (!boundsOf(dragons[a]).intersectsBox(boundsOf(dragons[b]))) return false;
    MATRIX.copy(dragons[a].matrixWorld).invert().multiply(dragons[b].matrixWorld);
    return this.#trees[a].intersectsGeometry(dragons[b].geometry, MATRIX);
  }
}

const MATRIX = new Matrix4();
const TO_DRAGON = new Matrix4();

function keyOf({ x, y, z }: Vector3, dx: number, dy: number, dz: number): number {
  const cell = (value: number, offset: number): number => Math.floor(value / CELL_SIZE) + offset + 512;
  return (cell(x, dx) * 1024 + cell(y, dy)) * 1024 + cell(z, dz);
}

function boundsOf({ geometry, matrixWorld }: Mesh): Box3 {
  return geometry.boundingBox!.clone().applyMatrix4(matrixWorld);
}
