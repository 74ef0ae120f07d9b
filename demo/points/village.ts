import { Box3, BufferAttribute, BufferGeometry, Color, Group, Points, PointsMaterial, Vector3 } from 'three';
import { nextTurn } from '../next-turn.js';
import { mulberry32 } from '../random.js';
import { Scan } from './scan.js';

/** Metres. */
const TILES = 6;
const TILE = 12;
const HALF_SIZE = (TILES * TILE) / 2;
const HOUSES = 14;
const TREES = 46;
/** Share of all points for each kind of object; the tower has as many as the rest of the church. */
const POINT_SHARES = { ground: 0.42, houses: 0.24, church: 0.04, trees: 0.24, lines: 0.02 };

const GRASS = new Color(0x6f8f4a);
const EARTH = new Color(0x9a8560);
const WALL = new Color(0xd8cbb0);
const ROOF = new Color(0xb8593c);
const SLATE = new Color(0x6d7f95);
const BARK = new Color(0x7a5c40);
const LEAF = new Color(0x5d9a45);
const WIRE = new Color(0xe8e2d0);

/** Returns the height of the terrain, in metres. */
export function heightAt(x: number, z: number): number {
  return 1.6 * Math.sin(0.11 * x + 0.5) * Math.cos(0.09 * z) + 0.5 * Math.sin(0.31 * x - 0.23 * z);
}

/** A scanned village: one point cloud per object, of about `count` points in total. */
export class Village {
  readonly root = new Group();
  things: readonly Points<BufferGeometry, PointsMaterial>[] = [];
  readonly box = new Box3(new Vector3(-HALF_SIZE, -2, -HALF_SIZE), new Vector3(HALF_SIZE, 8, HALF_SIZE));
  readonly #random = mulberry32(7);
  readonly #scans: Scan[] = [];

  /** Creates the objects one by one, and yields to the page in between. */
  static async create(count: number, pixels: number): Promise<Village> {
    const village = new Village();
    for (const _ of village.#scan(count)) await nextTurn();
    const things: Points<BufferGeometry, PointsMaterial>[] = [];
    for (const scan of village.#scans) {
      things.push(pointsOf(scan, pixels));
      await nextTurn();
    }
    village.things = things;
    village.root.add(...things);
    return village;
  }

  private constructor() {}

  *#scan(count: number): Generator<void> {
    yield* this.#ground(POINT_SHARES.ground * count);
    const positions = this.#positions();
    this.#church((POINT_SHARES.church * count) | 0);
    yield;
    for (const [i, position] of positions.slice(0, HOUSES).entries()) {
      this.#house(i, position, (POINT_SHARES.houses * count) / HOUSES);
      yield;
    }
    for (const [i, position] of positions.slice(HOUSES).entries()) {
      this.#tree(i, position, (POINT_SHARES.trees * count) / TREES);
      yield;
    }
    yield* this.#powerLine(POINT_SHARES.lines * count);
  }

  get count(): number {
    return this.things.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
  }

  #begin(name: string, points: number): Scan {
    const scan = new Scan(name, Math.ceil(points), this.#random);
    this.#scans.push(scan);
    return scan;
  }

  *#ground(points: number): Generator<void> {
    for (let row = 0; row < TILES; row++) {
      for (let column = 0; column < TILES; column++) {
        const tilePoints = points / TILES ** 2;
        const scan = this.#begin(`ground ${'ABCDEF'[row]}${column + 1}`, tilePoints);
        scan.fill(tilePoints, () => {
          const x = -HALF_SIZE + TILE * (column + this.#random());
          const z = -HALF_SIZE + TILE * (row + this.#random());
          scan.color.lerpColors(GRASS, EARTH, 0.5 + 0.5 * Math.sin(0.4 * x) * Math.cos(0.35 * z));
          scan.point.set(x, heightAt(x, z), z);
        });
        yield;
      }
    }
  }

  /** Positions of the houses, then of the trees; none overlaps another, or the church in the middle. */
  #positions(): Vector3[] {
    const positions = [new Vector3()];
    while (positions.length <= HOUSES + TREES) {
      const [x, z] = [this.#random(), this.#random()].map((fraction) => (HALF_SIZE - 3) * (2 * fraction - 1));
      const minDistance = positions.length <= HOUSES ? 9.5 : 5;
      if (positions.every((other) => Math.hypot(other.x - x, other.z - z) > minDistance))
        positions.push(new Vector3(x, heightAt(x, z), z));
    }
    return positions.slice(1);
  }

  #house(i: number, position: Vector3, points: number): void {
    const scan = this.#begin(`house ${i + 1}`, points);
    const [length, width, height] = [5 + 2.5 * this.#random(), 3.8 + this.#random(), 2.4 + 0.8 * this.#random()];
    scan.move(position, 2 * Math.PI * this.#random());
    scan.walls(0.55 * points, length, width, height, WALL);
    scan.roof(0.45 * points, length + 0.5, width + 0.5, height - 0.15, 1.9, ROOF);
  }

  #church(points: number): void {
    const scan = this.#begin('church', points);
    scan.move(new Vector3(0, heightAt(0, 0), 0), 0.5);
    scan.walls(0.25 * points, 9, 5, 4, WALL);
    scan.roof(0.25 * points, 9.4, 5.4, 3.9, 3, SLATE);
    const tower = this.#begin('church tower', points);
    tower.move(new Vector3(0, heightAt(0, 0), 0), 0.5);
    tower.shift.set(5.6, 0, 0);
    tower.walls(0.3 * points, 2.6, 2.6, 8, WALL);
    tower.cone(0.2 * points, 1.9, 8, 5.5, SLATE);
  }

  #tree(i: number, position: Vector3, points: number): void {
    const isFir = i % 3 === 0;
    const scan = this.#begin(`${isFir ? 'fir' : 'oak'} ${i + 1}`, points);
    const size = 0.8 + 0.5 * this.#random();
    scan.move(position, 0);
    scan.cone(0.1 * points, 0.22, 0, 3 * size, BARK);
    if (isFir) scan.cone(0.9 * points, 1.4 * size, 1, 5 * size, LEAF);
    else scan.crown(0.9 * points, 1.9 * size, 3.4 * size, LEAF);
  }

  /** Three wires over poles, across the village. */
  *#powerLine(points: number): Generator<void> {
    const span = 18;
    const spans = (2 * HALF_SIZE) / span;
    for (let wire = 0; wire < 3; wire++) {
      const wirePoints = (0.8 * points) / 3;
      const scan = this.#begin(`power line ${wire + 1}`, wirePoints);
      scan.fill(wirePoints, () => {
        const along = this.#random() * spans;
        const sag = 4 * (along % 1) * (1 - (along % 1));
        scan.color.copy(WIRE);
        scan.point.set(-HALF_SIZE + span * along, 8 - 1.3 * sag, -13 + 0.7 * wire);
      });
      yield;
    }
    for (let pole = 0; pole <= spans; pole++) {
      const polePoints = (0.2 * points) / (spans + 1);
      const scan = this.#begin(`pole ${pole + 1}`, polePoints);
      const x = -HALF_SIZE + span * pole;
      scan.fill(polePoints, () => {
        const y = heightAt(x, -12.3);
        const isArm = this.#random() < 0.25;
        scan.color.copy(BARK);
        scan.point.set(x, isArm ? 8 : y + (8 - y) * this.#random(), isArm ? -13.2 + 1.8 * this.#random() : -12.3);
      });
    }
  }
}

/** Each object has its own material, so that it can be highlighted. */
function pointsOf({ name, positions, colors }: Scan, size: number): Points<BufferGeometry, PointsMaterial> {
  const geometry = new BufferGeometry()
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setAttribute('color', new BufferAttribute(colors, 3, true));
  geometry.computeBoundingSphere();
  const points = new Points(geometry, new PointsMaterial({ size, sizeAttenuation: false, vertexColors: true }));
  points.name = name;
  return points;
}
