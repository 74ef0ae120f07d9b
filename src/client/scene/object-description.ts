import type { ObjectDescription } from '../../shared/commands.js';
import * as layout from '../../shared/layout.js';
import { areEqual } from '../../shared/typed-arrays.js';
import type { CapsuleShape, MeshId, MeshInfo, MeshShape, ObjectOptions, Shape, Vec3 } from '../../shared/types.js';
import {
  argumentError,
  checkAtLeastZero,
  checkBits,
  checkBoolean,
  checkInteger,
  checkOneOf,
  checkPositive,
  checkVec3,
  guardRead,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { areSameBoxes, checkBoxable, checkBoxes, checkRotation, NO_BOXES, packBoxes } from './named-boxes.js';
import { describeOpenEdges } from './open-mesh.js';

export const OBJECT_KEYS = [
  ...['shape', 'matrix', 'motion', 'layers', 'collidesWith', 'group', 'contacts', 'pickable', 'cullable', 'side'],
  ...['occluder', 'clearance', 'continuous', 'boxes'],
];
const MIXED_KEYS = ['faceSides', 'clipSet'];
const RUN_KEYS = ['start', 'count', 'side'];
const SIDES = ['front', 'back', 'double'] as const; // SIDE_*, from 1 on
const MOTIONS = ['static', 'moving'] as const;
const DETAILS = ['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'] as const; // in the order of CONTACTS_*
const SHAPES = ['mesh', 'sphere', 'box', 'capsule'] as const;
/** The limit of objects' bounds (FARTHEST in objects.ts): rays went through the walls of a box of 1e31 from within. */
const MAX_COORDINATE = 1e30;
const EXPECTED_COORDINATE = 'no number beyond 1e30';

export const CAPSULE_KEYS = ['type', 'radius', 'from', 'to'];
const SHAPE_KEYS = {
  mesh: ['type', 'mesh', 'solid'],
  sphere: ['type', 'radius', 'center'],
  box: ['type', 'halfExtents', 'center', 'rotation'],
  capsule: CAPSULE_KEYS,
};

const NO_FACE_SIDES: ArrayLike<number> = [];
const ORIGIN = [0, 0, 0];
const NO_ROTATION = [0, 0, 0, 1];

const DEFAULTS: ObjectDescription = {
  shape: 0,
  mesh: 0,
  flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE | (layout.FLAG_SIDE * layout.SIDE_DOUBLE),
  layers: 1,
  collidesWith: 0xffffffff,
  group: 0,
  contacts: layout.CONTACTS_MANIFOLD,
  center: ORIGIN,
  extent: ORIGIN,
  rotation: NO_ROTATION,
  radius: 0,
  clipSet: 0,
};

type ShapePart = Pick<ObjectDescription, 'shape' | 'mesh' | 'center' | 'extent' | 'rotation' | 'radius'> & {
  solid: boolean;
};

export type Side = NonNullable<ObjectOptions['side']>;

/** Consecutive triangles, by their indices in the mesh as it was added, and the side of them that can be hit. */
export interface FaceRun {
  start: number;
  count: number;
  side: Side;
}

/** Additional options of an object, from the three adapter. */
export interface MixedObjectOptions extends ObjectOptions {
  /**
   * Triangles of its mesh that have another `side` than the object: ascending and disjoint runs. They belong to
   * the shape: a shape that is set without them has none. Null for none, the default.
   */
  faceSides?: readonly FaceRun[] | null;
  /** The number of its clip set, whose planes come with queries (protocol.ts). Default 0, none. */
  clipSet?: number;
}

/** Reads the options of an object, each once. */
export function readObject<T extends Partial<ObjectOptions>>(operation: string, options: T): T {
  if (options === undefined) throwInvalid(operation, 'options', options, 'an object');
  return readOptions(operation, 'options', options, OBJECT_KEYS, MIXED_KEYS);
}

/** Returns the info of a mesh; undefined if there is no mesh of this id. */
export type MeshLookup = (id: MeshId) => Readonly<MeshInfo> | undefined;

/** Describes a shape alone, as if it were an object. */
export function describeQuery(operation: string, shape: Shape, meshOf: MeshLookup): ObjectDescription {
  const { solid, ...part } = describeShape(operation, shape, meshOf);
  return { ...DEFAULTS, ...part, flags: solid ? DEFAULTS.flags | layout.FLAG_SOLID : DEFAULTS.flags };
}

/**
 * Describes an object by its options, as `readObject` returns them, checked and complete: options that are not given are
 * taken from `base`. The matrix is not part of it.
 */
export function describeObject(
  operation: string,
  options: Partial<MixedObjectOptions>,
  meshOf: MeshLookup,
  base: ObjectDescription = DEFAULTS,
): ObjectDescription {
  const { shape, layers, collidesWith, group, contacts } = options;
  if (shape === undefined && base === DEFAULTS) throwInvalid(operation, 'shape', shape, 'a shape');
  const described = shape === undefined ? undefined : describeShape(operation, shape, meshOf);
  const part = described ?? base;

  let flags = readFlags(operation, options, base.flags);
  if (described) flags = withFlag(flags, layout.FLAG_SOLID, described.solid);
  let { clearance = 0 } = base;
  if (options.clearance !== undefined) clearance = checkAtLeastZero(operation, 'clearance', options.clearance);
  flags = withFlag(flags, layout.FLAG_CLEARANCE, clearance > 0);
  let faceSides = described ? undefined : base.faceSides;
  if (options.faceSides !== undefined) faceSides = packRuns(operation, options.faceSides, meshOf(part.mesh));
  flags = withFlag(flags, layout.FLAG_FACE_SIDES, faceSides !== undefined);
  let boxes = described ? packBoxes(meshOf(part.mesh)?.boxes ?? NO_BOXES) : base.boxes;
  if (options.boxes !== undefined) boxes = checkObjectBoxes(operation, options.boxes, meshOf(part.mesh));
  flags = withFlag(flags, layout.FLAG_BOXES, boxes !== undefined);
  return {
    shape: part.shape,
    mesh: part.mesh,
    flags,
    layers: layers === undefined ? base.layers : checkBits(operation, 'layers', layers),
    collidesWith: collidesWith === undefined ? base.collidesWith : checkBits(operation, 'collidesWith', collidesWith),
    group: group === undefined ? base.group : checkInteger(operation, 'group', group, 0, 0xffffffff),
    contacts: contacts === undefined ? base.contacts : contactDetail(operation, 'contacts', contacts),
    center: part.center,
    extent: part.extent,
    rotation: part.rotation,
    radius: part.radius,
    clipSet: options.clipSet ?? base.clipSet,
    clearance,
    faceSides,
    boxes,
  };
}

/** Boolean options, and their flags. */
const BOOLEAN_FLAGS = [
  ['pickable', layout.FLAG_PICKABLE],
  ['cullable', layout.FLAG_CULLABLE],
  ['occluder', layout.FLAG_OCCLUDER],
  ['continuous', layout.FLAG_CONTINUOUS],
] as const;

/** Returns the flags, with those set or cleared that the options name. */
function readFlags(operation: string, options: Partial<MixedObjectOptions>, base: number): number {
  const { motion, side, occluder } = options;
  let flags = base;
  for (const [name, flag] of BOOLEAN_FLAGS) {
    const isOn = options[name];
    if (isOn !== undefined) flags = withFlag(flags, flag, checkBoolean(operation, name, isOn));
  }
  if (motion !== undefined) {
    flags = withFlag(flags, layout.FLAG_STATIC, checkOneOf(operation, 'motion', motion, MOTIONS) === 'static');
  }
  if (side !== undefined) {
    const sides = checkSide(operation, 'side', side);
    flags = withFlag(flags, layout.FLAG_SIDE * layout.SIDE_DOUBLE, false) | (layout.FLAG_SIDE * sides);
  }
  if (occluder !== undefined) flags = withFlag(flags, layout.FLAG_NO_OCCLUDER, !occluder);
  return flags;
}

function withFlag(flags: number, flag: number, isOn: boolean): number {
  return isOn ? flags | flag : flags & ~flag;
}

const NUMBER_KEYS = [
  'shape',
  'mesh',
  'flags',
  'layers',
  'collidesWith',
  'group',
  'contacts',
  'radius',
  'clipSet',
] as const;
const VECTOR_KEYS = ['center', 'extent', 'rotation'] as const;

export function areSameDescriptions(a: ObjectDescription, b: ObjectDescription): boolean {
  return (
    NUMBER_KEYS.every((key) => a[key] === b[key]) &&
    VECTOR_KEYS.every((key) => areEqual(a[key], b[key])) &&
    (a.clearance ?? 0) === (b.clearance ?? 0) &&
    areEqual(a.faceSides ?? NO_FACE_SIDES, b.faceSides ?? NO_FACE_SIDES) &&
    areSameBoxes(a.boxes, b.boxes)
  );
}

/** Packs runs as in descriptions (commands.ts); undefined if there are none. */
function packRuns(
  operation: string,
  runs: readonly FaceRun[] | null,
  mesh: Readonly<MeshInfo> | undefined,
): Uint32Array | undefined {
  if (runs === null) return undefined;
  return guardRead(operation, 'faceSides', () => {
    if (!mesh) throwInvalid(operation, 'faceSides', runs, 'none, as the shape is no mesh');
    if (!Array.isArray(runs)) throwInvalid(operation, 'faceSides', runs, 'an array of runs');
    const triangles = Math.min(mesh.triangles, layout.MAX_FACES);
    const entries: number[] = [];
    let end = 0;
    let lastSides: number = layout.SIDE_OWN;
    const add = (from: number, sides: number): void => {
      if (sides !== lastSides) entries.push(from * (1 << layout.FACE_SHIFT) + sides);
      lastSides = sides;
    };
    checkInteger(operation, 'the length of faceSides', runs.length, 0, triangles);
    for (let i = 0; i < runs.length; i++) {
      const run = readOptions<FaceRun>(operation, `faceSides[${i}]`, runs[i], RUN_KEYS);
      const start = checkInteger(operation, `faceSides[${i}].start`, run.start, end, triangles - 1);
      const count = checkInteger(operation, `faceSides[${i}].count`, run.count, 1, triangles - start);
      if (start > end) add(end, layout.SIDE_OWN);
      add(start, checkSide(operation, `faceSides[${i}].side`, run.side));
      end = start + count;
    }
    if (end < triangles) add(end, layout.SIDE_OWN);
    return entries.length === 0 ? undefined : Uint32Array.from(entries);
  });
}

/** Packs the boxes of an object; undefined if there are none. */
function checkObjectBoxes(
  operation: string,
  value: unknown,
  mesh: Readonly<MeshInfo> | undefined,
): ObjectDescription['boxes'] {
  const boxes = checkBoxes(operation, 'boxes', value);
  if (boxes.length > 0 && !mesh) throwInvalid(operation, 'boxes', value, 'none, as the shape is no mesh');
  if (boxes.length > 0) checkBoxable(operation, value, mesh!);
  return packBoxes(boxes);
}

/** Reads a side as SIDE_*. */
export function checkSide(operation: string, argument: string, side: unknown): number {
  return 1 + SIDES.indexOf(checkOneOf(operation, argument, side, SIDES));
}

/** Reads a detail as CONTACTS_*. */
export function contactDetail(operation: string, argument: string, detail: unknown): number {
  return DETAILS.indexOf(checkOneOf(operation, argument, detail, DETAILS));
}

/** Describes a shape, checked and complete. */
function describeShape(operation: string, given: Shape, meshOf: MeshLookup): ShapePart {
  if (typeof given !== 'object' || given === null) throwInvalid(operation, 'shape', given, 'an object with a type');
  const type = checkOneOf(
    operation,
    'shape.type',
    guardRead(operation, 'shape', () => given.type),
    SHAPES,
  );
  const shape = readOptions(operation, 'shape', given, SHAPE_KEYS[type]) as Shape;
  shape.type = type; // the one that was checked
  switch (shape.type) {
    case 'mesh': {
      const solid = checkMesh(operation, shape, meshOf);
      return shapePart(layout.SHAPE_MESH, shape.mesh, ORIGIN, ORIGIN, NO_ROTATION, 0, solid);
    }
    case 'sphere': {
      const center = checkCenter(operation, shape.center);
      const radius = checkRadius(operation, shape.radius);
      return shapePart(layout.SHAPE_SPHERE, 0, center, ORIGIN, NO_ROTATION, radius, false);
    }
    case 'box': {
      const center = checkCenter(operation, shape.center);
      const extent = checkHalfExtents(operation, shape.halfExtents);
      const { rotation } = shape;
      const checkedRotation =
        rotation === undefined ? NO_ROTATION : checkRotation(operation, 'shape.rotation', rotation);
      return shapePart(layout.SHAPE_BOX, 0, center, extent, checkedRotation, 0, false);
    }
    case 'capsule': {
      const { from, to, radius } = checkCapsule(operation, shape);
      return shapePart(layout.SHAPE_CAPSULE, 0, from, to, NO_ROTATION, radius, false);
    }
  }
}

/** Gives all shape parts the same hidden class: with different ones, and by spreading, one takes 3 µs. */
function shapePart(
  shape: number,
  mesh: MeshId,
  center: readonly number[],
  extent: readonly number[],
  rotation: readonly number[],
  radius: number,
  solid: boolean,
): ShapePart {
  return { shape, mesh, center, extent, rotation, radius, solid };
}

/** The numbers of a capsule. */
export type Capsule = Pick<CapsuleShape, 'from' | 'to' | 'radius'>;

/** Checks the numbers of a capsule, reading each property once. */
export function checkCapsule(operation: string, { from, to, radius }: Capsule): Capsule {
  return {
    from: checkPoint(operation, 'shape.from', from),
    to: checkPoint(operation, 'shape.to', to),
    radius: checkRadius(operation, radius),
  };
}

/** Checks a mesh as a shape, and returns whether it is solid. */
function checkMesh(operation: string, { mesh, solid = false }: MeshShape, meshOf: MeshLookup): boolean {
  const info = meshOf(mesh);
  if (!info) throw argumentError('UNKNOWN_ID', operation, 'shape.mesh', mesh, 'the id of an added mesh');
  if (!checkBoolean(operation, 'shape.solid', solid)) return false;
  if (info.topology !== 'triangles') {
    throwInvalid(operation, 'shape.solid', true, `false, as mesh ${mesh} has ${info.topology}, which have no inside`);
  }
  if (!info.closed) {
    throwInvalid(operation, 'shape.solid', true, `false, as mesh ${mesh} is not closed: ${describeOpenEdges(info)}`);
  }
  return true;
}

function checkCenter(operation: string, center: unknown): readonly number[] {
  return center === undefined ? ORIGIN : checkPoint(operation, 'shape.center', center);
}

function checkPoint(operation: string, argument: string, value: unknown): Vec3 {
  const point = checkVec3(operation, argument, value);
  if (!point.every((each) => Math.abs(each) <= MAX_COORDINATE))
    throwInvalid(operation, argument, value, EXPECTED_COORDINATE);
  return point;
}

function checkRadius(operation: string, value: unknown): number {
  const radius = checkPositive(operation, 'shape.radius', value);
  if (radius > MAX_COORDINATE) throwInvalid(operation, 'shape.radius', value, EXPECTED_COORDINATE);
  return radius;
}

function checkHalfExtents(operation: string, value: unknown): readonly number[] {
  const extents = checkPoint(operation, 'shape.halfExtents', value);
  if (!extents.every((extent) => extent >= 0))
    throwInvalid(operation, 'shape.halfExtents', value, 'three numbers >= 0');
  return extents;
}
