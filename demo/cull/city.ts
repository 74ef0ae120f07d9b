import { BoxGeometry, type BufferGeometry, Color, Group, InstancedMesh, Matrix4 } from 'three';
import { mulberry32 } from '../random.js';

/** Metres. */
const LOT = 12;
const STREET = 16;
/** Lots along a side of a block. */
const LOTS = 5;
const PITCH = LOTS * LOT + STREET;
const CAR = { width: 2, height: 1.6, length: 4.6 };
/** From the middle of a street to where cars of one direction drive. */
const LANE = 3.4;
/** Metres a second. */
const SPEED = { min: 8, max: 19 };
/** Where towers stand: the middle, how far they reach, and how much higher they are. */
const DOWNTOWNS = [
  { x: 0, z: 0, reach: 330, height: 190 },
  { x: 900, z: -500, reach: 200, height: 110 },
  { x: -700, z: 800, reach: 240, height: 90 },
];
const FACADES = [0x5d6f8c, 0x74859f, 0x8a7f76, 0x6b6473, 0x9a9288, 0x526680].map((hex) => new Color(hex));
const CARS = [0xd9dde3, 0x9aa3b0, 0xb8473a, 0x3f6fa8, 0xd2a13c, 0x30363f].map((hex) => new Color(hex));

interface Car {
  /** Of the lane, across it; a lane along x is at a z, and the other way round. */
  lane: number;
  isAlongX: boolean;
  /** Metres a second; negative the other way. */
  speed: number;
  start: number;
}

/** A city in rings around its middle, with traffic: as many boxes as are wished, in two InstancedMeshes. */
export class City {
  readonly root = new Group();
  readonly buildings: InstancedMesh;
  readonly cars: InstancedMesh;
  /** From its middle to its border, in metres. */
  readonly radius: number;
  readonly #cars: readonly Car[];

  constructor(buildings: number, cars: number) {
    const random = mulberry32(11);
    const geometry: BufferGeometry = new BoxGeometry().translate(0, 0.5, 0);
    this.buildings = new InstancedMesh(geometry, undefined, buildings);
    this.buildings.name = 'building';
    this.cars = new InstancedMesh(geometry, undefined, cars);
    this.cars.name = 'car';
    this.cars.frustumCulled = false; // as a whole, which three would do by where they were at first

    const lots = lotsAround(buildings);
    this.radius = lots.at(-1)!.distance;
    const matrix = new Matrix4();
    lots.forEach(({ x, z }, i) => {
      const [width, depth] = [7 + 4 * random(), 7 + 4 * random()];
      const tower = Math.max(...DOWNTOWNS.map((each) => towerAt(each, x, z)));
      const height = 6 + 14 * random() ** 2 + tower * random() ** 2;
      this.buildings.setMatrixAt(i, matrix.makeScale(width, height, depth).setPosition(x, 0, z));
      this.buildings.setColorAt(i, FACADES[Math.floor(FACADES.length * random())]);
    });

    const streets = Math.floor(this.radius / PITCH);
    this.#cars = Array.from({ length: cars }, (_, i) => {
      const direction = random() < 0.5 ? -1 : 1;
      const street = Math.round((2 * random() - 1) * streets * Math.sqrt(random()));
      const isAlongX = random() < 0.5;
      const { width, height, length } = CAR;
      const scale = isAlongX ? [length, height, width] : [width, height, length];
      this.cars.setMatrixAt(i, matrix.makeScale(scale[0], scale[1], scale[2]));
      this.cars.setColorAt(i, CARS[Math.floor(CARS.length * random())]);
      const speed = direction * (SPEED.min + (SPEED.max - SPEED.min) * random());
      return { lane: street * PITCH + direction * LANE, isAlongX, speed, start: 2 * this.radius * random() };
    });
    this.root.add(this.buildings, this.cars);
    this.drive(0);
  }

  get count(): number {
    return this.buildings.count + this.cars.count;
  }

  /** In metres. */
  heightOf({ instanceMatrix: { array } }: InstancedMesh, instance: number): number {
    return array[16 * instance + 5];
  }

  /** Puts the cars where they are after that many seconds. Who leaves the city comes in on the other side. */
  drive(seconds: number): void {
    const { array } = this.cars.instanceMatrix;
    this.#cars.forEach(({ lane, isAlongX, speed, start }, i) => {
      const half = Math.sqrt(Math.max(0, this.radius ** 2 - lane ** 2));
      const way = start + speed * seconds;
      const along = half === 0 ? 0 : way - 2 * half * Math.floor(way / (2 * half)) - half;
      array[16 * i + 12] = isAlongX ? along : lane;
      array[16 * i + 14] = isAlongX ? lane : along;
    });
    this.cars.instanceMatrix.needsUpdate = true;
  }
}

/** The lots nearest to the middle, which is a crossing. */
function lotsAround(count: number): { x: number; z: number; distance: number }[] {
  const blocks = Math.ceil(Math.sqrt(count / LOTS ** 2 / Math.PI)) + 1;
  const places: number[] = [];
  for (let block = -blocks; block < blocks; block++) {
    for (let lot = 0; lot < LOTS; lot++) places.push(block * PITCH + STREET / 2 + (lot + 0.5) * LOT);
  }
  return places
    .flatMap((x) => places.map((z) => ({ x, z, distance: Math.hypot(x, z) })))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count);
}

function towerAt({ x, z, reach, height }: (typeof DOWNTOWNS)[number], atX: number, atZ: number): number {
  return height * Math.exp(-((atX - x) ** 2 + (atZ - z) ** 2) / reach ** 2);
}
