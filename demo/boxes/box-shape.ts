import type { NamedBox } from 'collision-worker';
import {
  BoxGeometry,
  Color,
  EdgesGeometry,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  Object3D,
} from 'three';
import { IS_LIGHT } from '../scenery.js';

const CUBE = new BoxGeometry(2, 2, 2);
const EDGES = new EdgesGeometry(CUBE);
const HUES = [0.58, 0.09, 0.83, 0.33, 0.5, 0.0, 0.72, 0.15];
/** Minimum half extent of a box, so that it can be scaled up again. */
const MIN_HALF_EXTENT = 1e-4;

/** A box as it is drawn and edited: its scale is half its size. */
export class BoxShape extends Object3D {
  readonly #edges: LineBasicMaterial;
  readonly #faces: MeshBasicMaterial;

  constructor({ name, center, halfExtents, rotation }: NamedBox, index: number) {
    super();
    this.name = name;
    this.position.fromArray(center ?? [0, 0, 0]);
    this.scale.fromArray(halfExtents);
    if (rotation !== undefined) this.quaternion.fromArray(rotation);
    const color = new Color().setHSL(HUES[index % HUES.length], 0.75, IS_LIGHT ? 0.4 : 0.6);
    this.#edges = new LineBasicMaterial({ color });
    this.#faces = new MeshBasicMaterial({ color, transparent: true, opacity: 0.08, depthWrite: false });
    this.add(new LineSegments(EDGES, this.#edges), new Mesh(CUBE, this.#faces));
  }

  get style(): string {
    return this.#edges.color.getStyle();
  }

  light(isSelected: boolean, isUnderPointer: boolean): void {
    this.#faces.opacity = isSelected ? 0.28 : isUnderPointer ? 0.18 : 0.08;
  }

  /** Returns the box in the form that the service takes. A negative scale gives the same box. */
  toBox(): NamedBox {
    const [x, y, z] = this.scale.toArray().map((half) => Math.max(Math.abs(half), MIN_HALF_EXTENT));
    return {
      name: this.name,
      center: this.position.toArray(),
      halfExtents: [x, y, z],
      rotation: this.quaternion.clone().normalize().toArray() as [number, number, number, number],
    };
  }

  disposeResources(): void {
    this.#edges.dispose();
    this.#faces.dispose();
  }
}
