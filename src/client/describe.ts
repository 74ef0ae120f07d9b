import { CollisionError } from '../shared/errors.js';
import * as layout from '../shared/layout.js';
import type { ObjectDescription } from '../shared/protocol.js';
import type { MeshId, ObjectOptions, Shape } from '../shared/types.js';
import {
  argumentError,
  checkBits,
  checkBoolean,
  checkInteger,
  checkNumbers,
  checkOneOf,
  checkOptions,
  checkPositive,
  checkVec3,
  invalid,
  show,
} from './validate.js';

const KEYS = ['shape', 'matrix', 'motion', 'layers', 'collidesWith', 'group', 'contacts', 'pickable', 'cullable'];
const MOTIONS = ['static', 'moving'] as const;
const DETAILS = ['none', 'bounds', 'any', 'manifold', 'triangles'] as const; // in the order of CONTACTS_*
const SHAPES = ['mesh', 'sphere', 'box', 'capsule'] as const;
const SHAPE_KEYS = {
  mesh: ['type', 'mesh', 'solid'],
  sphere: ['type', 'radius', 'center'],
  box: ['type', 'halfExtents', 'center', 'rotation'],
  capsule: ['type', 'radius', 'from', 'to'],
};

const ORIGIN = [0, 0, 0];
const NO_ROTATION = [0, 0, 0, 1];

const DEFAULTS: ObjectDescription = {
  shape: 0,
  mesh: 0,
  flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE,
  layers: 1,
  collidesWith: 0xffffffff,
  group: 0,
  contacts: layout.CONTACTS_ANY,
  center: ORIGIN,
  extent: ORIGIN,
  rotation: NO_ROTATION,
  radius: 0,
};

type ShapePart = Pick<ObjectDescription, 'shape' | 'mesh' | 'center' | 'extent' | 'rotation' | 'radius'>;

/** A shape alone, as an object's description. */
export function describeQuery(operation: string, shape: Shape, hasMesh: (id: MeshId) => boolean): ObjectDescription {
  return { ...DEFAULTS, ...describeShape(operation, shape, hasMesh) };
}

/**
 * An object's options, checked and complete: what is not given is as in `base`. The matrix is not part of it.
 */
export function describe(
  operation: string,
  options: Partial<ObjectOptions>,
  hasMesh: (id: MeshId) => boolean,
  base: ObjectDescription = DEFAULTS,
): ObjectDescription {
  if (options === undefined) invalid(operation, 'options', options, 'an object');
  checkOptions(operation, 'options', options, KEYS);
  const { shape, motion, layers, collidesWith, group, contacts, pickable, cullable } = options;
  if (shape === undefined && base === DEFAULTS) invalid(operation, 'shape', shape, 'a shape');
  const part = shape === undefined ? base : describeShape(operation, shape, hasMesh);

  let { flags } = base;
  const setFlag = (flag: number, on: boolean) => {
    flags = on ? flags | flag : flags & ~flag;
  };
  if (motion !== undefined) setFlag(layout.FLAG_STATIC, checkOneOf(operation, 'motion', motion, MOTIONS) === 'static');
  if (pickable !== undefined) setFlag(layout.FLAG_PICKABLE, checkBoolean(operation, 'pickable', pickable));
  if (cullable !== undefined) setFlag(layout.FLAG_CULLABLE, checkBoolean(operation, 'cullable', cullable));
  return {
    shape: part.shape,
    mesh: part.mesh,
    flags,
    layers: layers === undefined ? base.layers : checkBits(operation, 'layers', layers),
    collidesWith: collidesWith === undefined ? base.collidesWith : checkBits(operation, 'collidesWith', collidesWith),
    group: group === undefined ? base.group : checkInteger(operation, 'group', group, 0, 0xffffffff),
    contacts: contacts === undefined ? base.contacts : checkContacts(operation, contacts),
    center: part.center,
    extent: part.extent,
    rotation: part.rotation,
    radius: part.radius,
  };
}

export function isSame(a: ObjectDescription, b: ObjectDescription): boolean {
  return (
    a.shape === b.shape &&
    a.mesh === b.mesh &&
    a.flags === b.flags &&
    a.layers === b.layers &&
    a.collidesWith === b.collidesWith &&
    a.group === b.group &&
    a.contacts === b.contacts &&
    a.radius === b.radius &&
    isSameArray(a.center, b.center) &&
    isSameArray(a.extent, b.extent) &&
    isSameArray(a.rotation, b.rotation)
  );
}

function isSameArray(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function checkContacts(operation: string, contacts: unknown): number {
  const detail = DETAILS.indexOf(checkOneOf(operation, 'contacts', contacts, DETAILS));
  if (detail > layout.CONTACTS_ANY) unsupported(operation, 'contacts', contacts, "'none', 'bounds', 'any'");
  return detail;
}

/** A shape, checked and complete. */
function describeShape(operation: string, shape: Shape, hasMesh: (id: MeshId) => boolean): ShapePart {
  if (typeof shape !== 'object' || shape === null) invalid(operation, 'shape', shape, 'an object with a type');
  checkOptions(operation, 'shape', shape, SHAPE_KEYS[checkOneOf(operation, 'shape.type', shape.type, SHAPES)]);
  const part = { mesh: 0, center: ORIGIN, extent: ORIGIN, rotation: NO_ROTATION, radius: 0 };
  switch (shape.type) {
    case 'mesh':
      if (!hasMesh(shape.mesh))
        throw argumentError('UNKNOWN_ID', operation, 'shape.mesh', shape.mesh, 'a mesh that was added');
      if (shape.solid !== undefined && checkBoolean(operation, 'shape.solid', shape.solid)) {
        unsupported(operation, 'shape.solid', true, 'surfaces, solid: false');
      }
      return { ...part, shape: layout.SHAPE_MESH, mesh: shape.mesh };
    case 'sphere':
      return {
        ...part,
        shape: layout.SHAPE_SPHERE,
        center: checkCenter(operation, shape.center),
        radius: checkPositive(operation, 'shape.radius', shape.radius),
      };
    case 'box':
      return {
        ...part,
        shape: layout.SHAPE_BOX,
        center: checkCenter(operation, shape.center),
        extent: checkHalfExtents(operation, shape.halfExtents),
        rotation: shape.rotation === undefined ? NO_ROTATION : checkRotation(operation, shape.rotation),
      };
    case 'capsule':
      return {
        ...part,
        shape: layout.SHAPE_CAPSULE,
        center: checkVec3(operation, 'shape.from', shape.from),
        extent: checkVec3(operation, 'shape.to', shape.to),
        radius: checkPositive(operation, 'shape.radius', shape.radius),
      };
  }
}

function checkCenter(operation: string, center: unknown): readonly number[] {
  return center === undefined ? ORIGIN : checkVec3(operation, 'shape.center', center);
}

function checkHalfExtents(operation: string, value: unknown): readonly number[] {
  const extents = checkVec3(operation, 'shape.halfExtents', value);
  if (!extents.every((extent) => extent >= 0)) invalid(operation, 'shape.halfExtents', value, 'three numbers >= 0');
  return extents;
}

function checkRotation(operation: string, value: unknown): readonly number[] {
  const rotation = checkNumbers(operation, 'shape.rotation', value, 4);
  const length = Math.hypot(...rotation);
  // Unit as far as float32 holds it; the rest is taken out.
  if (!(Math.abs(length - 1) < 1e-5)) invalid(operation, 'shape.rotation', value, 'a unit quaternion xyzw');
  return rotation.map((each) => each / length);
}

function unsupported(operation: string, argument: string, value: unknown, supported: string): never {
  throw new CollisionError('UNSUPPORTED', `${operation}: ${argument} is ${show(value)}; supported are ${supported}`);
}
