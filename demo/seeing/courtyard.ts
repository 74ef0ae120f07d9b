import { type BoxGeometry, Group, type Mesh } from 'three';
import { Guard } from './guard.js';
import { Heist } from './heist.js';
import { Visitors } from './visitors.js';
import { createWalls, wallAt } from './walls.js';

/** Minimum distance of guard and thief from a wall. */
const MIN_WALL_DISTANCE = 0.4;

/** Walls, visitors, a guard and a thief. */
export class Courtyard {
  readonly root = new Group();
  readonly walls: readonly Mesh<BoxGeometry>[] = createWalls();
  readonly visitors: Visitors;
  readonly guard = new Guard();
  readonly heist = new Heist((x, z) => this.isFree(x, z));
  /** The objects that are tested for visibility to the guard. */
  readonly watched: readonly Mesh[];

  constructor(seed: number) {
    this.visitors = new Visitors(this.walls, seed);
    this.watched = [...this.visitors.meshes, this.heist.thief];
    this.root.add(...this.walls, ...this.watched, this.guard.root);
    this.root.updateMatrixWorld(true);
  }

  isFree(x: number, z: number): boolean {
    return wallAt(this.walls, x, z, MIN_WALL_DISTANCE) === null;
  }
}
