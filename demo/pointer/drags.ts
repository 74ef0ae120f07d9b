import type { PointerEvent } from '@pmndrs/pointer-events';
import { Plane, Ray, Vector3 } from 'three';
import type { Toy, ToyTable } from './table.js';

interface Drag {
  readonly toy: Toy;
  /** The plane in which the pointer drags, at the height at which it grabbed the toy. */
  readonly plane: Plane;
  /** Vector from the pointer to the toy's position. */
  readonly offset: Vector3;
}

/** Toys that pointers drag over the table, one per pointer. */
export class Drags {
  readonly #table: ToyTable;
  readonly #drags = new Map<number, Drag>();

  constructor(table: ToyTable) {
    this.#table = table;
    for (const toy of table.toys) {
      toy.addEventListener('pointerdown', (event) => this.#begin(toy, event));
      toy.addEventListener('pointermove', (event) => this.#move(event));
      toy.addEventListener('pointerup', (event) => this.#end(event));
      toy.addEventListener('pointercancel', (event) => this.#end(event));
    }
  }

  get count(): number {
    return this.#drags.size;
  }

  #begin(toy: Toy, event: PointerEvent): void {
    const isTaken = [...this.#drags.values()].some((drag) => drag.toy === toy);
    if (event.button !== 0 || isTaken) return;
    this.#table.pickUp(toy);
    toy.setPointerCapture(event.pointerId);
    const plane = new Plane(new Vector3(0, 1, 0), -event.point.y);
    this.#drags.set(event.pointerId, { toy, plane, offset: toy.position.clone().sub(event.point) });
  }

  #move(event: PointerEvent): void {
    const drag = this.#drags.get(event.pointerId);
    if (drag === undefined) return;
    const hitPoint = rayOf(event).intersectPlane(drag.plane, new Vector3());
    if (hitPoint !== null) this.#table.move(drag.toy, hitPoint.add(drag.offset).setY(0));
  }

  #end(event: PointerEvent): void {
    const drag = this.#drags.get(event.pointerId);
    if (drag === undefined) return;
    this.#drags.delete(event.pointerId);
    this.#table.putDown(drag.toy);
  }
}

/** The pick ray of a pointer. */
function rayOf({ camera, point }: PointerEvent): Ray {
  const pixel = point.clone().project(camera);
  const near = new Vector3(pixel.x, pixel.y, -1).unproject(camera);
  return new Ray(near, new Vector3(pixel.x, pixel.y, 1).unproject(camera).sub(near).normalize());
}
