import { Box3, type BufferGeometry, Color, Group, type Object3D, Vector3 } from 'three';
import type { Quality } from '../quality.js';
import { LIMBS } from './figure.js';
import { Walker } from './walker.js';

/** Metres. The circles intersect, and the people of all three meet there. */
const CIRCLES = [
  { x: -1.5, z: 0, radius: 2.1, speed: 1.15 },
  { x: 1.5, z: 0, radius: 2.1, speed: -1.25 },
  { x: 0, z: 0.2, radius: 1.1, speed: 0.95 },
];
const COLORS = [0x6f8fbd, 0x5fae97, 0xb59a5c, 0xa56f8f, 0x8198bb, 0x7d9a6a].map((hex) => new Color(hex));
const COUNTS: Record<Quality, readonly number[]> = { high: [9, 9, 4], low: [5, 5, 2] };

/** People who walk in circles and through one another. */
export class Crowd {
  readonly root = new Group();
  readonly walkers: readonly Walker[];
  readonly box = new Box3(new Vector3(-3.3, 0, -1.7), new Vector3(3.3, 1.8, 1.7));
  readonly #paths: readonly { circle: (typeof CIRCLES)[number]; start: number }[];

  constructor(quality: Quality, body: BufferGeometry) {
    const counts = COUNTS[quality];
    this.#paths = CIRCLES.flatMap((circle, i) =>
      Array.from({ length: counts[i] }, (_, k) => ({ circle, start: (2 * Math.PI * (k + 0.3 * i)) / counts[i] })),
    );
    this.walkers = this.#paths.map((_, i) => new Walker(`walker ${i + 1}`, body, COLORS[i % COLORS.length]));
    this.root.add(...this.walkers.map(({ mesh }) => mesh));
    this.pose(0);
  }

  pose(seconds: number): void {
    this.#paths.forEach(({ circle: { x, z, radius, speed }, start }, i) => {
      const angle = start + (speed * seconds) / radius;
      const { mesh } = this.walkers[i];
      mesh.position.set(x + radius * Math.sin(angle), 0, z + radius * Math.cos(angle));
      mesh.rotation.y = angle + Math.sign(speed) * (Math.PI / 2);
      this.walkers[i].walk(Math.abs(speed) * seconds + 2.3 * i);
    });
  }

  /** Highlights the part of the skin that a bone moves; null: nothing. */
  light(hit: { object: Object3D; bone?: number } | null): void {
    for (const walker of this.walkers) walker.light(walker.mesh === hit?.object ? (hit.bone ?? -1) : -1);
  }
}

/** For example 'left forearm of walker 3'. */
export function nameOfBone({ object, bone = -1 }: { object: Object3D; bone?: number }): string {
  return `${LIMBS[bone]?.name ?? 'no bone'} of ${object.name}`;
}
