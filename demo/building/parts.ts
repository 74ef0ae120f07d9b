// A building by code: floors of bays with slabs, columns and walls, and the ducts, pipes and trays of three trades that were
// planned apart, and so run into each other here and there.

import { mulberry32 } from '../random.js';
import { box, cylinder, doorWall, duct, elbow, type Form, tray } from './forms.js';

export interface BuildingPart {
  id: string;
  name: string;
  layer: 'Structure' | 'Walls' | 'Ventilation' | 'Water' | 'Electrical';
  properties: { floor: number; kind: string; diameter?: number };
  /** Shared by parts of the same measures. */
  mesh: Form;
  /** 16, column-major. */
  matrix: number[];
}

export interface BuildingOptions {
  /** How many parts; the last bay is cut short. */
  parts: number;
  seed?: number;
  /** Where the middle of its ground floor is. Default the origin. */
  origin?: readonly [number, number, number];
  /** How many sides round things have. Default 16. */
  segments?: number;
}

const BAY = 6;
const FLOOR = 3.5;
const SLAB = 0.3;
const WALL = 0.2;
/** Most parts of a bay; and how many floors there are for so many bays of a floor. */
const PARTS_OF_BAY = 26;
/** The clear gap that is left where parts are not to touch. */
const GAP = 0.01;

type Vec = readonly [number, number, number];

/** Makes the parts of a building, the same for the same options. */
export function building({
  parts: count,
  seed = 1,
  origin = [0, 0, 0],
  segments = 16,
}: BuildingOptions): BuildingPart[] {
  const random = mulberry32(seed);
  const forms = new Map<string, Form>();
  const parts: BuildingPart[] = [];
  const bays = Math.ceil(count / PARTS_OF_BAY) + 1;
  const floors = Math.max(1, Math.round(Math.cbrt(bays) / 1.5));
  const side = Math.ceil(Math.sqrt(bays / floors));

  const between = (low: number, high: number): number => low + (high - low) * random();
  /** One of a few measures: what is made in a factory. */
  const oneOf = <T>(...values: T[]): T => values[Math.floor(random() * values.length)];
  const form = (key: string, make: () => Form): Form => {
    const known = forms.get(key) ?? make();
    forms.set(key, known);
    return known;
  };
  const add = (
    kind: string,
    layer: BuildingPart['layer'],
    floor: number,
    mesh: Form,
    place: Vec,
    turn: readonly number[] = UPRIGHT,
    diameter?: number,
  ): void => {
    const number = parts.length;
    const [x, y, z] = place.map((each, axis) => each + origin[axis]);
    const matrix = [...turn.slice(0, 3), 0, ...turn.slice(3, 6), 0, ...turn.slice(6, 9), 0, x, y, z, 1];
    const properties = { floor, kind, ...(diameter === undefined ? {} : { diameter }) };
    parts.push({ id: `${kind}-${number}`, name: `${kind} ${number}`, layer, properties, mesh, matrix });
  };

  for (let floor = 0; parts.length < count; floor++) {
    for (let bay = 0; bay < side * side && parts.length < count; bay++) {
      const [x, z] = [(bay % side) - side / 2, Math.floor(bay / side) - side / 2].map((each) => each * BAY);
      addBay(floor, x, floor * FLOOR, z);
    }
  }
  return parts.slice(0, count);

  function addBay(floor: number, x: number, y: number, z: number): void {
    addFrame(floor, x, y, z);
    addDucts(floor, x, y, z);
    addPipes(floor, x, y, z);
    addTrays(floor, x, y, z);
    // One in eight bays was imported twice, in part.
    if (random() < 0.125) {
      const { properties, layer, mesh, matrix } = parts[parts.length - 1 - Math.floor(random() * 8)];
      const number = parts.length;
      parts.push({
        id: `copy-${number}`,
        name: `${properties.kind} ${number}`,
        layer,
        properties,
        mesh,
        matrix: [...matrix],
      });
    }
  }

  /** What stands on what: slabs touch their neighbours, and walls and columns the slabs. */
  function addFrame(floor: number, x: number, y: number, z: number): void {
    const slab = form('slab', () => box(BAY, SLAB, BAY));
    add('slab', 'Structure', floor, slab, [x + BAY / 2, y - SLAB / 2, z + BAY / 2]);
    const height = FLOOR - SLAB;
    const width = oneOf(0.4, 0.5);
    const column = form(`column ${width}`, () => cylinder(width / 2, height, segments));
    add('column', 'Structure', floor, column, [x + 0.5, y + height / 2, z + 0.5], STANDING, width);
    // A wall that is built into the slab above by a few centimetres, now and then.
    const built = random() < 0.1 ? 0.05 : 0;
    const wall = form(`wall ${built}`, () => box(BAY - 1, height + built, WALL));
    add('wall', 'Walls', floor, wall, [x + BAY / 2 + 0.25, y + (height + built) / 2, z + BAY - 0.5]);
    const door = oneOf(0.9, 1.1);
    const room = height - 2 * GAP;
    const inner = form(`door ${door}`, () => doorWall(BAY - 2, room, 0.15, door, 2.1));
    add('door wall', 'Walls', floor, inner, [x + BAY - 1.5, y + GAP + room / 2, z + BAY / 2 - 0.1], ACROSS);
  }

  function addDucts(floor: number, x: number, y: number, z: number): void {
    for (let i = 0; i < 2; i++) {
      const width = oneOf(0.4, 0.5, 0.6);
      const height = oneOf(0.25, 0.3);
      const length = oneOf(3.5, 4.5, 5.5);
      const mesh = form(`duct ${width} ${height} ${length}`, () => duct(width, height, length, 0.02));
      const at: Vec = [x + 1.2 + i * 2 + between(-0.3, 0.3), y + 2.55 + between(-0.2, 0.2), z + 3 + between(-0.6, 0.6)];
      add('duct', 'Ventilation', floor, mesh, at, UPRIGHT, width);
    }
  }

  function addPipes(floor: number, x: number, y: number, z: number): void {
    const pipes = 8 + Math.floor(random() * 4);
    for (let i = 0; i < pipes; i++) {
      const radius = oneOf(0.025, 0.04, 0.055, 0.08);
      const length = oneOf(1.5, 3, 4.5);
      const mesh = form(`pipe ${radius} ${length}`, () => cylinder(radius, length, segments));
      const at: Vec = [x + between(0.6, 5.4), y + between(0.2, 3), z + between(0.6, 5.4)];
      const turn = random() < 0.15 ? tilted(between(-0.4, 0.4)) : oneOf(UPRIGHT, ACROSS, ACROSS, STANDING);
      add('pipe', 'Water', floor, mesh, at, turn, 2 * radius);
    }
    for (let i = 0; i < 3; i++) {
      const radius = oneOf(0.04, 0.055);
      const mesh = form(`elbow ${radius}`, () => elbow(4 * radius, radius, segments, segments / 2));
      const at: Vec = [x + between(0.6, 5.2), y + between(0.3, 2.8), z + between(0.6, 5.2)];
      add('elbow', 'Water', floor, mesh, at, oneOf(UPRIGHT, ACROSS, STANDING), 2 * radius);
    }
  }

  function addTrays(floor: number, x: number, y: number, z: number): void {
    for (let i = 0; i < 4; i++) {
      const length = oneOf(2, 4);
      const mesh = form(`tray ${length}`, () => tray(0.3, 0.08, length, 0.01));
      const at: Vec = [x + between(1, 5), y + 2.9 + between(-0.15, 0.1), z + between(1, 5)];
      add('tray', 'Electrical', floor, mesh, at, oneOf(UPRIGHT, ACROSS));
    }
  }
}

// Columns of rotations: z along itself, along x, up; and along x, tilted.
const UPRIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const ACROSS = [0, 0, -1, 0, 1, 0, 1, 0, 0];
const STANDING = [1, 0, 0, 0, 0, -1, 0, 1, 0];

function tilted(angle: number): number[] {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [0, 0, -1, -s, c, 0, c, s, 0];
}
