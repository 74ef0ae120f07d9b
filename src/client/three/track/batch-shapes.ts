import type { BatchedMesh } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { MeshInfo, Shape } from '../../../shared/types.js';
import { invalidArgument } from '../../check/validate.js';
import { whatIsOpen } from '../../scene/open-mesh.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { AskedOptions } from './asked-options.js';
import { DELETED } from './batch-contents.js';
import type { BatchPart } from './batch-part.js';
import { nameOf } from './name-of.js';

/** The shape of an id that has no geometry in the service; such an id is in no layer. */
const PLACEHOLDER: Shape = { type: 'sphere', radius: 1 };
/** Stand for the placeholder, and for the shape that the caller gave, in place of a geometry's number. */
export const NOTHING = -1;
export const GIVEN = -2;

/** The meshes of a BatchedMesh's geometries, and the choice of the shape of each instance. */
export class BatchShapes {
  /** The parts by the numbers of their geometries; undefined for geometries that three no longer has. */
  readonly parts: (BatchPart | undefined)[] = [];
  readonly #object: BatchedMesh;
  readonly #asked: AskedOptions;

  constructor(object: BatchedMesh, asked: AskedOptions) {
    this.#object = object;
    this.#asked = asked;
  }

  get areBuilding(): boolean {
    return this.parts.some((part) => part?.pending === true);
  }

  /** The error of one of the geometries that instances need; null if there is none. */
  get error(): CollisionError | null {
    return this.parts.find((part) => part !== undefined && part.wanted > 0 && part.error !== null)?.error ?? null;
  }

  /**
   * Switches geometries to the meshes that are built now; returns the previous mesh of each geometry that was switched, by its
   * number.
   */
  renew(infoOf: (built: BuiltMesh) => Readonly<MeshInfo>): Map<number, BuiltMesh | null> {
    const before = new Map<number, BuiltMesh | null>();
    this.parts.forEach((part, number) => {
      if (part === undefined) return;
      const { built } = part;
      part.refusal = this.#asked.isSolid && built !== null ? this.#refusalOf(number, infoOf(built)) : null;
      const next = part.refusal === null ? built : null;
      if (next?.id === part.standing?.id) return;
      before.set(number, part.standing);
      part.standing = next;
    });
    return before;
  }

  /** Returns the error of a geometry that must be solid if its triangles are open, else null. */
  #refusalOf(number: number, info: Readonly<MeshInfo>): CollisionError | null {
    if (info.closed) return null;
    const message =
      `trackScene: the triangles of geometry ${number} of the ${nameOf(this.#object)} are open, expected closed ones ` +
      `as it shall be solid: ${whatIsOpen(info)}`;
    return invalidArgument(message);
  }

  /**
   * Returns the number of the geometry whose mesh an instance should have, from its state in three and the number that it has
   * now.
   */
  targetOf(state: number, standing: number): number {
    if (this.#asked.shape !== null) return GIVEN;
    const number = geometryOf(state);
    if (number < 0) return standing === GIVEN ? NOTHING : standing; // no need for another one
    const part = this.parts[number];
    return part === undefined || part.standing === null ? NOTHING : number;
  }

  /** Returns the service's shape for a geometry's number. */
  shapeOf(number: number): Shape {
    if (number === GIVEN) return this.#asked.shape!;
    const standing = this.parts[number]?.standing;
    return standing ? { type: 'mesh', mesh: standing.id, solid: this.#asked.isSolid } : PLACEHOLDER;
  }

  /** Returns the mesh for a geometry's number, in terms of the current buffers. */
  standingOn(number: number): BuiltMesh | null {
    const part = this.parts[number];
    if (part === undefined) return null;
    const { built, standing } = part;
    return built?.id === standing?.id ? built : standing;
  }

  /** Updates the counts for an instance whose state changes. */
  count(before: number, after: number): void {
    const [left, entered] = [this.parts[geometryOf(before)], this.parts[geometryOf(after)]];
    if (left !== undefined) left.wanted--;
    if (entered !== undefined) entered.wanted++;
  }

  release(): void {
    for (const part of this.parts) part?.release();
    this.parts.length = 0;
  }
}

/** Returns the number of an instance's geometry, visible or not; -1 for a deleted instance. */
export function geometryOf(state: number): number {
  return state === DELETED ? NOTHING : state < 0 ? ~state : state;
}
