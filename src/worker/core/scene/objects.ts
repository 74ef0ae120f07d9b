// The table of objects, by slot: ids, records and world bounds. Bounds are float32 relative to the scene's origin and rounded
// outwards, so that they are conservative; matrices are float64. World units.
//
// Records and bounds are stored in pages, because a table of a million that doubles leaves its old half behind as a hole. A page
// without live objects is freed.

import {
  CONTACTS_NONE, FLAG_BOXES, FLAG_CONTINUOUS, FLAG_CULLABLE, FLAG_FACE_SIDES, FLAG_MATRIX, GENERATION_BITS,
  OBJECT_BOXES, OBJECT_CLEARANCE, OBJECT_CLIP_SET, OBJECT_COLLIDES_WITH, OBJECT_CONTACTS,
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
import { baseOf, fitsPose, freeReservations, isPosed, poseOf, repose, reserveRepose, retire } from '../skin/pose';
import { PlacedShape, setPlacedShape } from '../shape/placed-shape';
import { REACHING, REACH_BYTES, Reach, boundsZ, updateReach, halfExtentXY, maxXY, minXY, translationXY } from '../shape/reach';
import { dropMotion, recordMotion, markReaching, recordMotionStart, reserveMotions, motionRound } from './motions';

/** World bounds of a slot in float32, relative to the scene's origin, rounded outwards. */
@unmanaged
export class Box {
  minX: f32; minY: f32; minZ: f32;
  /** The position in its tree; UNPLACED until it has one. */
  position: u32;
  maxX: f32; maxY: f32; maxZ: f32;
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
  /** The address of the records, followed by the bounds; 0 if no object of the page is alive. */
  records: usize;
  /** The address of one primitive per slot, or of one for all slots; 0 if all objects are meshes. */
  primitives: usize;
  /**
   * Whether all objects other than meshes have the same shape: a million equal boxes then share one primitive per page, in 4,000
   * pages.
   */
  hasSharedPrimitive: u32;
  /** The address of a clip set number per slot, u32 each; 0 if no object has had one. */
  clipSets: usize;
  /** The address of a Reach per slot; 0 if no object has had one. */
  reaches: usize;
  liveCount: u32;
}

let pages: usize = 0;
let pageCount: u32 = 0;
/** The ids by slot, 0 if empty. They are scanned most often, so they are kept dense. */
export let ids: usize = 0;
/** One byte per slot: a hash of the address of the mesh that its object had last (the base mesh, not a pose). */
let meshTags: usize = 0;
/** The number of slots that may be in use: all used slots are below it. */
export let slotCount: u32 = 0;
export let liveCount: u32 = 0;
/** How many objects are points or lines. */
export let pointLineCount: u32 = 0;
/** Counts how often bounds were set. */
export let boundsVersion: u32 = 1;

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

/** Returns the record of a slot that has an object or is about to get one. */
// @ts-ignore: decorator
@inline
export function itemAt(slot: u32): Item {
  return changetype<Item>(pageOf(slot).records + (slot & (PAGE_SLOTS - 1)) * <u32>ITEM_BYTES);
}

/** Returns the bounds of a slot that has an object or is about to get one. */
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

/** Sets the shape that represents the object of a slot at the precision that a query asks for. */
export function placedShapeAt(out: PlacedShape, slot: u32, precision: u32): void {
  setPlacedShape(out, itemAt(slot), precision);
}

/** Returns the number of an object's clip set; 0 if it has none. */
export function clipSetOf(slot: u32): u32 {
  const clipSets = pageOf(slot).clipSets;
  return clipSets == 0 ? 0 : load<u32>(clipSets + (<usize>(slot & (PAGE_SLOTS - 1)) << 2));
}

/** Returns the reach of an object beyond its shape; null if it has none. */
export function reachAt(slot: u32): Reach {
  return itemAt(slot).flags & REACHING ? knownReachAt(slot) : changetype<Reach>(0);
}

/** Returns the reach of an object that is known to have one. */
export function knownReachAt(slot: u32): Reach {
  return changetype<Reach>(pageOf(slot).reaches + (slot & (PAGE_SLOTS - 1)) * <u32>REACH_BYTES);
}

/** Returns whether there is memory for the record and the bounds of a slot. */
export function isReserved(slot: u32): bool {
  return pageOf(slot).records != 0;
}

export function isAlive(id: u32): bool {
  const slot = slotOf(id);
  return id != 0 && slot < slotCount && idAt(slot) == id;
}

/** Returns the layers in which views see an object, or 0. */
export function visibleLayers(item: Item): u32 {
  return item.flags & FLAG_CULLABLE ? item.layers : 0;
}

/** How many slots are tested for a mesh at once: the bytes of a vector. */
export const TAGS_AT_ONCE: u32 = 16;

/**
 * Returns whether any of the `TAGS_AT_ONCE` slots from this one on may have a mesh, as the base mesh and not as a pose. The tags
 * are an array of their own, since all of them are scanned for each mesh whose vertices move.
 */
export function mayHaveMesh(slot: u32, mesh: u32): bool {
  return v128.any_true(i8x16.eq(v128.load(meshTags + slot), i8x16.splat(<i8>tagOf(mesh))));
}

/** Records the mesh of an object. */
export function setMeshTag(slot: u32, mesh: u32): void {
  store<u8>(meshTags + slot, <u8>tagOf(mesh));
}

// @ts-ignore: decorator
@inline
function tagOf(mesh: u32): u32 {
  return (mesh >> 4) * 2654435761 >> 24;
}

/** Makes room for slots up to and including `slot`, which is new. Throws OUT_OF_MEMORY. */
export function reserveSlots(slot: u32): void {
  const count = slot + 1;
  const pagesNeeded = (count + PAGE_SLOTS - 1) >> PAGE_BITS;
  const bytes = offsetof<Page>();
  pages = reserve(pages, pageCount * <u32>bytes, <u64>pagesNeeded * bytes);
  memory.fill(pages + pageCount * <u32>bytes, 0, (pagesNeeded - pageCount) * <u32>bytes);
  pageCount = pagesNeeded;
  ids = reserve(ids, slotCount << 2, <u64>count << 2);
  memory.fill(ids + (<usize>slotCount << 2), 0, <usize>(count - slotCount) << 2);
  meshTags = reserve(meshTags, slotCount, <u64>count + TAGS_AT_ONCE - 1); // vector loads of the last tags read beyond them
  slotCount = count;
}

/** Makes room for the content of a description in an existing slot. Throws OUT_OF_MEMORY. */
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
  // One allocation for both: if memory is short, no records may be left allocated that nobody needs.
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

const describedPrimitive = memory.data(<i32>offsetof<Primitive>(), 16);

/** Makes room for the primitive of a slot: all objects of a page share one as long as they are alike. */
function reservePrimitive(page: Page, slot: u32, description: usize): void {
  if (page.primitives == 0) {
    sharePrimitive(page, allocate(PRIMITIVE_BYTES));
    return;
  }
  if (!page.hasSharedPrimitive) return;
  describePrimitive(describedPrimitive, description);
  if (memory.compare(page.primitives, describedPrimitive, PRIMITIVE_BYTES) == 0) return;
  const shared = page.primitives;
  page.primitives = allocate(PAGE_PRIMITIVES);
  page.hasSharedPrimitive = 0;
  const first = slot & ~(PAGE_SLOTS - 1);
  for (let s = first; s < first + PAGE_SLOTS; s++) {
    const item = itemAt(s);
    if (item.id == 0 || item.primitive == 0 || item.mesh != 0) continue;
    item.primitive = primitiveOf(s);
    memory.copy(<usize>item.primitive, shared, PRIMITIVE_BYTES);
  }
  if (shared != page.records + PAGE_BYTES) release(shared);
}

/** Lets all objects of a page share one primitive. `applyDescription` writes it, for the first of them. */
function sharePrimitive(page: Page, primitive: usize): void {
  page.primitives = primitive;
  page.hasSharedPrimitive = 1;
}

/** Returns the address of the primitive of a slot. `reserveRecord` must come before. */
function primitiveOf(slot: u32): u32 {
  const page = pageOf(slot);
  return <u32>(page.hasSharedPrimitive ? page.primitives : page.primitives + (slot & (PAGE_SLOTS - 1)) * <u32>PRIMITIVE_BYTES);
}

function reserveReaches(page: Page, description: usize): void {
  const flags = load<u32>(description, OBJECT_FLAGS);
  if (flags & FLAG_CONTINUOUS) reserveMotions(slotCount);
  if (page.reaches != 0 || !(flags & REACHING)) return;
  page.reaches = allocate(PAGE_REACHES);
  markReaching();
}

function reserveClipSets(page: Page, description: usize): void {
  if (page.clipSets != 0 || load<u32>(description, OBJECT_CLIP_SET) == 0) return;
  page.clipSets = allocate(PAGE_CLIP_SETS);
  memory.fill(page.clipSets, 0, PAGE_CLIP_SETS);
}

/**
 * Writes a description (layout.ts, OBJECT_*) to a slot, except for its bounds; `reserveRecord` must come before. A new object
 * without a matrix gets the identity.
 */
export function applyDescription(id: u32, description: usize): void {
  const slot = slotOf(id);
  const item = itemAt(slot);
  const isNew = item.id != id;
  const wasContinuous = !isNew && (item.flags & FLAG_CONTINUOUS) != 0 && item.contacts != <u8>CONTACTS_NONE;
  if (isNew) {
    liveCount++;
    pageOf(slot).liveCount++;
  } else if (item.shape == SHAPE_POINT_LINE) pointLineCount--;
  item.id = id;
  store<u32>(ids + (<usize>slot << 2), id);
  const previousMesh: u32 = isNew ? 0 : item.mesh;
  const previousBoxes: usize = isNew ? 0 : boxListOf(item);
  const isMesh = load<u32>(description, OBJECT_SHAPE) == SHAPE_MESH;
  item.primitive = isMesh ? 0 : primitiveOf(slot);
  describeShape(item, description);
  if (item.mesh != 0) setMeshTag(slot, item.mesh);
  keepPose(item, previousMesh);
  item.flags = <u16>load<u32>(description, OBJECT_FLAGS);
  item.layers = load<u32>(description, OBJECT_LAYERS);
  item.collidesWith = load<u32>(description, OBJECT_COLLIDES_WITH);
  item.group = load<u32>(description, OBJECT_GROUP);
  item.contacts = <u8>load<u32>(description, OBJECT_CONTACTS);
  if (item.shape == SHAPE_POINT_LINE) {
    pointLineCount++;
    item.contacts = <u8>CONTACTS_NONE; // points and lines have neither surface nor inside, so they touch nothing
  }
  const clipSets = pageOf(slot).clipSets;
  if (clipSets != 0) store<u32>(clipSets + (<usize>(slot & (PAGE_SLOTS - 1)) << 2), load<u32>(description, OBJECT_CLIP_SET));
  const faceSides: u32 = item.flags & FLAG_FACE_SIDES ? load<u32>(description, OBJECT_FACE_SIDES) : 0;
  shareList(faceSides);
  if (!isNew) dropList(item.faceSides);
  item.faceSides = faceSides;
  if (isMesh && item.flags & FLAG_BOXES) item.primitive = load<u32>(description, OBJECT_BOXES);
  shareList(boxListOf(item));
  retireList(previousBoxes); // a frame under way may still read it
  const world = worldOf(item);
  if (item.flags & FLAG_MATRIX) memory.copy(changetype<usize>(world), description + OBJECT_MATRIX, AFFINE_BYTES);
  else if (isNew) setIdentity(world);
  if (item.flags & REACHING) applyReachDescription(slot, description, wasContinuous);
}

/** Sets the reach of an object. An object that is given a matrix is teleported: it has no motion. */
function applyReachDescription(slot: u32, description: usize, hasMotion: bool): void {
  const reach = reachAt(slot), item = itemAt(slot);
  reach.clearance = load<f64>(description, OBJECT_CLEARANCE);
  if (!hasMotion || item.flags & FLAG_MATRIX) dropMotion(reach); // its bounds are set next
}

/** Lets an object have no motion in this round, if it has any reach. */
export function dropMotionOf(slot: u32): void {
  const reach = reachAt(slot);
  if (changetype<usize>(reach) != 0) dropMotion(reach);
}

/** Makes room for the pose of an object if that must be converted to a pose of another mesh. Throws OUT_OF_MEMORY. */
function reservePose(item: Item, mesh: Mesh): void {
  if (item.id == 0 || item.mesh == 0) return;
  const posed = changetype<Mesh>(<usize>item.mesh);
  if (!fitsPose(posed, mesh) || baseOf(posed) == mesh) return;
  freeReservations();
  reserveRepose(mesh);
}

/** Keeps the pose of an object if its mesh is the same as before or fits the pose; otherwise releases the pose. */
function keepPose(item: Item, previousMesh: u32): void {
  if (previousMesh == 0 || !isPosed(changetype<Mesh>(<usize>previousMesh))) return;
  const posed = changetype<Mesh>(<usize>previousMesh);
  if (item.mesh == poseOf(posed).base) item.mesh = previousMesh;
  else if (item.shape == SHAPE_MESH && fitsPose(posed, changetype<Mesh>(<usize>item.mesh))) {
    item.mesh = <u32>changetype<usize>(repose(posed, changetype<Mesh>(<usize>item.mesh), false));
  } else retire(posed);
}

/** Empties a slot. Its record and its bounds may be freed by that. */
export function releaseSlot(slot: u32): void {
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
  if (--page.liveCount != 0) return;
  if (page.primitives != page.records + PAGE_BYTES) release(page.primitives);
  if (page.clipSets != 0) release(page.clipSets);
  if (page.reaches != 0) release(page.reaches);
  release(page.records);
  page.records = page.primitives = page.clipSets = page.reaches = 0;
  page.hasSharedPrimitive = 0;
}

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Returns the map from the cube [-1, 1]³ to the oriented bounds, in a buffer that the next call reuses. */
export function orientedBounds(slot: u32): Affine {
  setOrientedBounds(bounds, itemAt(slot));
  return bounds;
}

/** Sets a slot's world bounds from its oriented bounds. */
export function updateBox(slot: u32, b: Affine): void {
  boundsVersion++;
  const box = boxAt(slot), item = itemAt(slot);
  // An object that makes no pairs needs no reach.
  if (item.flags & REACHING && item.contacts != <u8>CONTACTS_NONE) {
    setReachingBox(slot, box, item, b);
    return;
  }
  const at = changetype<usize>(b), half = halfExtentXY(at), halfZ = abs(b.xz) + abs(b.yz) + abs(b.zz);
  storeBox(box, at, f64x2.neg(half), half, f64x2(-halfZ, halfZ));
}

/** Sets a slot's bounds to include its reach beyond its shape. */
function setReachingBox(slot: u32, box: Box, item: Item, b: Affine): void {
  const reach = reachAt(slot), isContinuous = (item.flags & FLAG_CONTINUOUS) != 0;
  if (isContinuous) recordMotionStart(reach, item);
  updateReach(reach, item, b);
  storeBox(box, changetype<usize>(b), minXY, maxXY, boundsZ);
  reach.round = motionRound;
  if (isContinuous) recordMotion(slot, reach);
}

/** Sets world bounds by their extents from the centre of oriented bounds: x and y at once, then both ends of z. */
// @ts-ignore: decorator
@inline
function storeBox(box: Box, bounds: usize, minOffsetXY: v128, maxOffsetXY: v128, offsetsZ: v128): void {
  const origin = f64x2.replace_lane(f64x2.splat(sceneOriginX), 1, sceneOriginY), to = changetype<usize>(box);
  const centreXY = f64x2.sub(translationXY(bounds), origin);
  const z = f64x2.splat(load<f64>(bounds, offsetof<Affine>('tz')) - sceneOriginZ);
  const boundsZ = f32x4.demote_f64x2_zero(f64x2.add(z, offsetsZ));
  const minCorner = v128.shuffle<f32>(f32x4.demote_f64x2_zero(f64x2.add(centreXY, minOffsetXY)), boundsZ, 0, 1, 4, 4);
  const maxCorner = v128.shuffle<f32>(f32x4.demote_f64x2_zero(f64x2.add(centreXY, maxOffsetXY)), boundsZ, 0, 1, 5, 5);
  storeCorner(to, roundOutward(minCorner, f32x4.splat(-ROUNDING_MARGIN)));
  storeCorner(to + offsetof<Box>('maxX'), roundOutward(maxCorner, f32x4.splat(ROUNDING_MARGIN)));
}

/**
 * Writes x, y and z of one end of a box and keeps the word behind them. It writes whole vectors because boxes are read as such
 * next.
 */
// @ts-ignore: decorator
@inline
function storeCorner(at: usize, corner: v128): void {
  v128.store(at, v128.load32_lane(at, corner, 3, 12));
}

/** Sets all boxes again, about another origin. */
export function moveOrigin(x: f64, y: f64, z: f64): void {
  sceneOriginX = x;
  sceneOriginY = y;
  sceneOriginZ = z;
  for (let slot: u32 = 0; slot < slotCount; slot++) if (idAt(slot) != 0) updateBox(slot, orientedBounds(slot));
}

const ROUNDING_MARGIN: f32 = 1.1920928955078125e-7; // 2^-23, twice the largest error of rounding to float32
/**
 * The farthest coordinate of boxes, well within float32, so that no value computed from them overflows. Objects beyond are tested
 * by shape.
 */
const MAX_COORDINATE: f32 = 1e30;

// Scalar min and max compile to branches; those of vectors do not.
/**
 * Moves values that were rounded to float32 so that they are certainly no less than before rounding, or, with a negative margin,
 * no greater.
 */
// @ts-ignore: decorator
@inline
function roundOutward(values: v128, relativeMargin: v128): v128 {
  const clamped = f32x4.pmax(f32x4.pmin(values, f32x4.splat(MAX_COORDINATE)), f32x4.splat(-MAX_COORDINATE));
  return f32x4.add(clamped, f32x4.mul(f32x4.abs(clamped), relativeMargin));
}

/** Rounds to a float32 that is certainly no greater, as for lower bounds. */
// @ts-ignore: decorator
@inline
export function roundDown(value: f64): f32 {
  return f32x4.extract_lane(roundOutward(f32x4.splat(<f32>value), f32x4.splat(-ROUNDING_MARGIN)), 0);
}

// @ts-ignore: decorator
@inline
export function roundUp(value: f64): f32 {
  return f32x4.extract_lane(roundOutward(f32x4.splat(<f32>value), f32x4.splat(ROUNDING_MARGIN)), 0);
}
