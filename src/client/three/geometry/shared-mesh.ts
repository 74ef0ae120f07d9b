// What the objects of a tracker know of the meshes that they use as shapes.
import type { BufferAttribute, BufferGeometry } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { MeshId } from '../../../shared/types.js';
import type { Deformers } from './deformers.js';
import type { Primitive, TriangleRun } from './geometry.js';

/** A mesh of the service, and where its triangles come from in the scene. */
export interface BuiltMesh {
  readonly id: MeshId;
  readonly geometry: BufferGeometry;
  readonly index: BufferAttribute | null;
  readonly runs: readonly TriangleRun[];
  readonly primitive: Primitive;
  /** How many bones and how many morph targets move its vertices. */
  readonly bones: number;
  readonly morphs: number;
}

/** The service's mesh for a geometry or for some groups of it, built once for all objects that use it. */
export interface SharedMesh {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly deformers: Deformers;
  /** Null until it is built, and if the build fails. After a change of the geometry, the old mesh until the new one is built. */
  readonly built: BuiltMesh | null;
  /** Why there is no mesh, if the last build failed. */
  readonly error: CollisionError | null;
  /** Whether a build or an update is under way or waits for others to end. */
  readonly isBuilding: boolean;
  /** Whether the geometry is as it was at the last build or update. */
  readonly isUnchanged: boolean;
}

/** An object that uses a mesh as its shape. */
export interface MeshUser {
  /** Whether it is checked in turn: its geometry is, too, unless another user is checked in every frame. */
  readonly isStatic: boolean;
  /** Called when the mesh was built, or the build failed. It must not end a use of the mesh. */
  onMeshChange(): void;
  /** Called when its vertices begin to move, and when they have moved: answers to earlier questions do not include that. */
  onMeshMove?(): void;
}

/** One use of a mesh, for `release`. */
export interface MeshUse {
  readonly mesh: SharedMesh;
}
