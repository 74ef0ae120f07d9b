import type { BatchedMesh } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { MeshInfo, Shape } from '../../../shared/types.js';
import { invalidArgumentError } from '../../check/validate.js';
import { describeOpenEdges } from '../../scene/open-mesh.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import { DELETED } from './batch-contents.js';
import type { BatchPart } from './batch-part.js';
import { nameOf } from './name-of.js';
import type { ResolvedOptions } from './resolved-options.js';

/** The shape of an id that has no geometry in the service; such an id is in no layer. */
const PLACEHOLDER: Shape = { type: 'sphere', radius: 1 };
/** Stand for the placeholder, and for the shape that the caller gave, in place of a geometry's id. */
export const NO_GEOMETRY = -1;
export const CALLER_SHAPE = -2;

/** The meshes of a BatchedMesh's geometries, and the choice of the shape of each instance. */
export class BatchShapes {
  /** The parts by the ids of their geometries; undefined for geometries that three no longer has. */
  readonly parts: (BatchPart | undefined)[] = [];
  readonly #object: BatchedMesh;
  readonly #resolved: ResolvedOptions;

  constructor(object: BatchedMesh, resolved: ResolvedOptions) {
    this.#object = object;
    this.#resolved = resolved;
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
   * id.
   */
  renew(infoOf: (built: BuiltMesh) => Readonly<MeshInfo>): Map<number, BuiltMesh | null> {
    const previousMeshes = new Map<number, BuiltMesh | null>();
    this.parts.forEach((part, geometryId) => {
      if (part === undefined) return;
      const { built } = part;
      part.refusal = this.#resolved.isSolid && built !== null ? this.#refusalOf(geometryId, infoOf(built)) : null;
      const newMesh = part.refusal === null ? built : null;
      if (newMesh?.id === part.standing?.id) return;
      previousMeshes.set(geometryId, part.standing);
      part.standing = newMesh;
    });
    return previousMeshes;
  }

  /** Returns the error of a geometry that must be solid if its triangles are open, else null. */
  #refusalOf(geometryId: number, info: Readonly<MeshInfo>): CollisionError | null {
    if (info.closed) return null;
    const message =
      `trackScene: the triangles of geometry ${geometryId} of the ${nameOf(this.#object)} are open, expected closed ones ` +
      `as it shall be solid: ${describeOpenEdges(info)}`;
    return invalidArgumentError(message);
  }

  /**
   * Returns the id of the geometry whose mesh an instance should have, from its state in three and the id that it has
   * now.
   */
  targetOf(state: number, currentGeometryId: number): number {
    if (this.#resolved.shape !== null) return CALLER_SHAPE;
    const geometryId = geometryIdOf(state);
    if (geometryId < 0) return currentGeometryId === CALLER_SHAPE ? NO_GEOMETRY : currentGeometryId; // no need for another one
    const part = this.parts[geometryId];
    return part === undefined || part.standing === null ? NO_GEOMETRY : geometryId;
  }

  /** Returns the service's shape for a geometry's id. */
  shapeOf(geometryId: number): Shape {
    if (geometryId === CALLER_SHAPE) return this.#resolved.shape!;
    const mesh = this.parts[geometryId]?.standing;
    return mesh ? { type: 'mesh', mesh: mesh.id, solid: this.#resolved.isSolid } : PLACEHOLDER;
  }

  /** Returns the mesh for a geometry's id, in terms of the current buffers. */
  standingOn(geometryId: number): BuiltMesh | null {
    const part = this.parts[geometryId];
    if (part === undefined) return null;
    const { built, standing } = part;
    return built?.id === standing?.id ? built : standing;
  }

  /** Updates the counts for an instance whose state changes. */
  count(oldState: number, newState: number): void {
    const [previousPart, nextPart] = [this.parts[geometryIdOf(oldState)], this.parts[geometryIdOf(newState)]];
    if (previousPart !== undefined) previousPart.wanted--;
    if (nextPart !== undefined) nextPart.wanted++;
  }

  release(): void {
    for (const part of this.parts) part?.release();
    this.parts.length = 0;
  }
}

/** Returns the id of an instance's geometry, visible or not; -1 for a deleted instance. */
export function geometryIdOf(state: number): number {
  return state === DELETED ? NO_GEOMETRY : state < 0 ? ~state : state;
}
