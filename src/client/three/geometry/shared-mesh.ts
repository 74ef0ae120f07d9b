// What a tracker's objects know of the meshes that they stand on.
import type { BufferAttribute, BufferGeometry } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { MeshId } from '../../../shared/types.js';
import type { Deformers } from './deformers.js';
import type { Primitive, TriangleRun } from './geometry.js';

/** A mesh of the service, and where its triangles are in the scene. */
export interface BuiltMesh {
  readonly id: MeshId;
  readonly geometry: BufferGeometry;
  readonly index: BufferAttribute | null;
  readonly runs: readonly TriangleRun[];
  readonly primitive: Primitive;
  /** How many bones and morph targets move its vertices. */
  readonly bones: number;
  readonly morphs: number;
}

/** The service's mesh for a geometry or for some groups of it, built once for all objects that use it. */
export interface SharedMesh {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly deformers: Deformers;
  /**
   * Null until it is built, and where that fails. After a change of the geometry: the old one until the new is built.
   */
  readonly built: BuiltMesh | null;
  /** It says why there is none, if the last build failed. */
  readonly error: CollisionError | null;
  /** A build or an update is under way, or waits for others to end. */
  readonly isBuilding: boolean;
  /** The geometry is as it was when it was built or updated last. */
  readonly isUnchanged: boolean;
}

/** It stands on a mesh. */
export interface MeshUser {
  /** It is looked at by turns: its geometry is, too, where nobody else has it. */
  readonly isStatic: boolean;
  /** The mesh was built, or could not be. No use of it ends in here. */
  onMeshChange(): void;
  /** Its vertices begin to move, or have moved: answers to what was asked before do not know that. */
  onMeshMove?(): void;
}

/** One use of a mesh, for `release`. */
export interface MeshUse {
  readonly mesh: SharedMesh;
}
