import type { ContactDetail, NamedBox, ObjectOptions, QueryOptions, Shape } from 'collision-worker';
import { boundsOf, type Point, type Solid, sphereAbout } from './solids.js';
import type { Window } from './windows.js';

/** Tolerance: answers that depend on less are not checked. */
export const TOLERANCE = 1e-4;

export const DETAILS: readonly ContactDetail[] = ['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'];

/** A box by hand, along the axes of its object. */
export interface ModelBox {
  name: string;
  center: Point;
  half: Point;
  /** Whether it is given with its sides along x and y swapped, and rotated by 90° about z. */
  isTurned: boolean;
}

export interface ModelObject {
  kind: 'box' | 'ball' | 'capsule' | 'surface' | 'solid mesh';
  /** Half extents of the shape, before its matrix is applied. */
  half: Point;
  radius: number;
  center: Point;
  /** For the last two kinds: the mesh, which may have been scaled since. */
  mesh: number;
  /** Boxes by hand, for the last two kinds; empty for the others. They are within the mesh however it was scaled. */
  boxes: readonly ModelBox[];
  /** Whether the object was given its own boxes; otherwise it uses those of its mesh. */
  hasOwnBoxes: boolean;
  /** 16 numbers; it permutes or mirrors the axes, and scales uniformly. */
  matrix: readonly number[];
  motion: 'static' | 'moving';
  layers: number;
  collidesWith: number;
  group: number;
  contacts: ContactDetail;
  clearance: number;
  continuous: boolean;
  pickable: boolean;
  cullable: boolean;
  occluder: boolean;
}

/** The scene after some operation. Immutable. */
export interface World {
  readonly things: ReadonlyMap<number, ModelObject>;
  /** By mesh: the scale of its vertices. */
  readonly meshes: ReadonlyMap<number, number>;
  /** The views of frames, by name. */
  readonly windows: ReadonlyMap<string, Window>;
}

export const EMPTY_WORLD: World = { things: new Map(), meshes: new Map(), windows: new Map() };

export function solidOf(
  { meshes }: Pick<World, 'meshes'>,
  object: Pick<ModelObject, 'kind' | 'half' | 'radius' | 'center' | 'mesh' | 'matrix'>,
): Solid {
  const { kind, half, radius, center, mesh, matrix: m } = object;
  const factor = meshes.get(mesh) ?? 1;
  const row = (k: number, v: Point) => m[k] * v[0] + m[4 + k] * v[1] + m[8 + k] * v[2];
  const size = (k: number) => Math.abs(m[k] * half[0]) + Math.abs(m[4 + k] * half[1]) + Math.abs(m[8 + k] * half[2]);
  return {
    center: [row(0, center) + m[12], row(1, center) + m[13], row(2, center) + m[14]],
    half: [size(0) * factor, size(1) * factor, size(2) * factor],
    radius: radius * Math.hypot(m[0], m[1], m[2]),
    isHollow: kind === 'surface',
  };
}

/** The boxes of a thing. */
export function boxesOf({ boxes, matrix }: ModelObject): Solid[] {
  const solidOfBox = ({ center, half }: ModelBox) =>
    solidOf(EMPTY_WORLD, { kind: 'box', half, center, radius: 0, mesh: 0, matrix });
  return boxes.map(solidOfBox);
}

/** The parts of a thing that rays hit with a precision: solids, and their box numbers, or -1 if they are not boxes. */
export function partsOf(
  world: World,
  object: ModelObject,
  precision: QueryOptions['precision'],
): [solid: Solid, box: number][] {
  if (precision !== 'obb' || object.boxes.length === 0) return [[standIn(world, object, precision), -1]];
  return boxesOf(object).map((solid, i) => [solid, i]);
}

/** The parts of a thing for contacts with detail 'bounds', in the same form. */
export function boundsParts(world: World, object: ModelObject): [solid: Solid, box: number][] {
  if (object.boxes.length === 0) return [[boundsOf(solidOf(world, object)), -1]];
  return boxesOf(object).map((solid, i) => [solid, i]);
}

/** The solid that stands in for a thing in all queries except rays. */
export function standIn(world: World, object: ModelObject, precision: QueryOptions['precision'] = 'mesh'): Solid {
  const solid = solidOf(world, object);
  if (precision === 'mesh') return solid;
  return precision === 'sphere' ? sphereAbout(solid) : boundsOf(solid);
}

/** The objects that a query with these options considers. */
export function pickable(world: World, { layers = -1, ignore = [] }: QueryOptions): [id: number, thing: ModelObject][] {
  return [...world.things].filter(([id, object]) => object.pickable && object.layers & layers && !ignore.includes(id));
}

/** Returns the coarser detail of the two; 'none' if they never make a pair. */
export function detailOf(a: ModelObject, b: ModelObject): ContactDetail {
  const canMeet =
    a.layers & b.collidesWith &&
    b.layers & a.collidesWith &&
    (a.group === 0 || a.group !== b.group) &&
    !(a.motion === 'static' && b.motion === 'static');
  return canMeet ? DETAILS[Math.min(DETAILS.indexOf(a.contacts), DETAILS.indexOf(b.contacts))] : 'none';
}

export function shapeOf({ kind, half, radius, center, mesh }: ModelObject): Shape {
  if (kind === 'ball') return { type: 'sphere', radius, center };
  if (kind === 'box') return { type: 'box', halfExtents: half, center };
  if (kind !== 'capsule') return { type: 'mesh', mesh, solid: kind === 'solid mesh' };
  const [from, to] = [-1, 1].map((s) => center.map((each, k) => each + s * half[k]) as unknown as Point);
  return { type: 'capsule', radius, from, to };
}

export function optionsOf(object: ModelObject): ObjectOptions {
  const { matrix, motion, layers, collidesWith, group, contacts, pickable, cullable, occluder } = object;
  const { clearance, continuous } = object;
  const boxes = object.boxes.map(namedBox);
  const settings = {
    motion,
    layers,
    collidesWith,
    group,
    contacts,
    pickable,
    cullable,
    occluder,
    clearance,
    continuous,
  };
  return { shape: shapeOf(object), matrix, ...settings, ...(object.hasOwnBoxes && { boxes }) };
}

export function namedBox({ name, center, half: [x, y, z], isTurned }: ModelBox): NamedBox {
  if (!isTurned) return { name, center, halfExtents: [x, y, z] };
  return { name, center, halfExtents: [y, x, z], rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2] };
}
