// Every byte offset that both sides and the core agree on. The core compiles this very file (it is both
// TypeScript and AssemblyScript: integer constants only), so there is no second copy to get out of sync.
// Offsets are in bytes; all numbers are little-endian; all sections start at multiples of 16.

// An id is `slot << GENERATION_BITS | generation`.
export const GENERATION_BITS = 11;
export const MAX_GENERATION = 2047;
export const MAX_OBJECTS = 2097151; // slots; the last id would be NO_OBJECT

// Frame in, main thread to worker: header, transforms, instance blocks, views, poses.
export const IN_FRAME = 0; // u32
export const IN_EPOCH = 4; // u32, the life of the worker that it is meant for
export const IN_VIEW_COUNT = 8; // u32
export const IN_VIEWS = 12; // u32, offset of VIEW_BYTES each
export const IN_TRANSFORM_COUNT = 16; // u32
export const IN_IDS = 20; // u32, offset of u32 each; NO_OBJECT is skipped
export const IN_MATRICES = 24; // u32, offset of 12 f64 each: columns x, y, z, translation
export const IN_BLOCK_COUNT = 28; // u32
export const IN_BLOCKS = 32; // u32, offset of the first block
export const IN_BYTES = 36; // u32, bytes in use
export const IN_CONTACT_BUDGET = 40; // f64, milliseconds for pairs; 0 for no limit
export const IN_POSE_COUNT = 48; // u32
export const IN_POSES = 52; // u32, offset of POSE_BYTES each
export const IN_MOVE_COUNT = 56; // u32, moves of characters
export const IN_MOVES = 60; // u32, offset of MOVE_BYTES each
export const IN_HEADER_BYTES = 64;
export const MATRIX_BYTES = 96;

// A view inside a frame. Unchanged views are not sent again.
export const VIEW_SLOT = 0; // u32
export const VIEW_LAYERS = 4; // u32
export const VIEW_DEPTH = 8; // u32, 0 clip z in [-1, 1], 1 in [0, 1]
export const VIEW_REVERSED = 12; // u32
export const VIEW_PROJECTION = 16; // f64 × 16
export const VIEW_MATRIX = 144; // f64 × 16
export const VIEW_VIEWPORT = 272; // f64 × 4: x, y, width, height
export const VIEW_MARGIN = 304; // f64
export const VIEW_MIN_PIXELS = 312; // f64
export const VIEW_OCCLUSION = 320; // u32, OCCLUSION_*
export const VIEW_OCCLUSION_MARGIN = 328; // f64, how far the eye and objects may move; OCCLUSION_LASTING
export const VIEW_BYTES = 336;

export const OCCLUSION_NONE = 0;
export const OCCLUSION_EXACT = 1; // hidden in exactly this picture
export const OCCLUSION_LASTING = 2; // still hidden when the camera turns, and the eye moves within the margin

// The pose of an object inside a frame. Several may have the same bones.
export const POSE_ID = 0; // u32
export const POSE_BONE_COUNT = 4; // u32, 0 if no bones move it
export const POSE_BONES = 8; // u32, offset in the frame of 16 f32 each, column-major
export const POSE_TARGET_COUNT = 12; // u32, 0 if no morph targets move it
export const POSE_MORPHS = 16; // u32, offset in the frame of f32 each
export const POSE_BINDS = 20; // u32, offset in the frame of BINDS_BYTES
export const POSE_BYTES = 32;

// The bind matrices of a mesh and its skeleton, inside a frame. All poses without their own share one.
export const BINDS_BIND = 0; // f64 × 16, column-major
export const BINDS_INVERSE = 128; // f64 × 16
export const BINDS_BYTES = 256;

// A block of instances inside a frame: one parent, one copy of the caller's array. Blocks are applied in
// order, before the single transforms.
export const BLOCK_COUNT = 0; // u32
export const BLOCK_FLOAT_BYTES = 4; // u32, 4 or 8
export const BLOCK_IDS = 8; // u32, offset in the frame of u32 each
export const BLOCK_MATRICES = 12; // u32, offset in the frame of 16 floats each, column-major
export const BLOCK_NEXT = 16; // u32, offset in the frame of the next block
export const BLOCK_PARENT = 32; // f64 × 16
export const BLOCK_HEADER_BYTES = 160;

// Frame out, worker to main thread: header, views, then the arrays that the offsets point to.
export const OUT_FRAME = 0; // u32
export const OUT_EPOCH = 4; // u32
export const OUT_VIEW_COUNT = 8; // u32
export const OUT_VIEWS = 12; // u32, offset of OUT_VIEW_BYTES each
export const OUT_PAIR_COUNT = 16; // u32
export const OUT_PAIR_A = 20; // u32, offset of u32 each
export const OUT_PAIR_B = 24; // u32, offset of u32 each
export const OUT_PAIR_BEGUN = 28; // u32, offset of u8 each
export const OUT_PAIR_CONTAINED = 32; // u32, offset of u8 each
export const OUT_PAIR_START = 36; // u32, offset of u32 each, one more than pairs
export const OUT_ENDED_COUNT = 40; // u32
export const OUT_ENDED_A = 44; // u32, offset of u32 each
export const OUT_ENDED_B = 48; // u32, offset of u32 each
export const OUT_POINT_COUNT = 52; // u32
export const OUT_POINTS = 56; // u32, offset of 3 f32 each
export const OUT_NORMALS = 60; // u32, offset of 3 f32 each
export const OUT_DEPTHS = 64; // u32, offset of f32 each
export const OUT_REJECTED_COUNT = 68; // u32
export const OUT_REJECTED = 72; // u32, offset of u32 each
export const OUT_BYTES = 76; // u32, bytes in use
export const OUT_MS_TOTAL = 80; // f64
export const OUT_MS_UPDATE = 88; // f64
export const OUT_MS_CULL = 96; // f64
export const OUT_MS_CONTACTS = 104; // f64
export const OUT_PAIR_GROUP_A = 112; // u32, offset of u32 each
export const OUT_PAIR_GROUP_B = 116; // u32, offset of u32 each
export const OUT_PAIR_STALE = 120; // u32, offset of u8 each
export const OUT_WAITING = 124; // u32, how many pairs wait for a later frame
export const OUT_ENDED_GROUP_A = 128; // u32, offset of u32 each
export const OUT_ENDED_GROUP_B = 132; // u32, offset of u32 each
export const OUT_TRIANGLE_START = 136; // u32, offset of u32 each, one more than pairs
export const OUT_TRIANGLE_COUNT = 140; // u32, pairs of triangles
export const OUT_TRIANGLES = 144; // u32, offset of 2 u32 each
export const OUT_SEGMENTS = 148; // u32, offset of 6 f32 each
export const OUT_MS_BROAD_PHASE = 152; // f64
export const OUT_MS_NARROW_PHASE = 160; // f64
export const OUT_MS_ANSWER = 168; // f64
export const OUT_MS_COMMANDS = 176; // f64, of the commands before the frame
export const OUT_TRUNCATED = 184; // u32, 1 if there were more pairs than a frame finds
export const OUT_BONE_START = 188; // u32, offset of u32 each, one more than pairs
export const OUT_BONE_COUNT = 192; // u32, pairs of bones
export const OUT_BONES = 196; // u32, offset of BONE_PAIR_BYTES each
export const OUT_CHARACTER_COUNT = 200; // u32
export const OUT_CHARACTERS = 204; // u32, offset of OUT_CHARACTER_BYTES each
export const OUT_PUSH_COUNT = 208; // u32
export const OUT_PUSHES = 212; // u32, offset of PUSH_BYTES each
export const OUT_MS_OCCLUSION = 216; // f64, a part of OUT_MS_CULL
export const OUT_PAIR_TIME = 224; // u32, offset of f32 each; 0 where all are 1
export const OUT_HEADER_BYTES = 240;

// A view's answer inside a frame out.
export const OUT_VIEW_SLOT = 0; // u32
export const OUT_VIEW_COUNT_IDS = 4; // u32
export const OUT_VIEW_INSIDE = 8; // u32
export const OUT_VIEW_IDS = 12; // u32, offset of u32 each
export const OUT_VIEW_ENTERED_COUNT = 16; // u32
export const OUT_VIEW_ENTERED = 20; // u32, offset of u32 each
export const OUT_VIEW_LEFT_COUNT = 24; // u32
export const OUT_VIEW_LEFT = 28; // u32, offset of u32 each
export const OUT_VIEW_OCCLUDED_COUNT = 32; // u32
export const OUT_VIEW_OCCLUDED = 36; // u32, offset of u32 each
export const OUT_VIEW_OCCLUDER_COUNT = 40; // u32
export const OUT_VIEW_OCCLUDERS = 44; // u32, offset of u32 each
export const OUT_VIEW_BYTES = 48;

// An object's description, as the worker writes it into the core.
export const OBJECT_SHAPE = 0; // u32, SHAPE_*
export const OBJECT_MESH = 4; // u32, address of the baked mesh in the core
export const OBJECT_FLAGS = 8; // u32, FLAG_*
export const OBJECT_LAYERS = 12; // u32
export const OBJECT_COLLIDES_WITH = 16; // u32
export const OBJECT_GROUP = 20; // u32
export const OBJECT_CONTACTS = 24; // u32, CONTACTS_*
export const OBJECT_FACE_SIDES = 28; // u32, address of a list in the core, when FLAG_FACE_SIDES
export const OBJECT_CENTER = 32; // f64 × 3, of box and sphere; a capsule's from
export const OBJECT_EXTENT = 56; // f64 × 3, half extents of a box; a capsule's to
export const OBJECT_ROTATION = 80; // f64 × 4, quaternion xyzw of a box
export const OBJECT_RADIUS = 112; // f64
export const OBJECT_CLIP_SET = 120; // u32, number of a clip set; 0 for none
export const OBJECT_MATRIX = 128; // f64 × 12, when FLAG_MATRIX
export const OBJECT_CLEARANCE = 224; // f64, world units
export const OBJECT_BOXES = 232; // u32, address of a list in the core, when FLAG_BOXES
export const OBJECT_BYTES = 240;

export const SHAPE_MESH = 1;
export const SHAPE_SPHERE = 2;
export const SHAPE_BOX = 3;
export const SHAPE_CAPSULE = 4;
export const SHAPE_POINT_LINE = 5; // a mesh of points or lines, which is SHAPE_MESH in descriptions

export const FLAG_STATIC = 1;
export const FLAG_PICKABLE = 2;
export const FLAG_CULLABLE = 4;
export const FLAG_SOLID = 8;
export const FLAG_MATRIX = 16; // the description carries a matrix; without it, an object that is set keeps its own
export const FLAG_SIDE = 32; // times SIDE_*: the side of it that queries by SIDE_OWN hit
export const FLAG_FACE_SIDES = 128; // some triangles of its mesh have another side

export const FLAG_OCCLUDER = 256; // it may hide others
export const FLAG_NO_OCCLUDER = 512; // it may not; with neither, boxes and meshes may
export const FLAG_CLEARANCE = 1024; // it has a clearance
export const FLAG_CONTINUOUS = 2048; // objects that it passes between two frames are contacts, too
export const FLAG_BOXES = 4096; // boxes stand for its mesh

export const CONTACTS_NONE = 0;
export const CONTACTS_BOUNDS = 1;
export const CONTACTS_BONES = 2; // CONTACTS_ANY for objects without bones
export const CONTACTS_ANY = 3;
export const CONTACTS_MANIFOLD = 4;
export const CONTACTS_TRIANGLES = 5; // without points
export const CONTACTS_FULL = 6;

// A query's filter over objects, as the worker writes it into the core.
export const FILTER_LAYERS = 0; // u32
export const FILTER_SIDE = 4; // u32, SIDE_*
export const FILTER_PRECISION = 8; // u32, PRECISION_*
export const FILTER_IGNORE = 12; // u32, address of u32 ids, ascending
export const FILTER_IGNORE_COUNT = 16; // u32
export const FILTER_OWN_COUNT = 20; // u32, objects with a threshold of their own
export const FILTER_THRESHOLD = 24; // f64, world units: how near points and lines must be to a ray
export const FILTER_OWN_IDS = 32; // u32, address of u32 ids, ascending
export const FILTER_OWN_THRESHOLDS = 36; // u32, address of f64 each, in the object's own units
export const FILTER_CLIP_PLANES = 40; // u32, address of 4 f64 each: n · p + d >= 0 is kept; largest part of n in [1, 2)
export const FILTER_CLIP_SETS = 44; // u32, address of CLIP_SET_BYTES each: the query's planes, then the objects' sets
export const FILTER_CLIP_SET_COUNT = 48; // u32, 0 if nothing is cut
export const FILTER_BYTES = 64;

// Planes that cut a part of the world away: those of a query itself, and those of objects that have the set's number.
export const CLIP_SET_FIRST = 0; // u32, index of its first plane: first the union planes, then the intersection planes
export const CLIP_SET_UNION_COUNT = 4; // u32
export const CLIP_SET_INTERSECTION_COUNT = 8; // u32
export const CLIP_SET_BYTES = 16;

export const MAX_CLIP_PLANES = 16; // of a query
export const MAX_SET_PLANES = 32; // of a clip set, of either kind

export const SIDE_OWN = 0; // the side of each object
export const SIDE_FRONT = 1;
export const SIDE_BACK = 2;
export const SIDE_DOUBLE = 3;

// An entry of the list of sides of a mesh that does not show the same side everywhere: the triangle from which on a side
// applies << FACE_SHIFT | SIDE_*; SIDE_OWN for the side of the object.
export const FACE_SHIFT = 2;
export const MAX_FACES = 0x3fffffff; // triangles of a mesh that these numbers can address; memory has room for fewer

export const PRECISION_SPHERE = 1;
export const PRECISION_AABB = 2;
export const PRECISION_OBB = 3;
export const PRECISION_MESH = 4;

// A ray query, as the worker writes it into the core.
export const RAY_ORIGIN = 0; // f64 × 3
export const RAY_DIRECTION = 24; // f64 × 3, any length but zero
export const RAY_T_MIN = 48; // f64, world units
export const RAY_T_MAX = 56; // f64, world units
// Affine functions of a point relative to the origin that define what is drawn near a point of the screen (packed.ts, Cone).
export const RAY_IS_CONE = 64; // u32, 0 without them
export const RAY_CONE_A = 72; // f64 × 3, gradient
export const RAY_CONE_B = 96; // f64 × 3, gradient
export const RAY_CONE_RADIUS = 120; // f64 × 4, gradient and value at the origin
export const RAY_BYTES = 160;

// The kinds of features that a pick may snap to, a bit each.
export const SNAP_VERTEX = 1;
export const SNAP_MIDPOINT = 2;
export const SNAP_CENTER = 4;
export const SNAP_EDGE = 8;
export const SNAP_FACE = 16;

// An object in a snapping pick.
export const SNAP_MAP = 0; // f64 × 12, from the shape's own space to the world
export const SNAP_HALF = 96; // f64, half of the segment of a capsule
export const SNAP_SHAPE = 104; // u16, SHAPE_*
export const SNAP_MESH = 108; // u32, address of the mesh, in its pose; 0 without
export const SNAP_BASE = 112; // u32, address of the mesh at rest
export const SNAP_SIDES = 116; // u32, SIDE_*: which of its faces show, plus 4 if some have sides of their own
export const SNAP_CLIP_SET = 120; // u32, number of its clip set; 0 for none
export const SNAP_FEATURES = 124; // u32, address of its features: core/scene/snap/feature-table.ts
export const SNAP_OBJECT = 128; // u32, its id
export const SNAP_MOVED = 132; // u32, 1 if vertices have moved since the features were found
export const SNAP_TARGET_BYTES = 144;

// The state of a snapping pick: core/scene/snap/snap-pick.ts.
export const SNAP_PICK_DRAWING = 0; // f64 × SNAP_DRAWING_NUMBERS, as a SnapRequest has them
export const SNAP_PICK_POINT = 200; // f64 × 3, of the candidate that is tested, or was found: in the world
export const SNAP_PICK_SCREEN_POINT = 224; // f64 × 2, where that point is drawn
export const SNAP_PICK_RECT = 240; // f64 × 4, where the box that is tested is drawn
export const SNAP_PICK_PIXELS = 272; // f64
export const SNAP_PICK_TARGET = 280; // u32, index of the object that the candidate or the box belongs to
export const SNAP_PICK_BOX = 284; // u32, address of that box: minimum xyz, maximum xyz, f32
export const SNAP_PICK_KIND = 288; // u32, SNAP_*
export const SNAP_PICK_INDEX = 292; // u32, index of its vertex, circle or edge
export const SNAP_PICK_SLOT = 296; // u32, slot of the element that it belongs to
export const SNAP_PICK_HIDDEN_COUNT = 300; // u32, candidates that a ray has shown to be hidden
export const SNAP_PICK_TARGETS = 304; // u32, address of the objects
export const SNAP_PICK_TARGET_COUNT = 308; // u32
export const SNAP_PICK_ENDS = 312; // f64 × 6, the ends of the feature found, in the world: of its straight run or its arc
export const SNAP_PICK_ELEMENT = 360; // i32, index of its element, as the mesh was given; -1 of boxes

/** Four factors and terms each of five functions of the world, four numbers of the viewport, and the radius. */
export const SNAP_DRAWING_NUMBERS = 25;

// Results of a step of a snapping pick.
export const SNAP_NONE = 0; // there is nothing to snap to
export const SNAP_PAUSED = 1;
export const SNAP_ASKS_BOX = 2; // whether the box is hidden
export const SNAP_ASKS_POINT = 3; // whether the candidate is hidden
export const SNAP_FOUND = 4;

// A region of a view: a rectangle in the units of clip space over w, and perhaps a polygon in it.
export const REGION_MIN_X = 0; // f64, -1 … 1
export const REGION_MIN_Y = 8; // f64
export const REGION_MAX_X = 16; // f64
export const REGION_MAX_Y = 24; // f64
export const REGION_POLYGON = 32; // u32, address of two f64 for each vertex
export const REGION_VERTEX_COUNT = 36; // u32, 0 for the whole rectangle
export const REGION_MODE = 40; // u32, REGION_TOUCH or REGION_ENCLOSE
export const REGION_BYTES = 48;

export const REGION_TOUCH = 1;
export const REGION_ENCLOSE = 2;

// A hit, as the core writes it.
export const HIT_OBJECT = 0; // u32, NO_OBJECT if missed
export const HIT_TRIANGLE = 4; // i32
export const HIT_DISTANCE = 8; // f64
export const HIT_POINT = 16; // f64 × 3
export const HIT_NORMAL = 40; // f64 × 3
export const HIT_BARYCENTRIC = 64; // f64 × 3
export const HIT_PIXELS = 88; // f64, of a pick by screen distance
export const HIT_DISTANCE_TO_RAY = 96; // f64, of points and lines
export const HIT_ELEMENT = 104; // i32, index of the triangle, point or line; -1 of other shapes
export const HIT_BONE = 108; // i32, the bone whose box was hit; -1 for none
export const HIT_BYTES = 112;
// A sweep's hit has these instead of the distance and the barycentric weights.
export const HIT_TIME = 8; // f64, 0 … 1
export const HIT_DEPTH = 64; // f64, 0 unless they overlap at the start

// The motion of a sweep, which starts at the matrix of the description.
export const MOTION_DISPLACEMENT = 0; // f64 × 3, of the origin of the shape's matrix
export const MOTION_ROTATION = 24; // f64 × 4, quaternion xyzw, in the world, about that origin
export const MOTION_TOLERANCE = 56; // f64, world units; 0 for the default
export const MOTION_BYTES = 64;

// A way of sweepMany: where the shape is at the start and at the end.
export const WAY_FROM = 0; // f64 × 3, position, then f64 × 4, quaternion xyzw
export const WAY_TO = 56; // the same
export const WAY_NUMBERS = 14;

/** Numbers of a ray among many: origin, tMin, direction, tMax. */
export const RAY_NUMBERS = 8;

// A point of a contact, as the core keeps it.
export const CONTACT_POINT = 0; // f32 × 3, world
export const CONTACT_NORMAL = 12; // f32 × 3, world, unit, from the object of the lower id to the other
export const CONTACT_DEPTH = 24; // f32, world units
export const CONTACT_POINT_BYTES = 28;

// How far two objects are; scene/pairs/pair-distance.ts has the same offsets.
export const DISTANCE_VALUE = 0; // f64, world units
export const DISTANCE_POINT_A = 8; // f64 × 3, world
export const DISTANCE_POINT_B = 32; // f64 × 3, world
export const DISTANCE_TRIANGLE_A = 56; // i32, -1 if there is none
export const DISTANCE_TRIANGLE_B = 60; // i32

// Two triangles that meet, as the core keeps them.
export const CROSSING_A = 0; // u32, triangle of the object of the lower id
export const CROSSING_B = 4; // u32, triangle of the other
export const CROSSING_SEGMENT = 8; // f32 × 6, world
export const CROSSING_BYTES = 32;

// Two bones whose boxes meet, as the core keeps them and a frame out has them.
export const BONE_PAIR_A = 0; // i32, of the object of the lower id; -1 if it has none
export const BONE_PAIR_B = 4; // i32, of the other
export const BONE_PAIR_BYTES = 8;

// A mesh, baked or in the core: header, nodes, blocks of triangles, the indices as given (for refits), the dipoles of
// the nodes, skin and morph targets (core/mesh/tree/deform-layout.ts), and derived data (core/mesh/topology/derived-layout.ts).
export const MESH_MAGIC = 0; // u32, MESH_MAGIC_VALUE
export const MESH_VERSION = 4; // u32, MESH_VERSION_VALUE
export const MESH_BYTES = 8; // u32, of the whole mesh
export const MESH_CHECKSUM = 12; // u32, of all bytes from MESH_CHECKED on; valid in a baked mesh only
export const MESH_CHECKED = 16;
export const MESH_NODE_COUNT = 16; // u32
export const MESH_BLOCK_COUNT = 20; // u32
export const MESH_TRIANGLE_COUNT = 24; // u32, as given
export const MESH_KEPT_COUNT = 28; // u32, without the degenerate ones
export const MESH_VERTEX_COUNT = 32; // u32
export const MESH_INDEXED = 36; // u32, 1 if indices follow the blocks
export const MESH_NODES = 40; // u32, offset from the header
export const MESH_BLOCKS = 44; // u32, offset from the header
export const MESH_INDICES = 48; // u32, offset from the header
export const MESH_EXPONENT = 52; // i32: tree space = (mesh space - offset) · 2^exponent
export const MESH_OFFSET = 56; // f64 × 3
export const MESH_MIN = 80; // f64 × 3, bounds in mesh space
export const MESH_MAX = 104; // f64 × 3
export const MESH_COST = 128; // f64, of the tree as it is now; core/mesh/tree/cost.ts
export const MESH_BUILT_COST = 136; // f64, of the tree as it was built
export const MESH_RADIUS = 144; // f64, distance of the farthest vertex from the centre of the bounds, in mesh space
export const MESH_DIPOLES = 152; // u32, offset from the header
export const MESH_CLOSED = 156; // u32, 1 if every edge has as many triangles on one side as on the other
export const MESH_FACING = 160; // i32, 1 if the faces point outwards, -1 if inwards, 0 if they enclose nothing
export const MESH_DERIVED = 164; // u32, offset from the header; in the core it may wrap around to another place
export const MESH_DERIVED_STATE = 168; // u32, 0 in a baked mesh; core/mesh/topology/derived.ts
export const MESH_DEFORM_BYTES = 172; // u32, of the section behind the dipoles: core/mesh/tree/deform-layout.ts
export const MESH_CLOSING_WELD = 192; // f64, the least weld distance of vertices that closes it; 0 for none
export const MESH_OPEN_EDGES = 200; // u32, edges that keep it open; the next fields describe one of them
export const MESH_OPEN_TRIANGLE = 204; // u32
export const MESH_OPEN_EDGE = 208; // u32, 0, 1 or 2
export const MESH_OPEN_FROM = 212; // f32 × 3
export const MESH_OPEN_TO = 224; // f32 × 3
export const MESH_HEADER_BYTES = 256;

// A block of a baked mesh: four triangles, xyz of their three corners in tree space, f32 × 4 each, then their indices.
// Unused lanes have index -1.
export const BLOCK_TRIANGLES = 144; // i32 × 4
export const BLOCK_BYTES = 160;
export const MESH_MAGIC_VALUE = 0x424d5743; // 'CWMB'
export const MESH_VERSION_VALUE = 7;

// A mesh of points or lines: the same header up to MESH_RADIUS, with elements for triangles; nodes, blocks, indices.
export const POINT_LINE_SIZE = 152; // u32, vertices of an element: 1 of points, 2 of lines
export const POINT_LINE_MAGIC_VALUE = 0x4c505743; // 'CWPL'
export const POINT_LINE_VERSION_VALUE = 2;

// Result of an inspection: a box, and four words about it.
export const INSPECTED_FRAME = 0; // f64 × 12: three half axes, then the centre
export const INSPECTED_WORDS = 96; // u32 × 4; core/scene/inspect says which
export const INSPECTED_BYTES = 112;

// Counts of an inspected mesh.
export const INSPECTED_MESH_NODES = 0; // u32
export const INSPECTED_MESH_BLOCKS = 4; // u32, leaves
export const INSPECTED_MESH_DEPTH = 8; // u32, the level of its deepest boxes
export const INSPECTED_MESH_ELEMENTS = 12; // u32, those in the tree
export const INSPECTED_MESH_BYTES = 16; // u32, of the mesh, which all its objects share
export const INSPECTED_MESH_POSE_BYTES = 20; // u32, of the object's own pose
export const INSPECTED_MESH_TOPOLOGY = 24; // u32, vertices of an element: 3 of triangles; 0 of other shapes
export const INSPECTED_MESH_END = 28;

// Counts of the scene: u32 each.
export const INSPECTED_SCENE_OBJECTS = 0;
export const INSPECTED_SCENE_MOVING = 4;
export const INSPECTED_SCENE_STATIC = 8; // static objects that make pairs
export const INSPECTED_SCENE_PASSIVE = 12; // static objects that make none
export const INSPECTED_SCENE_CELLS = 16; // of all octrees
export const INSPECTED_SCENE_ORIGIN = 24; // f64 × 3, of the float32 bounds in the octrees
export const INSPECTED_SCENE_BYTES = 48;

// An outline of a section.
export const OUTLINE_OBJECT = 0; // u32, id
export const OUTLINE_START = 4; // u32, its first point
export const OUTLINE_END = 8; // u32, one past its last point
export const OUTLINE_CLOSED = 12; // u32, 1 if the last point is joined to the first
export const OUTLINE_BYTES = 16;

// A character's description, as the worker writes it into the core. Places are float64, in the world or relative to the
// character's own position.
export const CHARACTER_FROM = 0; // f64 × 3, of the capsule
export const CHARACTER_TO = 24; // f64 × 3
export const CHARACTER_RADIUS = 48; // f64
export const CHARACTER_UP = 56; // f64 × 3, of length 1
export const CHARACTER_SKIN = 80; // f64
export const CHARACTER_SLOPE = 88; // f64, the cosine of the steepest slope
export const CHARACTER_STEP_HEIGHT = 96; // f64
export const CHARACTER_SNAP = 104; // f64
export const CHARACTER_GRAVITY = 112; // f64, units / s²
export const CHARACTER_STEP = 120; // f64, seconds
export const CHARACTER_POSITION = 128; // f64 × 3
export const CHARACTER_SPEED = 152; // f64, along up, units / s
export const CHARACTER_TIME = 160; // f64, seconds that do not make up a step yet
export const CHARACTER_LAYERS = 168; // u32
export const CHARACTER_OBJECT = 172; // u32, 0 for none
export const CHARACTER_IGNORE = 176; // u32, address of u32 ids, ascending
export const CHARACTER_IGNORE_COUNT = 180; // u32
export const CHARACTER_FLAGS = 184; // u32, CHARACTER_IS_*
export const CHARACTER_STATE = 192; // CHARACTER_STATE_BYTES of a frame out, from OUT_CHARACTER_DEPTH on; or zeros
export const CHARACTER_BYTES = 320;

export const CHARACTER_IS_STANDING = 1;
export const CHARACTER_IS_BLOCKED = 2; // by something above
export const CHARACTER_IS_PLACED = 4; // the description has a position, a speed and a time; without it they stay as they are

// A move of a character inside a frame. Moves of one character are made in order.
export const MOVE_CHARACTER = 0; // u32, its id
export const MOVE_KIND = 4; // u32, MOVE_*
export const MOVE_VECTOR = 8; // f64 × 3, world units; MOVE_TIMED: per second
export const MOVE_SECONDS = 32; // f64
export const MOVE_NEXT = 40; // u32, the core's own
export const MOVE_BYTES = 48;

export const MOVE_BY = 1;
export const MOVE_TIMED = 2; // in steps
export const MOVE_JUMP = 3; // MOVE_SECONDS is the speed along up

// A character inside a frame out.
export const OUT_CHARACTER_ID = 0; // u32
export const OUT_CHARACTER_FLAGS = 4; // u32, CHARACTER_IS_*
export const OUT_CHARACTER_POSITION = 8; // f64 × 3
export const OUT_CHARACTER_BETWEEN = 32; // f64 × 3, the position between the last two steps
export const OUT_CHARACTER_SPEED = 56; // f64
export const OUT_CHARACTER_TIME = 64; // f64
export const OUT_CHARACTER_DEPTH = 72; // f64
// The ground, like a push below.
export const OUT_CHARACTER_GROUND = 80; // u32, an id; 0 in the air
export const OUT_CHARACTER_TRIANGLE = 84; // i32
export const OUT_CHARACTER_GROUND_POINT = 88; // f64 × 3
export const OUT_CHARACTER_GROUND_NORMAL = 112; // f64 × 3
export const OUT_CHARACTER_FIRST_PUSH = 136; // u32
export const OUT_CHARACTER_PUSH_COUNT = 140; // u32
export const OUT_CHARACTER_STEPS = 144; // u32, since it was made
export const OUT_CHARACTER_IS_TIMED = 148; // u32, 1 if it moves in steps
export const OUT_CHARACTER_GROUND_LOCAL = 152; // f64 × 3, the point in the space of the ground
export const OUT_CHARACTER_LAST = 176; // f64 × 3, the position before the last step
export const OUT_CHARACTER_BYTES = 200;
export const CHARACTER_STATE_BYTES = 128; // from OUT_CHARACTER_DEPTH on

// An object that a character pushed against, inside a frame out.
export const PUSH_OBJECT = 0; // u32
export const PUSH_TRIANGLE = 4; // i32
export const PUSH_POINT = 8; // f64 × 3
export const PUSH_NORMAL = 32; // f64 × 3
export const PUSH_BYTES = 56;
