import { type BufferGeometry, Group, type Object3D } from 'three';
import { Heap } from './heap.js';
import { WorkCell } from './work-cell.js';

/** Everything that can touch. */
export class Hall {
  readonly root = new Group();
  readonly cell = new WorkCell();
  readonly heap: Heap;

  constructor(dragon: BufferGeometry, dragons: number, teapots: number) {
    this.heap = new Heap(dragon, dragons, teapots);
    this.root.add(this.cell.root, this.heap.root);
    this.pose(0);
  }

  /** Puts everything where it is at that time. */
  pose(seconds: number): void {
    this.cell.pose(seconds);
    this.heap.pose(seconds);
    this.root.updateMatrixWorld(true);
  }

  /** The parts of a robot are a group, which has no contacts of its own. 0 for all else. */
  groupOf({ id }: Object3D): number {
    return 1 + this.cell.robots.findIndex(({ root }) => root.getObjectById(id));
  }
}
