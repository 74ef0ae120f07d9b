import type { ContactDetail, NamedBox, ObjectOptions, QueryOptions, Shape } from 'collision-worker';
import { boundsOf, type Point, type Solid, sphereAbout } from './solids.js';
import type { Window } from './windows.js';

/** Nothing is asked of answers that hang on less. */
export const DOUBT = 1e-4;

export const DETAILS: readonly ContactDetail[] = ['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'];

/** A box by hand, along the axes of its object. */
export interface GivenBox {
  name: string;
  center: Point;
  half: Point;
  /** Whether it is said with its sides along x and y swapped, and turned by a right angle about z. */
  isTurned: boolean;
}

export interface Thing {
  kind: 'box' | 'ball' | 'capsule' | 'surface' | 'solid mesh';
  /** Of the shape, without its matrix. */
  half: Point;
  radius: number;
  center: Point;
  /** Of the last two kinds: which mesh, that may have been scaled since. */
  mesh: number;
  /** Boxes by hand, of the last two kinds; none of others. They are within the mesh however it was scaled. */
  boxes: readonly GivenBox[];
  /** Whether it is told of its boxes; otherwise they are those of its mesh. */
  hasOwnBoxes: boolean;
  /** 16; it turns the axes into one another, or mirrors them, and scales all alike. */
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

/** The scene as it is after some operation. Never changes. */
export interface World {
  readonly things: ReadonlyMap<number, Thing>;
  /** By mesh: how much its vertices are scaled. */
  readonly meshes: ReadonlyMap<number, number>;
  /** The views of frames, by name. */
  readonly windows: ReadonlyMap<string, Window>;
}

export const EMPTY: World = { things: new Map(), meshes: new Map(), windows: new Map() };

export function solidOf(
  { meshes }: Pick<World, 'meshes'>,
  thing: Pick<Thing, 'kind' | 'half' | 'radius' | 'center' | 'mesh' | 'matrix'>,
): Solid {
  const { kind, half, radius, center, mesh, matrix: m } = thing;
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
export function boxesOf({ boxes, matrix }: Thing): Solid[] {
  const ofBox = ({ center, half }: GivenBox) =>
    solidOf(EMPTY, { kind: 'box', half, center, radius: 0, mesh: 0, matrix });
  return boxes.map(ofBox);
}

/** What rays by a precision meet of a thing: solids, and their numbers among its boxes, -1 for what is none. */
export function partsOf(
  world: World,
  thing: Thing,
  precision: QueryOptions['precision'],
): [solid: Solid, box: number][] {
  if (precision !== 'obb' || thing.boxes.length === 0) return [[standIn(world, thing, precision), -1]];
  return boxesOf(thing).map((solid, i) => [solid, i]);
}

/** What contacts of detail 'bounds' are of, likewise. */
export function boundsParts(world: World, thing: Thing): [solid: Solid, box: number][] {
  if (thing.boxes.length === 0) return [[boundsOf(solidOf(world, thing)), -1]];
  return boxesOf(thing).map((solid, i) => [solid, i]);
}

/** What stands for a thing in a query, but for rays. */
export function standIn(world: World, thing: Thing, precision: QueryOptions['precision'] = 'mesh'): Solid {
  const solid = solidOf(world, thing);
  if (precision === 'mesh') return solid;
  return precision === 'sphere' ? sphereAbout(solid) : boundsOf(solid);
}

/** What a query with such options is about. */
export function pickable(world: World, { layers = -1, ignore = [] }: QueryOptions): [id: number, thing: Thing][] {
  return [...world.things].filter(([id, thing]) => thing.pickable && thing.layers & layers && !ignore.includes(id));
}

/** The coarser detail of the two; 'none' where they never make a pair. */
export function detailOf(a: Thing, b: Thing): ContactDetail {
  const canMeet =
    a.layers & b.collidesWith &&
    b.layers & a.collidesWith &&
    (a.group === 0 || a.group !== b.group) &&
    !(a.motion === 'static' && b.motion === 'static');
  return canMeet ? DETAILS[Math.min(DETAILS.indexOf(a.contacts), DETAILS.indexOf(b.contacts))] : 'none';
}

export function shapeOf({ kind, half, radius, center, mesh }: Thing): Shape {
  if (kind === 'ball') return { type: 'sphere', radius, center };
  if (kind === 'box') return { type: 'box', halfExtents: half, center };
  if (kind !== 'capsule') return { type: 'mesh', mesh, solid: kind === 'solid mesh' };
  const [from, to] = [-1, 1].map((s) => center.map((each, k) => each + s * half[k]) as unknown as Point);
  return { type: 'capsule', radius, from, to };
}

export function optionsOf(thing: Thing): ObjectOptions {
  const { matrix, motion, layers, collidesWith, group, contacts, pickable, cullable, occluder } = thing;
  const { clearance, continuous } = thing;
  const boxes = thing.boxes.map(namedBox);
  const said = { motion, layers, collidesWith, group, contacts, pickable, cullable, occluder, clearance, continuous };
  return { shape: shapeOf(thing), matrix, ...said, ...(thing.hasOwnBoxes && { boxes }) };
}

export function namedBox({ name, center, half: [x, y, z], isTurned }: GivenBox): NamedBox {
  if (!isTurned) return { name, center, halfExtents: [x, y, z] };
  return { name, center, halfExtents: [y, x, z], rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2] };
}
