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

/** Under an id that has no geometry in the service; it is in no layer. */
const PLACEHOLDER: Shape = { type: 'sphere', radius: 1 };
/** Instead of a geometry's number: the placeholder, and the shape that the caller gave. */
export const NOTHING = -1;
export const GIVEN = -2;

/** The meshes of a BatchedMesh's geometries, and which of them, or what else, is to stand under the id of an instance. */
export class BatchShapes {
  /** They are found by the numbers of the geometries; undefined for those that three does not have any more. */
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

  /** Answers why one of those that instances want does not stand. */
  get error(): CollisionError | null {
    return this.parts.find((part) => part !== undefined && part.wanted > 0 && part.error !== null)?.error ?? null;
  }

  /**
   * Has those geometries stand on what is built now of which that is another mesh; answers what they stood on before, by
   * their numbers.
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

  /** Answers why the triangles of a geometry cannot stand, if they are open. */
  #refusalOf(number: number, info: Readonly<MeshInfo>): CollisionError | null {
    if (info.closed) return null;
    const message =
      `trackScene: the triangles of geometry ${number} of the ${nameOf(this.#object)} are open, expected closed ones ` +
      `as it shall be solid: ${whatIsOpen(info)}`;
    return invalidArgument(message);
  }

  /** Answers the number of the geometry on whose mesh an instance is to stand, of what it is in three, and on which it stands. */
  targetOf(state: number, standing: number): number {
    if (this.#asked.shape !== null) return GIVEN;
    const number = geometryOf(state);
    if (number < 0) return standing === GIVEN ? NOTHING : standing; // no need for another one
    const part = this.parts[number];
    return part === undefined || part.standing === null ? NOTHING : number;
  }

  /** Answers what the service takes for a geometry's number. */
  shapeOf(number: number): Shape {
    if (number === GIVEN) return this.#asked.shape!;
    const standing = this.parts[number]?.standing;
    return standing ? { type: 'mesh', mesh: standing.id, solid: this.#asked.isSolid } : PLACEHOLDER;
  }

  /** Answers what stands there, in terms of the buffers as they are. */
  standingOn(number: number): BuiltMesh | null {
    const part = this.parts[number];
    if (part === undefined) return null;
    const { built, standing } = part;
    return built?.id === standing?.id ? built : standing;
  }

  /** Counts an instance that is another than before. */
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

/** Answers the number of the geometry that an instance has, visible or not; -1 for a deleted one. */
export function geometryOf(state: number): number {
  return state === DELETED ? NOTHING : state < 0 ? ~state : state;
}
