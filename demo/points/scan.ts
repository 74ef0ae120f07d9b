import { Color, Vector3 } from 'three';

/** Variation in the brightness of points. */
const NOISE = 0.3;

/** The points of one object, scattered over its surfaces. */
export class Scan {
  readonly name: string;
  readonly positions: Float32Array;
  readonly colors: Uint8Array;
  /** The next point before the placement is applied, and its colour. */
  readonly point = new Vector3();
  readonly color = new Color();
  /** Added to each point before the rotation. */
  readonly shift = new Vector3();
  readonly #random: () => number;
  readonly #position = new Vector3();
  #rotation = 0;
  #count = 0;

  constructor(name: string, points: number, random: () => number) {
    this.name = name;
    this.positions = new Float32Array(3 * points);
    this.colors = new Uint8Array(3 * points);
    this.#random = random;
  }

  /** Sets the placement of the following points: position, and rotation about y. */
  move(position: Vector3, rotation: number): void {
    this.#position.copy(position);
    this.#rotation = rotation;
  }

  /** Adds points that `make` puts into `point` and `color`, up to the capacity. */
  fill(points: number, make: () => void): void {
    const end = Math.min(this.positions.length / 3, this.#count + Math.ceil(points));
    for (; this.#count < end; this.#count++) {
      make();
      this.point
        .add(this.shift)
        .applyAxisAngle(UP, this.#rotation)
        .add(this.#position)
        .toArray(this.positions, 3 * this.#count);
      const light = 255 * (1 - NOISE * this.#random());
      this.colors.set([this.color.r * light, this.color.g * light, this.color.b * light], 3 * this.#count);
    }
  }

  /** The four walls of a house centred at the origin, with windows left out. */
  walls(points: number, length: number, width: number, height: number, color: Color): void {
    this.fill(points, () => {
      const isLong = this.#random() < length / (length + width);
      const [sideLength, otherLength] = isLong ? [length, width] : [width, length];
      let [fraction, up] = this.#pair();
      while (isWindow(fraction * sideLength, up * height)) [fraction, up] = this.#pair();
      const [u, v] = [sideLength * (fraction - 0.5), 0.5 * otherLength * this.#side()];
      this.point.set(isLong ? u : v, height * up, isLong ? v : u);
      this.color.copy(color);
    });
  }

  /** Two roof slopes along x, and the gables below them. */
  roof(points: number, length: number, width: number, from: number, height: number, color: Color): void {
    this.fill(points, () => {
      const [fraction, up] = this.#pair();
      this.point.set(length * (fraction - 0.5), from + height * up, 0.5 * width * (1 - up) * this.#side());
      this.color.copy(color);
    });
  }

  cone(points: number, radius: number, from: number, height: number, color: Color): void {
    this.fill(points, () => {
      const up = 1 - Math.sqrt(this.#random());
      const angle = 2 * Math.PI * this.#random();
      const coneRadius = radius * (1 - up) * (0.85 + 0.15 * this.#random());
      this.point.set(coneRadius * Math.cos(angle), from + height * up, coneRadius * Math.sin(angle));
      this.color.copy(color);
    });
  }

  /** Leaves, denser at the outside than inside. */
  crown(points: number, radius: number, height: number, color: Color): void {
    this.fill(points, () => {
      const z = 2 * this.#random() - 1;
      const angle = 2 * Math.PI * this.#random();
      const lobes = 1 + 0.16 * Math.sin(5 * angle) * Math.cos(6 * z);
      const leafRadius = radius * lobes * this.#random() ** 0.2;
      const horizontal = Math.sqrt(1 - z * z);
      this.point.set(
        leafRadius * horizontal * Math.cos(angle),
        height + 0.85 * leafRadius * z,
        leafRadius * horizontal * Math.sin(angle),
      );
      this.color.copy(color);
    });
  }

  #pair(): [number, number] {
    return [this.#random(), this.#random()];
  }

  #side(): 1 | -1 {
    return this.#random() < 0.5 ? 1 : -1;
  }
}

const UP = new Vector3(0, 1, 0);

/** Windows are every two metres, one metre wide, at eye level. */
function isWindow(distance: number, up: number): boolean {
  const fraction = distance % 2;
  return fraction > 0.6 && fraction < 1.4 && up % 2.6 > 1 && up % 2.6 < 1.9;
}
