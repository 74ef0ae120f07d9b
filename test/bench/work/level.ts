import { Vector3 } from 'three';
import { boxMesh, merged, type Triangles, transformed } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

/** Walker of a level: a capsule about 1.8 units high, whose position is its foot. */
export const WALKER = { radius: 0.3, half: 0.6, skin: 0.006, stepHeight: 0.35, slope: Math.PI / 4, step: 1 / 60 };

/** Units between two vertices of the ground. */
const CELL = 0.4;
/** Units between the obstacles on the ground, which have 12 triangles each. */
const OBSTACLE_SPACING = 8;
/** Number of frames that a walker keeps its direction. */
const FRAMES_PER_DIRECTION = 40;
const DIRECTIONS = 8;
/** Units per second. */
const SPEED = 3;

export interface Level {
  mesh: Triangles;
  /** Half the side of the level. */
  half: number;
}

/** Rolling ground with stairs, walls and posts on it, of about `triangles` triangles. */
export function levelOf(random: Random, triangles: number): Level {
  const cells = Math.floor(Math.sqrt(triangles / 2.06));
  const half = (cells * CELL) / 2;
  const side = cells + 1;
  const positions = new Float32Array(side * side * 3);
  const indices = new Uint32Array(cells * cells * 6);
  for (let i = 0; i < side * side; i++) {
    const x = (i % side) * CELL - half;
    const z = Math.floor(i / side) * CELL - half;
    positions.set([x, heightAt(x, z) + random.range(-0.02, 0.02), z], 3 * i);
  }
  for (let cell = 0; cell < cells * cells; cell++) {
    const a = Math.floor(cell / cells) * side + (cell % cells);
    indices.set([a, a + side, a + 1, a + 1, a + side, a + side + 1], 6 * cell);
  }
  const parts: Triangles[] = [{ positions, indices }];
  const addPart = (part: Triangles, x: number, y: number, z: number) => {
    parts.push(transformed(part, (v) => v.add(new Vector3(x, heightAt(x, z) + y, z))));
  };
  for (let x = OBSTACLE_SPACING / 2 - half; x < half - 2; x += OBSTACLE_SPACING) {
    for (let z = OBSTACLE_SPACING / 2 - half; z < half - 2; z += OBSTACLE_SPACING) {
      const kind = random.integer(3);
      if (kind === 0) addPart(boxMesh(0.2, 4, random.range(2, 5)), x, 0, z);
      else if (kind === 1) addPart(boxMesh(random.range(0.2, 1), 4, random.range(0.2, 1)), x, 0, z);
      else for (let i = 0; i < 6; i++) addPart(boxMesh(2 - 0.3 * i, 0.5, 2), x + 0.15 * i, 0.22 * i, z);
    }
  }
  return { mesh: merged(parts), half };
}

/** Slopes are at most 25 degrees. */
function heightAt(x: number, z: number): number {
  return 2 * Math.sin(0.13 * x) * Math.cos(0.11 * z) + 0.4 * Math.sin(0.4 * x + 0.3 * z);
}

/** Start positions and paths of walkers. */
export interface Walk {
  count: number;
  /** xyz each, above the ground. */
  starts: Float64Array;
  /** Returns the velocity of a walker in a frame, xz. */
  wayOf(walker: number, frame: number): readonly [x: number, z: number];
}

export function walkOn({ half }: Level, random: Random, count: number): Walk {
  const starts = new Float64Array(3 * count);
  const angles = Float64Array.from({ length: count * DIRECTIONS }, () => random.range(-Math.PI, Math.PI));
  const halfRange = Math.max(half - 8, half / 2);
  for (let i = 0; i < count; i++) {
    // Between the obstacles.
    const [x, z] = [0, 0].map(
      () =>
        Math.round(random.range(-halfRange, halfRange) / OBSTACLE_SPACING) * OBSTACLE_SPACING -
        half +
        OBSTACLE_SPACING * Math.floor(half / OBSTACLE_SPACING),
    );
    starts.set([x + random.range(-0.5, 0.5), heightAt(x, z) + 1, z + random.range(-0.5, 0.5)], 3 * i);
  }
  return {
    count,
    starts,
    wayOf(walker, frame) {
      const angle = angles[walker * DIRECTIONS + (Math.floor(frame / FRAMES_PER_DIRECTION) % DIRECTIONS)];
      return [SPEED * Math.cos(angle), SPEED * Math.sin(angle)];
    },
  };
}

/** Number of frames in which walkers settle on the ground before they start. */
export const SETTLING_FRAMES = 40;

/**
 * A checksum of all positions and of the walkers on the ground: engines differ in how they slide, but not in how far a crowd
 * gets.
 */
export function walkChecksum(
  { count, starts }: Walk,
  positionOf: (walker: number) => ArrayLike<number>,
  standing: number,
) {
  let distance = 0;
  let height = 0;
  for (let i = 0; i < count; i++) {
    const position = positionOf(i);
    distance += Math.hypot(position[0] - starts[3 * i], position[2] - starts[3 * i + 2]);
    height += position[1] - starts[3 * i + 1] + 10;
  }
  return { way: distance / count, height: height / count, standing };
}

export const WALK_TOLERANCE = {
  of: { way: 0.1, height: 0.02, standing: 0.1 },
  because: 'each engine slides, climbs and stands by rules of its own',
};
