import type { Triangles } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

/** A square of hills from the origin to (size, size) in x and z, made of unit squares with two triangles each. */
export class Terrain {
  readonly size: number;
  readonly triangles: Triangles;

  constructor(triangles: number) {
    this.size = Math.max(1, Math.round(Math.sqrt(triangles / 2)));
    const n = this.size + 1;
    const positions = new Float32Array(3 * n * n);
    for (let i = 0, z = 0; z < n; z++) {
      for (let x = 0; x < n; x++, i += 3) {
        positions[i] = x;
        positions[i + 1] = heightAt(x, z);
        positions[i + 2] = z;
      }
    }
    const indices = new Uint32Array(6 * this.size ** 2);
    for (let i = 0, z = 0; z < this.size; z++) {
      for (let x = 0; x < this.size; x++, i += 6) {
        const corner = z * n + x;
        indices[i] = corner;
        indices[i + 1] = indices[i + 4] = corner + n;
        indices[i + 2] = indices[i + 3] = corner + 1;
        indices[i + 5] = corner + n + 1;
      }
    }
    this.triangles = { positions, indices };
  }

  get count(): number {
    return 2 * this.size ** 2;
  }

  /** Rays straight down from height 0 onto midpoints of edges, eight numbers each, and the distance of each to the ground. */
  raysDown(random: Random, count: number): { rays: Float32Array; distances: Float64Array } {
    const rays = new Float32Array(8 * count);
    const distances = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const [x, z] = [random.integer(this.size), random.integer(this.size)];
      rays.set([x + 0.5, 0, z, 0, 0, -1, 0, Number.POSITIVE_INFINITY], 8 * i);
      distances[i] = -(Math.fround(heightAt(x, z)) + Math.fround(heightAt(x + 1, z))) / 2;
    }
    return { rays, distances };
  }
}

/** All heights are below 0. */
function heightAt(x: number, z: number): number {
  const hills = 40 * Math.sin(x / 97) * Math.cos(z / 71) + 9 * Math.sin(x / 13 + z / 17);
  return hills + 1.5 * Math.sin(x / 2.3) * Math.sin(z / 1.9) - 60;
}
