/** Handle of static triangle data and its OBB tree. Slot and generation: never reused for another mesh. */
export type MeshId = number;

/** Handle of a placed shape. Slot and generation: a stale id is an error, never another object. */
export type ObjectId = number;

export type Vec3 = readonly [number, number, number];

/** Triangles, lines or points of a mesh, in its own space. */
export interface MeshData {
  /** xyz of each vertex. */
  positions: Float32Array;
  /**
   * Three per triangle, counter-clockwise seen from the front; two per line; one per point. Absent: every three vertices
   * are a triangle, every two a line, each one a point.
   */
  indices?: Uint32Array | Uint16Array;
  /**
   * What the vertices make. Lines and points have no surface: rays hit them within the `threshold` of the query, picks
   * also within `radius` pixels; regions, frusta, `overlap` and `closestPoint` know them as they are. They touch nothing,
   * so that their objects make no contacts, and hold nothing. A line whose ends are one is a point. Default 'triangles'.
   */
  topology?: 'triangles' | 'lines' | 'points';
  /** Lets bones move its vertices: `setPose` says how, for each object. */
  skin?: MeshSkin;
  /** Lets morph targets move its vertices, before bones do: `setPose` says how much, for each object. */
  morphs?: MeshMorphs;
}

/** The bones that move a vertex, as three's attributes skinIndex and skinWeight have them. */
export interface MeshSkin {
  /** Four per vertex, each below `boneCount` where its weight is not 0. */
  bones: Uint8Array | Uint16Array;
  /** Four per vertex. They are taken as they are, whatever their sum. */
  weights: Float32Array;
  /** How many bones a pose has: 1 … 65,536. */
  boneCount: number;
}

export interface MeshMorphs {
  /** xyz per vertex each, as three's morphAttributes.position has them. */
  targets: Float32Array[];
  /** Whether targets are where vertices are moved by, or else where they are moved to. */
  relative: boolean;
}

/** How bones and morph targets move the vertices of one object: targets first. What is not given moves nothing. */
export interface Pose {
  /** 16 per bone, column-major: bone · inverse bind, which three's `skeleton.boneMatrices` are. */
  bones?: Float32Array;
  /**
   * 16 numbers, column-major; only with `bones`. A vertex becomes bindInverse · Σ weight · bone · bind · vertex, and then
   * the object's matrix places it. Default the identity.
   */
  bind?: ArrayLike<number>;
  bindInverse?: ArrayLike<number>;
  /** A weight per morph target. */
  morphs?: ArrayLike<number>;
}

export interface AddMeshOptions {
  /** Called with the done part of the build, rising from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Aborting rejects with ABORTED and frees what was built. */
  signal?: AbortSignal;
  /** Hand the arrays' buffers over instead of copying them; they are detached afterwards. Default false. */
  transfer?: boolean;
  /**
   * Vertices nearer to each other than this become one, in the mesh's own units, and so does what a chain of such
   * vertices connects: it lies where the first of them is given, and moves with that one in `updateMesh`. For seams
   * that are open by bits, as those of three's spheres, cylinders and tori are: 1e-6 closes these at the size of 1
   * (`meshInfo(mesh).closingWeld` says how little does). Triangles that lose an area by it are `degenerate`. Baking
   * keeps it. At least 0, finite; default 0, and no other for lines and points.
   */
  weld?: number;
  /**
   * Finds what picks with `snap` snap to as the mesh is built, and bakes it with the mesh. `angle`, in degrees from 0 to 180: edges
   * at which the surface is bent by more than this are feature edges; default 35, so that the sides of a cylinder of eleven or
   * more are none. Without it, the first pick that comes near an object of the mesh has its features found by the default angle,
   * and nothing but that pick waits for it. Not for a baked mesh.
   */
  features?: boolean | FeatureOptions;
  /**
   * Boxes that stand for the mesh, 256 at most, of triangles without bones or morph targets: for all objects that have it as
   * their shape and no `boxes` of their own. `bakeMesh` writes them, and a baked mesh has those that it was baked with where
   * none are given. `meshBoxes` lists the tree's own to begin with, and `checkBoxes` tells whether boxes hold all of the mesh.
   */
  boxes?: readonly NamedBox[];
}

/** A box in the space of a mesh, in any rotation, with a name. */
export interface NamedBox {
  /** Of 1 to 256 characters, and of no other box of the list. */
  name: string;
  /** Default the origin. */
  center?: Vec3;
  halfExtents: Vec3;
  /** Unit quaternion xyzw. Default the identity. */
  rotation?: readonly [number, number, number, number];
}

export interface BakeOptions {
  /** Boxes to be baked in the place of the mesh's own, which stay as they are; none with an empty list. */
  boxes?: readonly NamedBox[];
}

export interface MeshBoxesOptions {
  /** The level of the tree's boxes, from 1 to 4: at most four to that power. Default 2. */
  level?: number;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

/** Whether boxes hold all of a mesh. */
export interface BoxCheck {
  /** Whether no part of any triangle is outside of the boxes together, but for rounding: 2⁻⁴⁰ of the largest coordinate. */
  conservative: boolean;
  /** How many triangles stick out. */
  triangles: number;
  /**
   * How far what sticks out is from the nearest box at least, in the mesh's units: the largest distance of the corners and the
   * middles of the pieces of triangles that no box holds. Exact where vertices stick out farthest; 0 where nothing does.
   */
  farthest: number;
}

export interface FeatureOptions {
  angle?: number;
}

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

/**
 * How much is computed for a pair, from the coarsest to the finest:
 * - 'none': nothing, the two never make a pair;
 * - 'bounds': whether the oriented bounds overlap; of an object with `boxes`, whether one of these does, and which;
 * - 'bones': which bones meet, by the boxes that rays hit with `precision: 'obb'`; of an object without bones, its shape
 *   stands for it. Triangles of what has bones are not looked at. Of two without any it is 'any';
 * - 'any': whether the shapes do, touching included;
 * - 'manifold': also up to four points for each region of contact, with a normal and a depth;
 * - 'triangles': no points, but every two triangles of two meshes that meet, and the segment in which they cut each
 *   other;
 * - 'full': both, the points of 'manifold' and the list of 'triangles'.
 *
 * A pair takes the coarser of its two objects' details in this order: of 'manifold' and 'triangles' it is 'manifold',
 * which gives points and no list. Where one of the two is no mesh, there are no triangles to list.
 */
export type ContactDetail = 'none' | 'bounds' | 'bones' | 'any' | 'manifold' | 'triangles' | 'full';

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
   * What it passes through between two frames is a contact of the later one, too, however fast it is: {@link ContactPair.time}
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

/** What a character is, and how it walks. Lengths are in world units. */
export interface CharacterOptions {
  /** Its form, about its `position`. It does not turn. */
  shape: CapsuleShape;
  /** Default the origin. `set` with one puts the character there, at rest. */
  position?: Vec3;
  /** The way up, of any length but 0. Default [0, 1, 0]. */
  up?: Vec3;
  /** The gap that it keeps to everything, at least a ten thousandth of the radius. Default a fiftieth of it. */
  skin?: number;
  /** The steepest slope that it stands on, in radians from 0 to π / 2. Default π / 4. */
  slope?: number;
  /** The highest step that it climbs. Default the radius; 0 for none. */
  stepHeight?: number;
  /** How far it goes down to stay on the ground while it walks. Default `stepHeight`. */
  snap?: number;
  /** How `advance` makes it fall, in units / s². Default 9.81. */
  gravity?: number;
  /** Seconds of a step of `advance`. Default 1 / 60. */
  step?: number;
  /** Which objects it meets, a bit for each layer. Default all. */
  layers?: number;
  /** Objects that it goes through. */
  ignore?: ArrayLike<ObjectId>;
  /**
   * An object that it takes along, to where its `position` is, with the rotation and the scale that it has. The character
   * itself goes through it. 0 for none, the default.
   */
  object?: ObjectId;
}

/** A capsule that walks; see `createCharacter`. Each method throws UNKNOWN_ID once it was removed. */
export interface Character {
  /** Where it is by the newest answer of update(). */
  readonly state: CharacterState;
  /**
   * Moves by a way, in world units, with the next update(); ways before that add up. It first goes what is across `up`, then
   * what is along it: downwards it stands still where it lands, upwards it leaves the ground.
   */
  move(displacement: Vec3): void;
  /**
   * Goes on for so many seconds at a velocity, in world units per second, in steps of the length that `step` has: what is
   * less than a step is made up for later. So the same walk is the same to the last bit at any frame rate. Gravity and
   * `jump` are added to it. More than 16 steps at once are not made up for.
   */
  advance(velocity: Vec3, seconds: number): void;
  /** Leaves the ground at a speed along `up`, in units per second, if it stands when `advance` makes its next step. */
  jump(speed: number): void;
  /** Changes some of its options. With a `position`, it is there with the next update(), whatever is in between. */
  set(options: Partial<CharacterOptions>): void;
  remove(): void;
}

/** Where a character is. */
export interface CharacterState {
  /** Where it is after its last step. */
  position: Vec3;
  /** Where it is between its last two steps, for drawing; of one that does not go by steps, its `position`. */
  interpolated: Vec3;
  /** How fast `advance` lets it rise, along `up`, in units per second; < 0 while it falls. */
  speed: number;
  /** Whether it stands on something that is not too steep. */
  isStanding: boolean;
  isBlockedAbove: boolean;
  /** What it stands on, or what keeps it from falling though it is too steep; null in the air. */
  ground: CharacterTouch | null;
  /** What it walked against, or was pushed by, in this frame: eight at most. */
  touches: CharacterTouch[];
  /** How deep it remains inside of something that leaves it no place; else 0. */
  depth: number;
  /** Steps of `advance` that it has made. */
  steps: number;
  /** The frame that this is of; 0 before the first. */
  frame: number;
}

/** Where a character touches an object. */
export interface CharacterTouch {
  object: ObjectId;
  /** The triangle of its mesh; -1 of other shapes. */
  triangle: number;
  point: Vec3;
  /** Unit length, from the object to the character. */
  normal: Vec3;
}

export interface ViewOptions {
  /** 16, column-major: three's `camera.projectionMatrix`. */
  projection: ArrayLike<number>;
  /** 16, column-major, world to camera: three's `camera.matrixWorldInverse`. */
  view: ArrayLike<number>;
  /**
   * In CSS pixels, y down, relative to the point that `pick`'s x and y are relative to. A width or height of 0, as of a
   * hidden canvas, is a view that sees nothing, whatever its projection; picks in it find nothing.
   */
  viewport: { x?: number; y?: number; width: number; height: number };
  /** Clip z in [-1, 1] ('webgl', the default) or [0, 1] ('webgpu'). */
  depth?: 'webgl' | 'webgpu';
  /** The near plane is at the larger depth. Default false. */
  reversed?: boolean;
  /** Only objects in one of these layers are seen. Default all. */
  layers?: number;
  /**
   * World units that the frustum is grown by, each plane outwards: for culling one frame late by the camera's motion in
   * a frame (`frustumMotion`) and that of the fastest object. Default 0.
   */
  margin?: number;
  /**
   * Objects are left out whose sphere about the oriented bounds would have fewer pixels across, in the middle of the
   * picture at the depth of its centre. Default 0. What has its centre behind the eye stays.
   */
  minPixels?: number;
  /**
   * Objects that nearer ones hide as wholes are left out, and listed as `occluded`. Conservative: nothing is left out of which a
   * pixel of the picture shows, by its oriented bounds. Default false.
   *
   * The answer is about this view alone. With a `margin` it lasts as long as what the view sees does, that is, while the sum of
   * the frustum's and an object's motion stays below it; `occlusionMargin` says it otherwise.
   */
  occlusion?: boolean;
  /**
   * How far the eye may move, and objects against one another, while `occluded` is true: world units. The camera may turn by
   * any angle meanwhile. What hides others is shrunk by it, and open meshes hide nothing where it is above 0; nor does what
   * moved or changed in this frame. Only what is in the picture as a whole is left out. Default: twice the margin where that is
   * above 0, else the answer is about the very view, and objects where they are.
   */
  occlusionMargin?: number;
}

export interface QueryOptions {
  /** Only objects in one of these layers. Default all. */
  layers?: number;
  /** Objects that are not there for this query. */
  ignore?: readonly ObjectId[];
  /**
   * Which side of a face can be hit, as three's material sides; of a solid, 'front' where a ray enters it and 'back'
   * where it leaves. Default: of each object its own `side`; by mode 'enclose' of a region, 'double'.
   */
  side?: 'front' | 'back' | 'double';
  /**
   * What stands for an object: its exact shape (the default, 'mesh'), its oriented bounds, the box of the world's axes
   * about these (of a sphere or capsule, about itself), or the sphere about the middle of the shape's own bounds that
   * reaches to its farthest point, scaled by the matrix's greatest stretch. All but 'mesh' are solid.
   *
   * By 'obb', rays and picks hit an object that bones move by the boxes of its bones: each is the oriented box of the
   * vertices that no other bone moves more, of several the first, moved by the bone alone and by no morph target. Such
   * vertices have no gap to their box, but others may stick out where several bones bend a joint. Regions, frusta and
   * views take the bounds of the whole pose. An object with `boxes` is hit by these likewise.
   */
  precision?: 'sphere' | 'aabb' | 'obb' | 'mesh';
  /**
   * How near to a ray lines and points are hit, in world units: a line no farther from it than this, a point nearer, as by
   * three's Raycaster. It is of rays, picks, `lineOfSight` and `sees`, and of exact shapes; without it, points are not hit
   * and hide nothing. At least 0, finite; default 0.
   */
  threshold?: number;
  /**
   * Planes, 4 numbers each, 16 at most, in the world: what they cut away is not there. n · p + d ≥ 0 is kept, as three's
   * `Plane` has its normal and constant; n is of any length but zero. Rays and lines go through what is cut away, and
   * through cut solids as through surfaces: their insides are not filled. Regions and frusta see what is kept of an
   * object, and `enclose` all of that; picks by method 'screen' and `sees` take no point that is cut away, and
   * `containing` finds nothing there. `overlap`, `closestPoint`, `section` and sweeps reject it (UNSUPPORTED).
   */
  clip?: ArrayLike<number>;
  /** Cut away is only what all planes of `clip` agree on, as by three's `Material.clipIntersection`. Default false. */
  clipIntersection?: boolean;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

export interface PickOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /**
   * 'ray', the default: what the ray through the point hits. 'screen': the objects of which the centre of bounds is
   * drawn near the point, the nearest on the screen first; `side` and `precision` do not matter to it.
   */
  method?: 'ray' | 'screen';
  /**
   * Pixels. Method 'screen': how far from the point centres may be; default 20. Method 'ray': lines and points are hit
   * that are drawn within so many pixels of the point, however far away they are, a line where it is drawn nearest to it;
   * default 0, with which `threshold` decides. Not both.
   */
  radius?: number;
  /**
   * Kinds of features that the hit's `snap` may be of; only of `pick`, with method 'ray' and precision 'mesh'. It is the one drawn
   * nearest to the point, within the `radius`, which is 10 by default then, and not hidden. A vertex, midpoint or centre within
   * the radius goes before every edge, as an edge is as near as its own vertices, and an edge before a face. Default none.
   */
  snap?: readonly SnapKind[];
  /**
   * While this pick waits to be sent, a newer one with `latest` takes its place, and answers both; picks that `snap` and those
   * that do not are told apart.
   */
  latest?: boolean;
}

/** In CSS pixels, y down, relative to the same point as the viewport. A negative size reaches left, or up. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface RegionOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /** 'touch', the default: any part of an object is in the region. 'enclose': all of it. */
  mode?: 'touch' | 'enclose';
  /** While this one waits to be sent, a newer one with `latest` takes its place, and answers both. */
  latest?: boolean;
}

/** Lengths are world units, whatever the length of `direction`. */
export interface Ray {
  origin: Vec3;
  /** Any length but zero. */
  direction: Vec3;
  /** Default 0. */
  tMin?: number;
  /** Default Infinity. */
  tMax?: number;
}

export interface Hit {
  object: ObjectId;
  /** From the ray's origin (the camera, for picks), in world units. */
  distance: number;
  /** World. On the ray; of a line the place on the line. */
  point: Vec3;
  /** World, unit; of the face by its winding, or of the shape's surface; of lines and points the way back along the ray. */
  normal: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and for what stands for a mesh by `precision`. */
  triangle: number;
  /** Index of the triangle, line or point into the mesh as it was given; -1 where there is none. */
  element: number;
  /** Of lines and points: how far the element is from the ray, in world units. */
  distanceToRay?: number;
  /** Weights of the triangle's three corners; zeros where there is none. */
  barycentric: Vec3;
  /**
   * Of a mesh with a skin, the bone with the greatest weight where it was hit, of several the first; by `precision` 'obb'
   * the bone whose box was hit, of an object with `boxes` the number of the box in that list; else -1.
   */
  bone: number;
  /** The name of the box that was hit, by `precision` 'obb' of an object with `boxes`. */
  box?: string;
  /** The frame that the answer saw. */
  frame: number;
  /** Method 'screen': how far from the cursor the centre of bounds is drawn, which is the `point` then. */
  pixels?: number;
  /**
   * With the option `snap`: the feature near the cursor, null without any. It may be of another object. Where the ray itself hits
   * nothing, the hit is of the feature: `point` is its point, and `object` its object.
   */
  snap?: Snap | null;
}

/**
 * What a pick may snap to:
 * - 'vertex': an end of a feature edge, and of a line; a point;
 * - 'midpoint': the middle of a feature edge, and of a line;
 * - 'center': the centre of a circle that feature edges lie on, as a whole one or as an arc;
 * - 'edge': a feature edge or a line, where it is drawn nearest to the cursor;
 * - 'face': the flat face that the ray hits.
 */
export type SnapKind = 'vertex' | 'midpoint' | 'center' | 'edge' | 'face';

/** A feature near the cursor. Everything is world, in float64. */
export interface Snap {
  kind: SnapKind;
  /** The object that the feature is of. */
  object: ObjectId;
  /** Where it is drawn nearest to the cursor. */
  point: Vec3;
  /** How far from the cursor that is drawn; 0 of a face. */
  pixels: number;
  /**
   * Of an edge and a midpoint, the ends of the edge: all of it, where several edges of the mesh are one straight line. Of a
   * vertex and of a face, the point twice. Of a centre, the ends of the arc; of a whole circle, one of its vertices twice.
   */
  a: Vec3;
  b: Vec3;
  /** The triangle, line or point of the mesh that the feature is of: one of those beside an edge. -1 of other shapes. */
  element: number;
  /** Of a centre: the circle's; where the matrix makes an ellipse of it, the longer one of its half axes. */
  radius?: number;
  /** Of a centre: unit, at right angles to the circle. */
  axis?: Vec3;
  /** Of a face: where it is. */
  face?: FlatFace;
}

/** A flat part of a mesh's surface: the triangles about one that lie in its plane and hang together by their edges. */
export interface FlatFace {
  /** Unit; by the winding of the triangle that was hit. */
  normal: Vec3;
  /** The triangles, by their numbers in the mesh, ascending. */
  triangles: Uint32Array;
  /** Nine for each triangle: its corners, world. */
  corners: Float64Array;
}

/** The nearest point of an object: of a mesh's surface, lines or points, or of the solid that another shape or a solid mesh is. */
export interface ClosestPoint {
  object: ObjectId;
  /** World; the point asked about itself where that is inside of a solid. */
  point: Vec3;
  /** World units; 0 inside of a solid. */
  distance: number;
  /** Index into the mesh as it was given; -1 for other shapes and inside of a solid mesh. */
  triangle: number;
  /** Index of the triangle, line or point; -1 where there is none. */
  element: number;
  frame: number;
}

/** How far two objects are from each other, and where they are nearest. */
export interface Distance {
  /** World units; 0 where they meet, or where one is inside of a solid. */
  distance: number;
  /** World; where they meet a point of both, twice. */
  pointA: Vec3;
  pointB: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and where one is inside of the other. */
  triangleA: number;
  triangleB: number;
  frame: number;
}

export interface DistanceOptions {
  /** World units: what is farther apart is null, which is known the sooner the smaller this is. Default Infinity. */
  maxDistance?: number;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

/** Which targets can be seen, and how much of them. */
export interface Sight {
  /** The targets of which at least one point is in sight, in the order in which they were asked for. */
  ids: Uint32Array;
  /**
   * For every target, how many of nine points are in sight: the middle of its oriented bounds, and those halfway from
   * there to the corners.
   */
  points: Uint8Array;
  frame: number;
}

/** Answers in the order of the rays. */
export interface RayHits {
  /** NO_OBJECT where missed. */
  objects: Uint32Array;
  /** Infinity where missed. */
  distances: Float64Array;
  /** -1 where missed or not a mesh. */
  triangles: Int32Array;
  /** Of the triangle, line or point; -1 where missed or not a mesh. */
  elements: Int32Array;
  /** As a hit's `bone`; -1 where missed, or without a skin or boxes. */
  bones: Int32Array;
  /** Three per ray. */
  barycentrics: Float32Array;
  frame: number;
  /** The worker's own time. */
  ms: number;
}

export interface SweepOptions extends QueryOptions {
  /**
   * How near to an object a shape that turns may be told to meet it, in world units: its time is never late, and at that
   * time it is no farther away than this. What does not turn is exact. Default a ten-thousandth of the shape's size, and a
   * ten-millionth of it at least.
   */
  tolerance?: number;
}

export interface SweepManyOptions extends SweepOptions {
  /** Which of several shapes each way is of. */
  shapeOf?: Uint32Array | Uint16Array | Uint8Array;
}

/** The first contact of a shape on its way. */
export interface SweepHit {
  object: ObjectId;
  /** 0 at the start, 1 at the end; 0 where they overlap at the start. */
  time: number;
  /** Where they touch, on the object, world. */
  point: Vec3;
  /** It leads from the object to the shape, in the world, and its length is 1. */
  normal: Vec3;
  /** Index into the object's mesh as it was given; -1 for other shapes. */
  triangle: number;
  /**
   * More than 0 where they overlap at the start: so far along the normal, the shape is free. Of a mesh, free of the one
   * triangle that asks for most; inside of a solid mesh, by the nearest way out. World units.
   */
  depth: number;
  frame: number;
}

/** A free place, and how a shape came there. */
export interface Placement {
  /** 16 numbers, column-major: the matrix that was asked about, moved. */
  matrix: number[];
  /** How far it was moved, world; 0 where it was free. */
  way: Vec3;
  /** What it was pushed out of, ascending. */
  objects: Uint32Array;
  frame: number;
}

/** Answers in the order of the ways. */
export interface SweepHits {
  /** NO_OBJECT where nothing was met. */
  objects: Uint32Array;
  /** Infinity where nothing was met. */
  times: Float64Array;
  /** Three per way, world. */
  points: Float64Array;
  /** Three per way. */
  normals: Float32Array;
  /** -1 where nothing was met or it is not a mesh. */
  triangles: Int32Array;
  depths: Float64Array;
  frame: number;
  /** The worker's own time. */
  ms: number;
}

/** Each part is sorted by id. */
export interface VisibleSet {
  /** ids[0..inside) are wholly inside the frustum, the rest cross it. */
  ids: Uint32Array;
  inside: number;
  /** Against the frame before. */
  entered: Uint32Array;
  left: Uint32Array;
  /** Not in `ids`, as nearer objects hide it: where the view's `occlusion` is true, else empty. Sorted. */
  occluded: Uint32Array;
  /** Those that were looked at as hiding others, sorted: `occluded` is true while these are where they were. */
  occluders: Uint32Array;
  frame: number;
}

export interface ContactPair {
  a: ObjectId;
  b: ObjectId;
  /** The `group` of each; 0 for none. */
  groupA: number;
  groupB: number;
  /** New in this frame. */
  begun: boolean;
  /** The answer is an earlier frame's, as `contactBudget` was used up. */
  stale: boolean;
  /**
   * 1 where they are in contact as the frame has them. Less than 1 where they only were on their way from the frame before,
   * which is 0, as at least one of them is `continuous`: when they first were. The point, normal and depth are of that time then.
   */
  time: number;
  /** 0, 1: a inside b, 2: b inside a; always 0 where one of the two has contacts 'bounds', or bones meet. */
  contained: 0 | 1 | 2;
  /**
   * xyz each, world. Of each region of contact up to four, which follow one another and share normal and depth. Empty
   * unless the detail is 'manifold' or 'full'. Of two that are apart, as far as their clearances allow, it is one: halfway
   * between the points of both where they are nearest, which are half of the depth away from it along the normal.
   */
  points: Float32Array;
  /** xyz each, world, unit, from a to b. */
  normals: Float32Array;
  /**
   * One for each point: moved by this along the normal, b parts from a there. World units. Less than 0 where they are apart:
   * the gap, as far as their clearances allow.
   */
  depths: Float32Array;
  /**
   * Two numbers for each two triangles that meet, a's and b's, sorted. Empty unless the detail is 'triangles' or
   * 'full'.
   */
  triangles: Uint32Array;
  /**
   * Six numbers for each two triangles of `triangles`: the ends of the segment that they share, world; of coplanar ones
   * the longest extent of what they share.
   */
  segments: Float32Array;
  /**
   * Two numbers for each two bones that meet, a's and b's, sorted; -1 for the one of the two that has no bones. With detail
   * 'bounds' the same of `boxes`, by their numbers in the list; of two that met on their way those that met first. Empty
   * with other details.
   */
  bones: Int32Array;
}

/** An object by its id, or the parts of a model by their group. */
export type ContactSide = ObjectId | { group: number };

export interface ContactSet extends Iterable<ContactPair> {
  count: number;
  /** a < b; pairs are sorted by a, then b. */
  a: Uint32Array;
  b: Uint32Array;
  /** 1 where the pair is new in this frame. */
  begun: Uint8Array;
  /** When they met: 1, or less where they only did on their way; see {@link ContactPair.time}. */
  time: Float32Array;
  /** 0, 1: a inside b, 2: b inside a. */
  contained: Uint8Array;
  /** The groups of the two objects; 0 for none. */
  groupA: Uint32Array;
  groupB: Uint32Array;
  /** 1 where the answer is an earlier frame's, as `contactBudget` was used up. */
  stale: Uint8Array;
  /**
   * Pairs of which only the bounds were looked at, as `contactBudget` was used up. They come first in the next frame.
   */
  waiting: number;
  /**
   * True where the bounds of more than 1,048,576 pairs overlap, as those of 1,500 objects in one place do. No more are
   * found in a frame; once there are fewer again, all are.
   */
  truncated: boolean;
  endedA: Uint32Array;
  endedB: Uint32Array;
  endedGroupA: Uint32Array;
  endedGroupB: Uint32Array;
  /** count + 1; the points of pair i are start[i] … start[i + 1]. */
  start: Uint32Array;
  points: Float32Array;
  normals: Float32Array;
  depths: Float32Array;
  /** count + 1; the triangle pairs of pair i are triangleStart[i] … triangleStart[i + 1]. */
  triangleStart: Uint32Array;
  /** Two for each two triangles that meet, with contacts 'triangles' or 'full'. */
  triangles: Uint32Array;
  /** Six for each such two. */
  segments: Float32Array;
  /** count + 1; the pairs of bones of pair i are boneStart[i] … boneStart[i + 1]. */
  boneStart: Uint32Array;
  /** Two for each two bones that meet, with contacts 'bones', or boxes, with 'bounds'; -1 for what has none. */
  bones: Int32Array;
  /**
   * Lists the pairs between two sides, whichever is a and which is b; without a second side, all pairs of the first.
   *
   * ```ts
   * const isTouching = contacts.between({ group: robotA }, { group: robotB }).length > 0;
   * const grip = contacts.between(gripper, box);
   * ```
   */
  between(first: ContactSide, second?: ContactSide): ContactPair[];
}

export interface ContactOptions {
  /** Whatever the two objects' own `contacts` say. Default 'manifold'. */
  detail?: Exclude<ContactDetail, 'none'>;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

/** The contact of two objects; the arrays are as in {@link ContactPair}. */
export interface ContactReport {
  /**
   * The objects as they were asked for, whichever id is lower: normals lead from a to b, and triangles and bones are a's
   * and b's, sorted.
   */
  a: ObjectId;
  b: ObjectId;
  /** 0, 1: a inside b, 2: b inside a. */
  contained: 0 | 1 | 2;
  points: Float32Array;
  normals: Float32Array;
  depths: Float32Array;
  triangles: Uint32Array;
  segments: Float32Array;
  bones: Int32Array;
  frame: number;
  /** The worker's own time. */
  ms: number;
}

export interface SectionOptions extends QueryOptions {
  /**
   * World units within which open ends of an object's outlines are joined: seams of meshes whose vertices there differ by
   * their last bits. At least 0, finite; default a millionth of the radius of each object's bounds.
   */
  weld?: number;
  /** How many points the outline of a sphere or a capsule has, from 3 to 4,096; default 64. */
  roundPoints?: number;
  /** Triangulates what is cut, too: `caps`. Default false. */
  caps?: boolean;
}

/**
 * Where a plane cuts objects: outlines, sorted by object. A vertex on the plane is taken to be in front of it, so that a
 * closed mesh that stands on the plane is not cut, and one that hangs below it is cut along its top. All arrays are the
 * caller's to keep.
 */
export interface Section {
  /** The object of each outline. */
  objects: Uint32Array;
  /** One more than there are outlines: outline i has the points `starts[i]` to `starts[i + 1] - 1`. */
  starts: Uint32Array;
  /**
   * 1 where the last point is joined to the first: every outline of a closed mesh. These turn counter-clockwise, seen from
   * in front of the plane, about what is cut, and clockwise about a hole in it. Of others, what is behind the triangles'
   * faces is to the left.
   */
  closed: Uint8Array;
  /** The closed outline of the same object directly around each closed one; -1 for none. */
  parents: Int32Array;
  /** xyz of each point, in the world. */
  points: Float64Array;
  /**
   * For each point, the triangle of its object's mesh in which the segment to the next point lies; -1 for the last point of
   * an open outline, across a joined seam, and of other shapes.
   */
  triangles: Int32Array;
  /**
   * With `caps`, triangles of what is cut, three numbers of `points` each, counter-clockwise from in front of the plane:
   * closed outlines without their holes. One of more than 16,384 points, holes included, is not filled.
   */
  caps: Uint32Array;
  frame: number;
  /** The worker's own time. */
  ms: number;
}

/**
 * Where the worker's time of a frame went, in milliseconds. What is answered to queries between the slices of its
 * contacts is not counted.
 */
export interface FrameTimes {
  /** The sum of `update`, `cull`, `contacts` and `answer`. */
  total: number;
  /** Taking views and transforms over, and the index up to date. */
  update: number;
  /** What the views see. */
  cull: number;
  /** The part of `cull` that finds what nearer objects hide. */
  occlusion: number;
  /** The sum of `broadPhase` and `narrowPhase`. */
  contacts: number;
  /** Finding the pairs whose bounds overlap. */
  broadPhase: number;
  /** Looking at these pairs; where no budget bounds that, pairs without a mesh are counted in the broad phase. */
  narrowPhase: number;
  /** Writing the answer. */
  answer: number;
  /** Adding, changing and removing objects before the frame; not in `total`. */
  commands: number;
}

/** Its typed arrays are views on a recycled buffer: valid until the next update() resolves; `copy()` keeps them. */
export interface FrameResult {
  frame: number;
  /** What the view 'main' sees; empty without one. */
  visible: VisibleSet;
  views: ReadonlyMap<string, VisibleSet>;
  contacts: ContactSet;
  /**
   * Objects whose new transform was not affine (in `setTransforms`), not finite or not invertible; they keep the old
   * one. Where several transforms of an object wait for the worker, only the newest is looked at.
   */
  rejected: Uint32Array;
  /** In the worker. */
  ms: FrameTimes;
  copy(): FrameResult;
}

/** A browser's `Worker`, or one of Node's `worker_threads`. */
export interface WorkerLike {
  postMessage(...args: never[]): void;
  terminate(): unknown;
}

export interface CollisionServiceOptions {
  /** Makes the service's worker and the builders. Default: from the script that comes with the package. */
  createWorker?: () => WorkerLike;
  /**
   * Whether a lost worker is replaced, at most three times a minute, and given all that the old one had. Default true;
   * it costs a copy of every baked mesh, outside of the memory of the page, and of every frame that is sent.
   */
  restart?: boolean;
  /** Most workers that build trees beside the service; 0 builds in the service's own, between frames. Default 1. */
  builders?: number;
  /** Milliseconds without an answer, with work in flight, that count as a lost worker. Default 10,000. */
  timeout?: number;
  /**
   * Milliseconds in which a frame looks at pairs whose bounds overlap; pairs that it does not come to are `stale` or
   * `waiting`, and the first in the next frame, oldest first. It bounds the work on one pair of meshes, too: such a
   * pair goes on in later frames, as its objects were when it was begun, and is `stale` if they have moved by the time
   * that it is done. Default Infinity: all pairs in every frame. Queries are answered between slices of a few
   * milliseconds either way.
   */
  contactBudget?: number;
  /** Aborting before the service is there rejects with ABORTED, and ends its worker. */
  signal?: AbortSignal;
}

/** An edge that has no opposite one. */
export interface OpenEdge {
  triangle: number;
  /** Which of the triangle's edges: 0 from its first corner to its second, 1 to its third, 2 back to its first. */
  edge: number;
  /** Its ends, in the mesh's own space. */
  from: Vec3;
  to: Vec3;
}

export interface MeshInfo {
  topology: 'triangles' | 'lines' | 'points';
  /** Triangles, lines or points, as given. */
  elements: number;
  /** As given; 0 of lines and points. */
  triangles: number;
  /**
   * Triangles that have no area or a vertex that is not finite, and lines and points with such a vertex: no ray hits them
   * and nothing touches them.
   */
  degenerate: number;
  vertices: number;
  /** Bones and morph targets that can move its vertices; 0 without. */
  bones: number;
  morphs: number;
  /**
   * Whether it was closed when its tree was built: every edge has as many triangles on its one side as on its other,
   * by the positions of its ends; triangles without an area count. Such a mesh can be `solid`. An open one passes for
   * closed with a probability of 2⁻¹²². `updateMesh` leaves it as it is, unless it makes a new tree. False of lines and
   * points, which have no edges.
   */
  closed: boolean;
  /**
   * How many edges keep it open: those with more triangles on one side than on the other; 0 of a closed one. Like
   * `closed`, this and what follows are as they were when its tree was built.
   */
  openEdges: number;
  /** One of them; null of a closed mesh. */
  openEdge: OpenEdge | null;
  /**
   * The smallest `weld` of `addMesh` that would close it, to about one part in fifty; null of a closed mesh, and where
   * there is none: holes are not drawn together, and none is looked for beyond a thousandth of its size or of more than
   * 65,536 open edges.
   */
  closingWeld: number | null;
  /** The boxes that stand for it, complete; none where none were given. */
  boxes: readonly Required<NamedBox>[];
  /** In the worker: tree and triangles, lines or points. */
  bytes: number;
  /**
   * How much dearer than when it was built the tree is to traverse, by the areas of its boxes: 1 until vertices move.
   * At 2 a new tree is built.
   */
  cost: number;
  /** Trees that were built anew for moved vertices and took the old one's place. */
  rebuilds: number;
}

/** What `inspect` is to list; nothing by default but the numbers of the scene. */
export interface InspectOptions {
  /** Whether to list the cells of the octrees. Default false. */
  octree?: boolean;
  /** Objects whose trees of boxes are listed. Default none. */
  objects?: ArrayLike<ObjectId>;
  /**
   * The first and the last level of these trees. Level 0 is the object's oriented bounds, the boxes of the root's children
   * are level 1. Default [0, Infinity], all.
   */
  levels?: readonly [number, number];
  /** Whether to list the bounds of all objects. Default false. */
  bounds?: boolean;
  /** Names of views: how each sees what `bounds` lists. Default none. */
  views?: readonly string[];
  /** Most boxes of each tree, of the cells and of the bounds; what has more is `cut`. At most 1,048,576; default 65,536. */
  maxBoxes?: number;
  /** Whether to answer the boxes' edges, too, as `lines`. Default false. */
  lines?: boolean;
  /** What `lines` are relative to, world. Default a place near the middle of the scene. */
  origin?: Vec3;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

/**
 * Boxes in the world. All numbers are float64, and so a box 10⁶ units away is as exact as one at the origin.
 */
export interface InspectedBoxes {
  /** Twelve for each box: its three half axes, xyz each, then its centre; at right angles but in a sheared object. */
  boxes: Float64Array;
  /** Whether there are more of them than `maxBoxes`. */
  cut: boolean;
  /** With `lines`: the twelve edges of each box, two ends each, xyz, relative to the `origin`; 72 numbers for each box. */
  lines?: Float32Array;
}

/** The tree of an object's mesh, in its present place and pose. Other shapes have a box of level 0 and no more. */
export interface InspectedTree extends InspectedBoxes {
  object: ObjectId;
  /** The frame that it is of: trees are listed in slices, between which frames go on. One that has begun stays as it was. */
  frame: number;
  topology: MeshInfo['topology'] | null;
  /** Nodes of four boxes, leaves, and the level of the deepest boxes; all 0 of a shape without a mesh. */
  nodes: number;
  leaves: number;
  depth: number;
  /** Triangles, lines or points in the tree: without the degenerate ones. */
  elements: number;
  /** Bytes of the mesh, which all its objects share; and of what is this object's own in its pose. */
  bytes: number;
  poseBytes: number;
  /** For each box: its level, ascending, and the number of the box that it is in, -1 where that is not listed. */
  levels: Uint8Array;
  parents: Int32Array;
  /**
   * The elements in leaves by their indices in the mesh: those of box i are leafElements[leafStart[i]] …
   * leafElements[leafStart[i + 1] - 1], none where it is no leaf.
   */
  leafStart: Uint32Array;
  leafElements: Uint32Array;
}

/** The cells of the octrees with something in them, parents before children: the bounds of what is in them. */
export interface InspectedCells extends InspectedBoxes {
  levels: Uint8Array;
  /** The number of the cell above, -1 of a root. */
  parents: Int32Array;
  /** How many objects are in a cell and in none below it. */
  counts: Uint32Array;
  /** The octree: 0 of moving objects, 1 of static ones, 2 of static ones that make no pairs. */
  trees: Uint8Array;
}

/** The oriented bounds of objects, by id. */
export interface InspectedBounds extends InspectedBoxes {
  ids: Uint32Array;
  /** 1 where the object is static. */
  static: Uint8Array;
  /** 1 where it is not static, and nothing of it changed in the last frame or since: its pairs are those of before. */
  asleep: Uint8Array;
  /** For each of `views`, for each object: 0 where it is outside or not listed, 1 crossing the border, 2 inside, 3 occluded. */
  states: Uint8Array[];
}

/** What the worker has, as `inspect` answers it. All arrays are the caller's to keep. */
export interface Inspection {
  /** The frame of the numbers. What takes long is listed in slices: cells, bounds and trees are as they are at their turns. */
  frame: number;
  /** What `lines` are relative to, world. */
  origin: Vec3;
  /** All objects; the moving, the static, and of these the ones that make no pairs. */
  objects: number;
  moving: number;
  static: number;
  passive: number;
  /** Cells of all octrees, empty ones included. */
  cellCount: number;
  /** In the order of `objects`. One that is removed while others are listed is left out. */
  trees: InspectedTree[];
  /** Null unless asked for. */
  cells: InspectedCells | null;
  bounds: InspectedBounds | null;
}

/** Counts of now; the worker's numbers are those that came with its last answer. */
export interface ServiceStats {
  objects: number;
  meshes: number;
  /** How many triangles all meshes were given with. */
  triangles: number;
  /** In the worker, of all meshes: trees and triangles. Per triangle: 0 where there are none. */
  meshBytes: number;
  bytesPerTriangle: number;
  /** Bytes of the worker's WebAssembly memory; and how many of them are in use. */
  memoryBytes: number;
  usedBytes: number;
  /** Frames that wait for the one in the worker: 0 or 1. */
  queueDepth: number;
  /** Calls without an answer yet, update() among them. */
  pending: number;
  /** Frames answered. */
  frames: number;
  /** Frame buffers allocated so far, both ways. It stands still while the scene does not grow. */
  frameBuffers: number;
  /** The worker's milliseconds for the last frame. */
  ms: FrameResult['ms'];
}
