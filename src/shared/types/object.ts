import type { ContactDetail } from './contact.js';
import type { MeshId, Vec3 } from './ids.js';
import type { NamedBox } from './mesh.js';

export type Shape = MeshShape | SphereShape | BoxShape | CapsuleShape;

export interface MeshShape {
  type: 'mesh';
  mesh: MeshId;
  /**
   * Its inside belongs to it, so that it also touches what lies wholly inside, in contacts, `overlap` and
   * `closestPoint`: the mesh must be closed (`meshInfo(mesh).closed`). Inside is what the mesh winds around, in either
   * sense; a cavity whose faces look into it is outside. Default false, a surface.
   */
  solid?: boolean;
}

/** Solid. Under a matrix that does not scale alike in all directions, an ellipsoid. */
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

/** Solid: all that is no farther than `radius` from the segment. */
export interface CapsuleShape {
  type: 'capsule';
  /** Greater than 0. */
  radius: number;
  from: Vec3;
  /** May be where `from` is: the capsule is a sphere then. */
  to: Vec3;
}

export interface ObjectOptions {
  shape: Shape;
  /** 16, column-major, affine and invertible. Default the identity. */
  matrix?: ArrayLike<number>;
  /** Two static objects never make a pair. Default 'moving'. */
  motion?: 'static' | 'moving';
  /** 32-bit membership. Default 1. */
  layers?: number;
  /** 32-bit filter over the other's layers; both sides must agree. Default all. */
  collidesWith?: number;
  /** Parts of one model: no pairs inside a group. Default 0, none. */
  group?: number;
  /** Default 'manifold'. */
  contacts?: ContactDetail;
  /** Whether picks and rays see it. Default true. */
  pickable?: boolean;
  /** Whether views list it. Default true. */
  cullable?: boolean;
  /**
   * Which side of its faces picks, rays and lines of sight hit, and regions touch, as three's material sides; of a
   * solid, 'front' where a ray enters it and 'back' where it leaves. A query's own `side` goes before it. Default
   * 'double'.
   */
  side?: 'front' | 'back' | 'double';
  /**
   * Whether it hides others in views with `occlusion`: what is drawn of it is opaque, in its place, and covers its shape, of a
   * mesh the triangles by their `side`, of other shapes their surface. It then may: what is largest on the screen is looked at,
   * as far as time allows. What bones or morph targets move, and what is not `cullable` or not seen, hides nothing. Default
   * true of boxes and of meshes of triangles, else false; say false of what shines through, or is drawn smaller.
   */
  occluder?: boolean;
  /**
   * Objects that are nearer to it than the sum of both clearances are contacts of the frame, as if they touched, with a depth
   * below 0: the gap. World units, whatever the scale of its matrix. At least 0, finite; default 0.
   */
  clearance?: number;
  /**
   * What it passes through between two frames is a contact of the later one, too, however fast it is: `time` of a contact pair
   * tells when. Its way leads straight and turns evenly from where the last answered frame had it; its first frame has none,
   * and neither has one behind `setObject` with a `matrix`, which puts it there. Default false.
   */
  continuous?: boolean;
  /**
   * Boxes in its own space that stand for it, 256 at most, of a mesh of triangles without bones or morph targets: rays and picks
   * by `precision` 'obb' hit them, and its contacts of detail 'bounds' are theirs. Its bounds, of which all other queries and
   * views know, hold the mesh and the boxes. An empty list stands for none. They belong to the shape: one that is set without
   * them has those of its mesh, the default.
   */
  boxes?: readonly NamedBox[];
}
