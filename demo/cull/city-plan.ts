import { Color } from 'three';
import { mulberry32 } from '../random.js';

/** Metres. */
const LOT_SIZE = 12;
const STREET_WIDTH = 16;
/** Lots along one side of a block. */
const LOTS_PER_BLOCK = 5;
const PITCH = LOTS_PER_BLOCK * LOT_SIZE + STREET_WIDTH;
const CAR = { width: 2, height: 1.6, length: 4.6 };
/** Distance from the middle of a street to the lane of one direction. */
const LANE_OFFSET = 3.4;
/** Metres per second. */
const SPEED = { min: 8, max: 19 };
/** Downtowns with towers: their centre, their radius, and the added height. */
const DOWNTOWNS = [
  { x: 0, z: 0, reach: 330, height: 190 },
  { x: 900, z: -500, reach: 200, height: 110 },
  { x: -700, z: 800, reach: 240, height: 90 },
];
const FACADES = [0x5d6f8c, 0x74859f, 0x8a7f76, 0x6b6473, 0x9a9288, 0x526680];
const CARS = [0xd9dde3, 0x9aa3b0, 0xb8473a, 0x3f6fa8, 0xd2a13c, 0x30363f];

export interface Car {
  /** Coordinate of the lane across it: a lane along x has a fixed z, and vice versa. */
  lane: number;
  isAlongX: boolean;
  /** Metres per second; negative for the opposite direction. */
  speed: number;
  start: number;
}

/** Boxes: a matrix of 16 numbers for each, in column-major order, and three for its colour. */
export interface Boxes {
  readonly matrices: Float32Array<ArrayBuffer>;
  readonly colors: Float32Array<ArrayBuffer>;
}

export interface CityPlan {
  readonly buildings: Boxes;
  /** The matrices of all cars are at the origin. */
  readonly cars: Boxes;
  readonly traffic: readonly Car[];
  /** From the centre to the border, in metres. */
  readonly radius: number;
}

/** Plans a city in rings around its centre, with traffic. */
export function planCity({ buildings, cars }: { buildings: number; cars: number }): CityPlan {
  const random = mulberry32(11);
  const color = new Color();
  const lots = lotsAround(buildings);
  const radius = lots.at(-1)!.distance;
  const buildingBoxes = boxesOf(buildings);
  lots.forEach(({ x, z }, i) => {
    const [width, depth] = [7 + 4 * random(), 7 + 4 * random()];
    const tower = Math.max(...DOWNTOWNS.map((each) => towerAt(each, x, z)));
    const height = 6 + 14 * random() ** 2 + tower * random() ** 2;
    buildingBoxes.matrices.set([width, 0, 0, 0, 0, height, 0, 0, 0, 0, depth, 0, x, 0, z, 1], 16 * i);
    color.setHex(FACADES[Math.floor(FACADES.length * random())]).toArray(buildingBoxes.colors, 3 * i);
  });
  const streets = Math.floor(radius / PITCH);
  const carBoxes = boxesOf(cars);
  const traffic = Array.from({ length: cars }, (_, i) => {
    const direction = random() < 0.5 ? -1 : 1;
    const street = Math.round((2 * random() - 1) * streets * Math.sqrt(random()));
    const isAlongX = random() < 0.5;
    const [x, z] = isAlongX ? [CAR.length, CAR.width] : [CAR.width, CAR.length];
    carBoxes.matrices.set([x, 0, 0, 0, 0, CAR.height, 0, 0, 0, 0, z, 0, 0, 0, 0, 1], 16 * i);
    color.setHex(CARS[Math.floor(CARS.length * random())]).toArray(carBoxes.colors, 3 * i);
    const speed = direction * (SPEED.min + (SPEED.max - SPEED.min) * random());
    return { lane: street * PITCH + direction * LANE_OFFSET, isAlongX, speed, start: 2 * radius * random() };
  });
  return { buildings: buildingBoxes, cars: carBoxes, traffic, radius };
}

function boxesOf(count: number): Boxes {
  return { matrices: new Float32Array(16 * count), colors: new Float32Array(3 * count) };
}

/** The lots nearest to the centre, which is a crossing. */
function lotsAround(count: number): { x: number; z: number; distance: number }[] {
  const blocks = Math.ceil(Math.sqrt(count / LOTS_PER_BLOCK ** 2 / Math.PI)) + 1;
  const coordinates: number[] = [];
  for (let block = -blocks; block < blocks; block++) {
    for (let lot = 0; lot < LOTS_PER_BLOCK; lot++)
      coordinates.push(block * PITCH + STREET_WIDTH / 2 + (lot + 0.5) * LOT_SIZE);
  }
  return coordinates
    .flatMap((x) => coordinates.map((z) => ({ x, z, distance: Math.hypot(x, z) })))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count);
}

function towerAt({ x, z, reach, height }: (typeof DOWNTOWNS)[number], atX: number, atZ: number): number {
  return height * Math.exp(-((atX - x) ** 2 + (atZ - z) ** 2) / reach ** 2);
}
