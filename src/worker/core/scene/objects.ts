// The table of objects, by slot: ids, records and world bounds. Bounds are float32 about the scene's origin, rounded
// outwards, so that they are conservative; matrices are float64. World units.
//
// Records and bounds are in pages, as a table of a million that doubles leaves its own half behind as a hole; a page of
// which no object is alive is given back.

import {
  CONTACTS_NONE, FLAG_BOXES, FLAG_CONTINUOUS, FLAG_CULLABLE, FLAG_FACE_SIDES, FLAG_MATRIX, GENERATION_BITS, OBJECT_CLEARANCE, OBJECT_CLIP_SET, OBJECT_COLLIDES_WITH,
  OBJECT_BOXES, OBJECT_CONTACTS,
  OBJECT_FACE_SIDES, OBJECT_FLAGS, OBJECT_GROUP, OBJECT_LAYERS, OBJECT_MATRIX, OBJECT_MESH, OBJECT_SHAPE, SHAPE_MESH,
  SHAPE_POINT_LINE,
} from '../../../shared/layout';
import { AFFINE_BYTES, Affine, setIdentity } from '../math/affine';
import { allocate, release, reserve } from '../memory';
import { dropList, retireList, shareList } from '../shared-lists';
import { Mesh } from '../mesh/tree/layout';
import {
  ITEM_BYTES, Item, PRIMITIVE_BYTES, Primitive, boxListOf, describePrimitive, describeShape, setOrientedBounds, worldOf,
} from '../shape/item';
import { baseOf, fitsPose, freeRooms, isPosed, poseOf, repose, reserveRepose, retire } from '../skin/pose';
import { PlacedShape, setPlacedShape } from '../shape/placed-shape';
import { REACHING, REACH_BYTES, Reach, endsZ, findReach, halfXY, highXY, lowXY, placeXY } from '../shape/reach';
import { noteReach, noteReaching, noteStart, reserveWays, wayRound } from './ways';

/** World bounds of a slot in float32, relative to the scene's origin, rounded outwards. */
@unmanaged
export class Box {
  lowX: f32; lowY: f32; lowZ: f32;
  /** The position in its tree, UNPLACED until that is built. */
  position: u32;
  highX: f32; highY: f32; highZ: f32;
  /** The tree that the object is in: TREE_*. */
  tree: u32;
}

export const BOX_BYTES: usize = offsetof<Box>();
export const NO_TREE: u32 = 3;
export const UNPLACED: u32 = 0xffffffff;

const PAGE_BITS: u32 = 8;
/** The slots of a page. */
export const PAGE_SLOTS: u32 = 1 << PAGE_BITS;
const PAGE_BOXES: usize = <usize>PAGE_SLOTS * ITEM_BYTES;
const PAGE_BYTES: usize = PAGE_BOXES + <usize>PAGE_SLOTS * BOX_BYTES;
const PAGE_CLIP_SETS: usize = <usize>PAGE_SLOTS << 2;
const PAGE_PRIMITIVES: usize = <usize>PAGE_SLOTS * PRIMITIVE_BYTES;
const PAGE_REACHES: usize = <usize>PAGE_SLOTS * REACH_BYTES;

@unmanaged
class Page {
  /** The address of the records, and behind them the bounds; 0 where no object is alive. */
  records: usize;
  /** The address of a primitive for each slot, or of one for all of them; 0 where all objects are meshes. */
  primitives: usize;
  /** Whether all objects that are no meshes are of the same shape: a million boxes are one, in each of 4,000 pages. */
  areAlike: u32;
  /** The address of the number of a clip set for each slot, u32 each; 0 where no object has had one. */
  clipSets: usize;
  /** The address of a Reach for each slot; 0 where no object has had one. */
  reaches: usize;
  live: u32;
}

let pages: usize = 0;
let pageCount: u32 = 0;
/** The ids by slot, 0 where empty. They are scanned most, so they are kept dense. */
export let ids: usize = 0;
/** A byte for each slot: a hash of the address of the mesh that its object had last, as it is and not in a pose. */
let meshTags: usize = 0;
/** The number of slots that may be in use: all are below. */
export let slotCount: u32 = 0;
export let liveCount: u32 = 0;
/** How many objects are of points or lines. */
export let pointLineCount: u32 = 0;
/** How often bounds were set. */
export let changes: u32 = 1;

export let sceneOriginX: f64 = 0;
export let sceneOriginY: f64 = 0;
export let sceneOriginZ: f64 = 0;

// @ts-ignore: decorator
@inline
export function slotOf(id: u32): u32 {
  return id >> GENERATION_BITS;
}

// @ts-ignore: decorator
@inline
function pageOf(slot: u32): Page {
  return changetype<Page>(pages + (slot >> PAGE_BITS) * <u32>offsetof<Page>());
}

/** Answers the record of a slot that has an object, or is about to. */
// @ts-ignore: decorator
@inline
export function itemAt(slot: u32): Item {
  return changetype<Item>(pageOf(slot).records + (slot & (PAGE_SLOTS - 1)) * <u32>ITEM_BYTES);
}

/** Answers the bounds of a slot that has an object, or is about to. */
// @ts-ignore: decorator
@inline
export function boxAt(slot: u32): Box {
  return changetype<Box>(pageOf(slot).records + PAGE_BOXES + (slot & (PAGE_SLOTS - 1)) * <u32>BOX_BYTES);
}

// @ts-ignore: decorator
@inline
export function idAt(slot: u32): u32 {
  return load<u32>(ids + (<usize>slot << 2));
}

/** Sets what stands for the object in a slot, by the precision that a query asks for. */
export function placedShapeAt(out: PlacedShape, slot: u32, precision: u32): void {
  setPlacedShape(out, itemAt(slot), precision);
}

/** Answers the number of an object's clip set; 0 where it has none. */
export function clipSetOf(slot: u32): u32 {
  const clipSets = pageOf(slot).clipSets;
  return clipSets == 0 ? 0 : load<u32>(clipSets + (<usize>(slot & (PAGE_SLOTS - 1)) << 2));
}

/** Answers what an object reaches beyond its shape; 0 where it does not. */
export function reachAt(slot: u32): Reach {
  return itemAt(slot).flags & REACHING ? knownReachAt(slot) : changetype<Reach>(0);
}

/** Answers the same of an object that reaches beyond its shape. */
export function knownReachAt(slot: u32): Reach {
  return changetype<Reach>(pageOf(slot).reaches + (slot & (PAGE_SLOTS - 1)) * <u32>REACH_BYTES);
}

/** Tells whether there is memory for the record and the bounds of a slot. */
export function isReserved(slot: u32): bool {
  return pageOf(slot).records != 0;
}

export function isAlive(id: u32): bool {
  const slot = slotOf(id);
  return id != 0 && slot < slotCount && idAt(slot) == id;
}

/** Answers the layers under which views see an object, or 0. */
export function visibleLayers(item: Item): u32 {
  return item.flags & FLAG_CULLABLE ? item.layers : 0;
}

/** So many slots are looked at at once for a mesh: the bytes of a vector. */
export const TAGS_AT_ONCE: u32 = 16;

/**
 * Tells whether one of `TAGS_AT_ONCE` slots, of which this is the first, may have a mesh, as it is and not in a pose. The tags are by
 * themselves as all of them are looked at for each mesh whose vertices move.
 */
export function mayHaveMesh(slot: u32, mesh: u32): bool {
  return v128.any_true(i8x16.eq(v128.load(meshTags + slot), i8x16.splat(<i8>tagOf(mesh))));
}

/** Notes that an object has a mesh. */
export function noteMesh(slot: u32, mesh: u32): void {
  store<u8>(meshTags + slot, <u8>tagOf(mesh));
}

// @ts-ignore: decorator
@inline
function tagOf(mesh: u32): u32 {
  return (mesh >> 4) * 2654435761 >> 24;
}

/** Makes room for slots up to and including `slot`, which is a new one. Throws OUT_OF_MEMORY. */
export function reserveSlots(slot: u32): void {
  const count = slot + 1;
  const pagesNeeded = (count + PAGE_SLOTS - 1) >> PAGE_BITS;
  const bytes = offsetof<Page>();
  pages = reserve(pages, pageCount * <u32>bytes, <u64>pagesNeeded * bytes);
  memory.fill(pages + pageCount * <u32>bytes, 0, (pagesNeeded - pageCount) * <u32>bytes);
  pageCount = pagesNeeded;
  ids = reserve(ids, slotCount << 2, <u64>count << 2);
  memory.fill(ids + (<usize>slotCount << 2), 0, <usize>(count - slotCount) << 2);
  meshTags = reserve(meshTags, slotCount, <u64>count + TAGS_AT_ONCE - 1); // the last of them are read with what is behind
  slotCount = count;
}

/** Makes room for what a description says, in a slot that there is. Throws OUT_OF_MEMORY. */
export function reserveRecord(slot: u32, description: usize): void {
  const page = pageOf(slot);
  const isMesh = load<u32>(description, OBJECT_SHAPE) == SHAPE_MESH;
  if (page.records != 0) {
    if (isMesh) reservePose(itemAt(slot), changetype<Mesh>(<usize>load<u32>(description, OBJECT_MESH)));
    if (!isMesh) reservePrimitive(page, slot, description);
    reserveClipSets(page, description);
    reserveReaches(page, description);
    return;
  }
  // Where there is no memory for both, there is to be none for one that nobody needs.
  page.records = allocate(isMesh ? PAGE_BYTES : PAGE_BYTES + PRIMITIVE_BYTES);
  if (!isMesh) sharePrimitive(page, page.records + PAGE_BYTES);
  const first = slot & ~(PAGE_SLOTS - 1);
  for (let s = first; s < first + PAGE_SLOTS; s++) {
    itemAt(s).id = 0;
    boxAt(s).tree = NO_TREE;
    boxAt(s).position = UNPLACED;
  }
  reserveClipSets(page, description);
  reserveReaches(page, description);
}

const other = memory.data(<i32>offsetof<Primitive>(), 16);

/** Makes room for the primitive of a slot: all objects of a page have one for as long as they are alike. */
function reservePrimitive(page: Page, slot: u32, description: usize): void {
  if (page.primitives == 0) {
    sharePrimitive(page, allocate(PRIMITIVE_BYTES));
    return;
  }
  if (!page.areAlike) return;
  describePrimitive(other, description);
  if (memory.compare(page.primitives, other, PRIMITIVE_BYTES) == 0) return;
  const shared = page.primitives;
  page.primitives = allocate(PAGE_PRIMITIVES);
  page.areAlike = 0;
  const first = slot & ~(PAGE_SLOTS - 1);
  for (let s = first; s < first + PAGE_SLOTS; s++) {
    const item = itemAt(s);
    if (item.id == 0 || item.primitive == 0 || item.mesh != 0) continue;
    item.primitive = primitiveOf(s);
    memory.copy(<usize>item.primitive, shared, PRIMITIVE_BYTES);
  }
  if (shared != page.records + PAGE_BYTES) release(shared);
}

/** Gives all objects of a page one primitive. `describe` writes it, of the first of them. */
function sharePrimitive(page: Page, primitive: usize): void {
  page.primitives = primitive;
  page.areAlike = 1;
}

/** Answers the address of the primitive of a slot. `reserveRecord` comes before. */
function primitiveOf(slot: u32): u32 {
  const page = pageOf(slot);
  return <u32>(page.areAlike ? page.primitives : page.primitives + (slot & (PAGE_SLOTS - 1)) * <u32>PRIMITIVE_BYTES);
}

function reserveReaches(page: Page, description: usize): void {
  const flags = load<u32>(description, OBJECT_FLAGS);
  if (flags & FLAG_CONTINUOUS) reserveWays(slotCount);
  if (page.reaches != 0 || !(flags & REACHING)) return;
  page.reaches = allocate(PAGE_REACHES);
  noteReaching();
}

function reserveClipSets(page: Page, description: usize): void {
  if (page.clipSets != 0 || load<u32>(description, OBJECT_CLIP_SET) == 0) return;
  page.clipSets = allocate(PAGE_CLIP_SETS);
  memory.fill(page.clipSets, 0, PAGE_CLIP_SETS);
}

/**
 * Writes a description (layout.ts, OBJECT_*) to a slot, but for its bounds; `reserveRecord` comes before. A new object
 * without a matrix gets the identity.
 */
export function describe(id: u32, description: usize): void {
  const slot = slotOf(id);
  const item = itemAt(slot);
  const fresh = item.id != id;
  const wasContinuous = !fresh && (item.flags & FLAG_CONTINUOUS) != 0 && item.contacts != <u8>CONTACTS_NONE;
  if (fresh) {
    liveCount++;
    pageOf(slot).live++;
  } else if (item.shape == SHAPE_POINT_LINE) pointLineCount--;
  item.id = id;
  store<u32>(ids + (<usize>slot << 2), id);
  const before: u32 = fresh ? 0 : item.mesh;
  const boxesBefore: usize = fresh ? 0 : boxListOf(item);
  const isMesh = load<u32>(description, OBJECT_SHAPE) == SHAPE_MESH;
  item.primitive = isMesh ? 0 : primitiveOf(slot);
  describeShape(item, description);
  if (item.mesh != 0) noteMesh(slot, item.mesh);
  keepPose(item, before);
  item.flags = <u16>load<u32>(description, OBJECT_FLAGS);
  item.layers = load<u32>(description, OBJECT_LAYERS);
  item.collidesWith = load<u32>(description, OBJECT_COLLIDES_WITH);
  item.group = load<u32>(description, OBJECT_GROUP);
  item.contacts = <u8>load<u32>(description, OBJECT_CONTACTS);
  if (item.shape == SHAPE_POINT_LINE) {
    pointLineCount++;
    item.contacts = <u8>CONTACTS_NONE; // what has neither surface nor inside touches nothing
  }
  const clipSets = pageOf(slot).clipSets;
  if (clipSets != 0) store<u32>(clipSets + (<usize>(slot & (PAGE_SLOTS - 1)) << 2), load<u32>(description, OBJECT_CLIP_SET));
  const faceSides: u32 = item.flags & FLAG_FACE_SIDES ? load<u32>(description, OBJECT_FACE_SIDES) : 0;
  shareList(faceSides);
  if (!fresh) dropList(item.faceSides);
  item.faceSides = faceSides;
  if (isMesh && item.flags & FLAG_BOXES) item.primitive = load<u32>(description, OBJECT_BOXES);
  shareList(boxListOf(item));
  retireList(boxesBefore); // a frame that is under way may read it
  const world = worldOf(item);
  if (item.flags & FLAG_MATRIX) memory.copy(changetype<usize>(world), description + OBJECT_MATRIX, AFFINE_BYTES);
  else if (fresh) setIdentity(world);
  if (item.flags & REACHING) describeReach(slot, description, wasContinuous);
}

/** Sets what an object reaches. What is put somewhere has no way there. */
function describeReach(slot: u32, description: usize, hasWay: bool): void {
  const reach = reachAt(slot), item = itemAt(slot);
  reach.clearance = load<f64>(description, OBJECT_CLEARANCE);
  if (hasWay && !(item.flags & FLAG_MATRIX)) return;
  reach.isHeld = 0;
  reach.travel = 0;
  reach.isPlaced = 0; // its bounds are set next
  reach.begun = wayRound;
}

/** Makes room for the pose of an object, where it is to be one of another mesh. Throws OUT_OF_MEMORY. */
function reservePose(item: Item, mesh: Mesh): void {
  if (item.id == 0 || item.mesh == 0) return;
  const posed = changetype<Mesh>(<usize>item.mesh);
  if (!fitsPose(posed, mesh) || baseOf(posed) == mesh) return;
  freeRooms();
  reserveRepose(mesh);
}

/** Leaves an object its pose, if it has the same mesh as before or one that can have it, too, else lets go of it. */
function keepPose(item: Item, before: u32): void {
  if (before == 0 || !isPosed(changetype<Mesh>(<usize>before))) return;
  const posed = changetype<Mesh>(<usize>before);
  if (item.mesh == poseOf(posed).base) item.mesh = before;
  else if (item.shape == SHAPE_MESH && fitsPose(posed, changetype<Mesh>(<usize>item.mesh))) {
    item.mesh = <u32>changetype<usize>(repose(posed, changetype<Mesh>(<usize>item.mesh), false));
  } else retire(posed);
}

/** Empties a slot. Its record and its bounds may be gone after that. */
export function forget(slot: u32): void {
  const mesh = itemAt(slot).mesh;
  if (mesh != 0 && isPosed(changetype<Mesh>(mesh))) retire(changetype<Mesh>(mesh));
  boxAt(slot).tree = NO_TREE;
  boxAt(slot).position = UNPLACED;
  const item = itemAt(slot);
  dropList(item.faceSides);
  retireList(boxListOf(item));
  if (item.shape == SHAPE_POINT_LINE) pointLineCount--;
  item.id = 0;
  store<u32>(ids + (<usize>slot << 2), 0);
  liveCount--;
  const page = pageOf(slot);
  if (--page.live != 0) return;
  if (page.primitives != page.records + PAGE_BYTES) release(page.primitives);
  if (page.clipSets != 0) release(page.clipSets);
  if (page.reaches != 0) release(page.reaches);
  release(page.records);
  page.records = page.primitives = page.clipSets = page.reaches = 0;
  page.areAlike = 0;
}

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Answers the map from the cube [-1, 1]³ to the oriented bounds, in a place that the next call reuses. */
export function orientedBounds(slot: u32): Affine {
  setOrientedBounds(bounds, itemAt(slot));
  return bounds;
}

/** Sets a slot's world bounds from its oriented ones. */
export function setBox(slot: u32, b: Affine): void {
  changes++;
  const box = boxAt(slot), item = itemAt(slot);
  // What makes no pairs reaches nobody.
  if (item.flags & REACHING && item.contacts != <u8>CONTACTS_NONE) {
    setReachingBox(slot, box, item, b);
    return;
  }
  const at = changetype<usize>(b), half = halfXY(at), halfZ = abs(b.xz) + abs(b.yz) + abs(b.zz);
  storeBox(box, at, f64x2.neg(half), half, f64x2(-halfZ, halfZ));
}

/** Sets a slot's bounds to those of all that it reaches beyond its shape. */
function setReachingBox(slot: u32, box: Box, item: Item, b: Affine): void {
  const reach = reachAt(slot), isContinuous = (item.flags & FLAG_CONTINUOUS) != 0;
  if (isContinuous) noteStart(reach, item);
  findReach(reach, item, b);
  storeBox(box, changetype<usize>(b), lowXY, highXY, endsZ);
  reach.round = wayRound;
  if (isContinuous) noteReach(slot, reach);
}

/** Sets world bounds by how far they reach from the middle of oriented ones: x and y at once, then the two ends of z. */
// @ts-ignore: decorator
@inline
function storeBox(box: Box, bounds: usize, low: v128, high: v128, ends: v128): void {
  const origin = f64x2.replace_lane(f64x2.splat(sceneOriginX), 1, sceneOriginY), to = changetype<usize>(box);
  const middle = f64x2.sub(placeXY(bounds), origin);
  const z = f64x2.splat(load<f64>(bounds, offsetof<Affine>('tz')) - sceneOriginZ);
  const outermost = f32x4.demote_f64x2_zero(f64x2.add(z, ends));
  const lowest = v128.shuffle<f32>(f32x4.demote_f64x2_zero(f64x2.add(middle, low)), outermost, 0, 1, 4, 4);
  const highest = v128.shuffle<f32>(f32x4.demote_f64x2_zero(f64x2.add(middle, high)), outermost, 0, 1, 5, 5);
  setEnds(to, outward(lowest, f32x4.splat(-OUTWARD)));
  setEnds(to + offsetof<Box>('highX'), outward(highest, f32x4.splat(OUTWARD)));
}

/**
 * Writes x, y and z of one end of a box, and leaves what is behind them. Whole vectors are written, as that is how boxes are read
 * next.
 */
// @ts-ignore: decorator
@inline
function setEnds(at: usize, ends: v128): void {
  v128.store(at, v128.load32_lane(at, ends, 3, 12));
}

/** Sets all boxes anew, about another origin. */
export function moveOrigin(x: f64, y: f64, z: f64): void {
  sceneOriginX = x;
  sceneOriginY = y;
  sceneOriginZ = z;
  for (let slot: u32 = 0; slot < slotCount; slot++) if (idAt(slot) != 0) setBox(slot, orientedBounds(slot));
}

const OUTWARD: f32 = 1.1920928955078125e-7; // 2^-23, twice what rounding to float32 can take away
/**
 * The farthest that boxes reach, far inside of float32, so that nothing that is made of them overflows. What lies
 * beyond is tested by shape.
 */
const FARTHEST: f32 = 1e30;

// min and max of scalars branch, those of vectors do not.
/** Moves what was rounded to float32 so that it is surely no less than before that, or with a negative share no greater. */
// @ts-ignore: decorator
@inline
function outward(values: v128, share: v128): v128 {
  const within = f32x4.pmax(f32x4.pmin(values, f32x4.splat(FARTHEST)), f32x4.splat(-FARTHEST));
  return f32x4.add(within, f32x4.mul(f32x4.abs(within), share));
}

/** Rounds to a float32 that is surely no greater, as bounds have them. */
// @ts-ignore: decorator
@inline
export function below(value: f64): f32 {
  return f32x4.extract_lane(outward(f32x4.splat(<f32>value), f32x4.splat(-OUTWARD)), 0);
}

// @ts-ignore: decorator
@inline
export function above(value: f64): f32 {
  return f32x4.extract_lane(outward(f32x4.splat(<f32>value), f32x4.splat(OUTWARD)), 0);
}
