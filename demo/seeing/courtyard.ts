import { type BoxGeometry, Group, type Mesh } from 'three';
import { Guard } from './guard.js';
import { Visitors } from './visitors.js';
import { createWalls, wallAt } from './walls.js';

/** Nearer to a wall the guard does not come. */
const ROOM = 0.4;

/** Walls, visitors and a guard. */
export class Courtyard {
  readonly root = new Group();
  readonly walls: readonly Mesh<BoxGeometry>[] = createWalls();
  readonly visitors: Visitors;
  readonly guard = new Guard();

  constructor(seed: number) {
    this.visitors = new Visitors(this.walls, seed);
    this.root.add(...this.walls, ...this.visitors.meshes, this.guard.root);
    this.root.updateMatrixWorld(true);
  }

  isFree(x: number, z: number): boolean {
    return wallAt(this.walls, x, z, ROOM) === null;
  }
}
