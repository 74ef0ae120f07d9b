import type { ContactDetail } from './contact.js';
import type { MeshId, Vec3 } from './ids.js';
import type { NamedBox } from './mesh.js';

export type Shape = MeshShape | SphereShape | BoxShape | CapsuleShape;

export interface MeshShape {
  type: 'mesh';
  mesh: MeshId;
  /**
   * Its inside belongs to it, so that it also touches objects wholly inside, in contacts, `overlap` and `closestPoint`.
   * The mesh must be closed (`meshInfo(mesh).closed`). Inside is where the mesh winds around, in either sense; a cavity
   * whose faces look into it is outside. Default false, a surface.
   */
  solid?: boolean;
}

/** Solid. Under a matrix with non-uniform scale it is an ellipsoid. */
export interface SphereShape {
  type: 'sphere';
  /** Greater than 0. */
  radius: number;
  /** Default the origin. */
  center?: Vec3;
}

/** Solid. */
export interface BoxShape {
  type: 'box';
  halfExtents: Vec3;
  /** Default the origin. */
  center?: Vec3;
  /** Unit quaternion xyzw. Default the identity. */
  rotation?: readonly [number, number, number, number];
}

/** Solid: everything no farther than `radius` from the segment. */
export interface CapsuleShape {
  type: 'capsule';
  /** Greater than 0. */
  radius: number;
  from: Vec3;
  /** May be equal to `from`: the capsule is a sphere then. */
  to: Vec3;
}

export interface ObjectOptions {
  shape: Shape;
  /** 16, column-major, affine and invertible. Default the identity. */
  matrix?: ArrayLike<number>;
  /** Two static objects never make a pair. Default 'moving'. */
  motion?: 'static' | 'moving';
  /** The layers that it is in, a bit each, as in the mask of three's Layers. Default 1. */
  layers?: number;
  /** The layers that it makes pairs with, a bit each; each of two objects must be in one of the other's. Default all. */
  collidesWith?: number;
  /** Objects of one group, such as the parts of a model, make no pairs. Default 0, none. */
  group?: number;
  /** Default 'manifold'. */
  contacts?: ContactDetail;
  /**
   * Whether queries find it: picks, regions, rays, sweeps, `overlap` and all others, except `frustum`, `inspect` and those that
   * name it (`contact`, `distance`, targets of `sees`). Views and contacts of frames do not depend on it. Default true.
   */
  pickable?: boolean;
  /** Whether views, and `frustum`, list it. Default true. */
  cullable?: boolean;
  /**
   * Which side of its faces picks, rays and lines of sight hit, and regions touch, like three's material sides; of a solid,
   * 'front' where a ray enters it and 'back' where it leaves. A query's own `side` overrides it. Default 'double'.
   */
  side?: 'front' | 'back' | 'double';
  /**
   * Whether it may hide others in views with `occlusion`: this asserts that its drawing is opaque, in its place, and
   * covers its shape (a mesh's triangles by their `side`, another shape's surface). The largest objects on the screen are
   * tried, as far as time allows. Objects that bones or morph targets move, and those that are not `cullable` or not seen, hide
   * nothing. Default true for boxes and for meshes of triangles, else false; pass false for objects that are transparent, or
   * are drawn smaller.
   */
  occluder?: boolean;
  /**
   * Objects nearer to it than the sum of both clearances are contacts of the frame, as if they touched, with a negative
   * depth: the gap. World units, whatever the scale of its matrix. At least 0, finite; default 0.
   */
  clearance?: number;
  /**
   * Continuous collision detection: objects that it passes through between two frames are contacts of the later one, too,
   * however fast it is; `time` of a contact pair tells when. Its way is straight, with a rotation at constant speed, from where
   * the last answered frame had it. It has no way in its first frame, nor after `setObject` with a `matrix`, which puts it there.
   * Default false.
   */
  continuous?: boolean;
  /**
   * At most 256 boxes in its own space that stand for it, if its mesh has triangles and neither bones nor morph targets:
   * rays and picks by `precision` 'obb' hit them, and its contacts of detail 'bounds' are theirs. Its bounds, used by all
   * other queries and views, hold the mesh and the boxes. An empty list means none. They belong to the shape: a shape that
   * is set without them has those of its mesh, the default.
   */
  boxes?: readonly NamedBox[];
}
