// Answers the queries `sweep`: what a shape meets on its way through the scene, in which all objects stand still.

import {
  MOTION_BYTES, MOTION_ROTATION, MOTION_TOLERANCE, MOTION_DISPLACEMENT, OBJECT_BYTES, OBJECT_MATRIX, PRECISION_AABB,
  PRECISION_MESH, WAY_FROM, WAY_NUMBERS, WAY_TO,
} from '../../../../shared/layout';
import { clearHits, hitCount } from '../../hits';
import { now } from '../../host';
import { PlacedShape, placeDescribedShape, readDescription } from '../../shape/placed-shape';
import { angle, arm, setMotion } from '../../sweep/motion';
import { beginSweep, roundOfSweep } from '../../sweep/sweep';
import { updateTrees } from '../scene';
import { setFilter } from './filter';
import { clearCandidates } from './sweep-candidates';
import { descendTrees, setMovingBox, shape } from './sweep-descent';
import {
  bestTime, bestDepth, bestId, bestTriangle, normalX, normalY, normalZ, pointX, pointY, pointZ, setNoHit, writeBest,
} from './sweep-hit';

const box = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** How many triangles and objects one way may involve in one go: each takes up to a microsecond. */
const MAX_WORK: f64 = 4096;
/** Returned if the work exceeds the given limit: the sweep must be done in slices (sweep-slices.ts). */
const TOO_LONG: i32 = -1;

/**
 * Finds what a described shape (layout.ts, OBJECT_*, with the matrix at the start) meets first on its way (MOTION_*), and writes
 * it as a hit (HIT_*, with HIT_TIME and HIT_DEPTH). Returns the number of hits, 0 or 1, or TOO_LONG. Throws OUT_OF_MEMORY.
 */
export function sweep(description: usize, motion: usize, filter: usize, hit: usize, maxWork: f64): i32 {
  beginQuery(description, motion, filter);
  if (!descendTrees(false, false, maxWork)) return TOO_LONG;
  if (bestId == 0) return 0;
  writeBest(hit);
  return 1;
}

/** Finds the first contact with each object, into hits.ts. Returns the number of hits, or TOO_LONG. Throws OUT_OF_MEMORY. */
export function sweepAll(description: usize, motion: usize, filter: usize, maxWork: f64): i32 {
  beginQuery(description, motion, filter);
  clearHits();
  return descendTrees(true, false, maxWork) ? <i32>hitCount : TOO_LONG;
}

/**
 * Finds the objects that are met (sweep-candidates.ts), and those whose test may take long because they or the shape are meshes,
 * or because there are so many. Throws OUT_OF_MEMORY.
 */
export function findCandidates(description: usize, motion: usize, filter: usize, findAll: bool): void {
  beginQuery(description, motion, filter);
  clearCandidates();
  descendTrees(findAll, true, MAX_WORK);
}

function beginQuery(description: usize, motion: usize, filter: usize): void {
  updateTrees();
  setFilter(filter);
  readDescription(description);
  placeShape(description, motion);
}

/** Places the shape that was read at the start of its motion. */
function placeShape(description: usize, motion: usize): void {
  setMotion(
    load<f64>(motion, MOTION_DISPLACEMENT), load<f64>(motion, MOTION_DISPLACEMENT + 8),
    load<f64>(motion, MOTION_DISPLACEMENT + 16),
    load<f64>(motion, MOTION_ROTATION), load<f64>(motion, MOTION_ROTATION + 8), load<f64>(motion, MOTION_ROTATION + 16),
    load<f64>(motion, MOTION_ROTATION + 24),
  );
  const matrix = description + OBJECT_MATRIX;
  const x = load<f64>(matrix, 72), y = load<f64>(matrix, 80), z = load<f64>(matrix, 88);
  placeDescribedShape(shape, description, PRECISION_MESH);
  beginSweep(shape, x, y, z, load<f64>(motion, MOTION_TOLERANCE));
  const round = roundOfSweep();
  if (changetype<usize>(round) != 0) {
    // The box of the shape itself: with that of its oriented bounds, capsules among boxes test a third more objects.
    const hasAxis = round.edgeCount != 0;
    setMovingBox(
      round, shape.tx, shape.ty, shape.tz, round.radius + (hasAxis ? abs(round.edge0X) : 0),
      round.radius + (hasAxis ? abs(round.edge0Y) : 0), round.radius + (hasAxis ? abs(round.edge0Z) : 0),
    );
  } else if (angle == 0) {
    placeDescribedShape(box, description, PRECISION_AABB);
    setMovingBox(round, box.tx, box.ty, box.tz, box.xx, box.yy, box.zz);
  } else {
    // All positions of the shape are around the pivot.
    setMovingBox(round, x, y, z, arm, arm, arm);
  }
}

/**
 * Sweeps shapes along `count` ways (layout.ts, WAY_*), each with the shape whose number is in `shapeIndices`, or the first if
 * that is 0. Writes for each: object u32 (0xffffffff for none), triangle i32, time and depth f64, point 3 f64, normal 3 f32.
 * Returns how many are done by a time of the clock: at least one, or -1 - n if the way after these n may take so long that it
 * must be done in slices (`writeWay`, sweep-slices.ts). Throws OUT_OF_MEMORY.
 */
export function sweepMany(
  descriptions: usize, shapeIndices: usize, ways: usize, count: u32, tolerance: f64, filter: usize,
  objects: usize, triangles: usize, times: usize, depths: usize, points: usize, normals: usize, deadline: f64,
): i32 {
  updateTrees();
  setFilter(filter);
  let lastDescription: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    if (i != 0 && (i & (WAYS_PER_READING - 1)) == 0 && now() >= deadline) return <i32>i;
    const description = descriptions + (shapeIndices != 0 ? <usize>load<u32>(shapeIndices + (i << 2)) * OBJECT_BYTES : 0);
    if (description != lastDescription) readDescription(description);
    lastDescription = description;
    writeWay(description, ways + i * WAY_NUMBERS * 8, tolerance, motionOfWay);
    placeShape(description, motionOfWay);
    if (!descendTrees(false, false, MAX_WORK)) return -1 - <i32>i;
    if (bestId == 0) setNoHit();
    store<u32>(objects + (i << 2), bestId);
    store<i32>(triangles + (i << 2), bestTriangle);
    store<f64>(times + (i << 3), bestTime);
    store<f64>(depths + (i << 3), bestDepth);
    const at = points + i * 24, to = normals + i * 12;
    store<f64>(at, pointX);
    store<f64>(at, pointY, 8);
    store<f64>(at, pointZ, 16);
    store<f32>(to, <f32>normalX);
    store<f32>(to, <f32>normalY, 4);
    store<f32>(to, <f32>normalZ, 8);
  }
  return <i32>count;
}

/** The number of ways between two readings of the clock; each takes a microsecond or far more. */
const WAYS_PER_READING: usize = 8;
const motionOfWay: usize = memory.data(MOTION_BYTES, 16);

/** Writes the motion of a way (MOTION_*), and sets the matrix of a description to its start. */
export function writeWay(description: usize, way: usize, tolerance: f64, motion: usize): void {
  const from = way + WAY_FROM, to = way + WAY_TO;
  const x = load<f64>(from), y = load<f64>(from, 8), z = load<f64>(from, 16);
  const a = load<f64>(from, 24), b = load<f64>(from, 32), c = load<f64>(from, 40), d = load<f64>(from, 48);
  const e = load<f64>(to, 24), f = load<f64>(to, 32), g = load<f64>(to, 40), h = load<f64>(to, 48);
  const matrix = description + OBJECT_MATRIX;
  const s = 2.0 / (a * a + b * b + c * c + d * d);
  store<f64>(matrix, 1.0 - s * (b * b + c * c));
  store<f64>(matrix, s * (a * b + c * d), 8);
  store<f64>(matrix, s * (a * c - b * d), 16);
  store<f64>(matrix, s * (a * b - c * d), 24);
  store<f64>(matrix, 1.0 - s * (a * a + c * c), 32);
  store<f64>(matrix, s * (b * c + a * d), 40);
  store<f64>(matrix, s * (a * c + b * d), 48);
  store<f64>(matrix, s * (b * c - a * d), 56);
  store<f64>(matrix, 1.0 - s * (a * a + b * b), 64);
  store<f64>(matrix, x, 72);
  store<f64>(matrix, y, 80);
  store<f64>(matrix, z, 88);
  store<f64>(motion, load<f64>(to) - x, MOTION_DISPLACEMENT);
  store<f64>(motion, load<f64>(to, 8) - y, MOTION_DISPLACEMENT + 8);
  store<f64>(motion, load<f64>(to, 16) - z, MOTION_DISPLACEMENT + 16);
  // The rotation from start to end: the end's quaternion times the inverse of the start's.
  const isSame = a == e && b == f && c == g && d == h;
  store<f64>(motion, isSame ? 0 : e * d - h * a - f * c + g * b, MOTION_ROTATION);
  store<f64>(motion, isSame ? 0 : f * d - h * b - g * a + e * c, MOTION_ROTATION + 8);
  store<f64>(motion, isSame ? 0 : g * d - h * c - e * b + f * a, MOTION_ROTATION + 16);
  store<f64>(motion, isSame ? 1 : h * d + e * a + f * b + g * c, MOTION_ROTATION + 24);
  store<f64>(motion, tolerance, MOTION_TOLERANCE);
}
