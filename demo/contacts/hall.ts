import { type BufferGeometry, Group, Mesh, MeshPhongMaterial, type Object3D, TorusKnotGeometry } from 'three';
import { nextTurn } from '../next-turn.js';
import { Heap } from './heap.js';
import { WorkCell } from './work-cell.js';

/** All objects that can touch. */
export class Hall {
  readonly root = new Group();
  readonly cell: WorkCell;
  readonly heap: Heap;
  /** The knot can be dragged. */
  readonly knot = createKnot();

  /** Creates the objects one by one, and yields to the page in between. */
  static async create(dragon: BufferGeometry, dragons: number, teapots: number): Promise<Hall> {
    const cell = await WorkCell.create();
    await nextTurn();
    const heap = new Heap(dragon, dragons, teapots);
    await nextTurn();
    return new Hall(cell, heap);
  }

  private constructor(cell: WorkCell, heap: Heap) {
    this.cell = cell;
    this.heap = heap;
    this.root.add(cell.root, heap.root, this.knot);
    this.pose(0);
  }

  /** Poses everything for a time. */
  pose(seconds: number): void {
    this.cell.pose(seconds);
    this.heap.pose(seconds);
    this.root.updateMatrixWorld(true);
  }

  /** The collision group of an object: the parts of a robot share one and make no contacts with each other. 0 for all others. */
  groupOf({ id }: Object3D): number {
    return 1 + this.cell.robots.findIndex(({ root }) => root.getObjectById(id));
  }
}

function createKnot(): Mesh {
  const material = new MeshPhongMaterial({ color: 0xc7cdd8, specular: 0x333a44, shininess: 40 });
  const knot = new Mesh(new TorusKnotGeometry(0.28, 0.09, 80, 10), material);
  knot.name = 'knot';
  knot.position.set(-1.6, 0.75, 2.6); // out of everyone's reach
  return knot;
}
