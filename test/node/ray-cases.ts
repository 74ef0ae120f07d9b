import type { Vec3 } from 'collision-worker';

/** A ray, and what it meets. */
export interface RayCase {
  name: string;
  origin: Vec3;
  direction: Vec3;
  distances: number[];
  /** None where a ray meets an edge or a vertex, which has several. */
  normals: Vec3[];
}

const HAIR = 2 ** -20;
const [R2, R3, R5, R6] = [2, 3, 5, 6].map(Math.sqrt);

/** Radius 2. */
export const BALL_CASES = casesOf(`
  along x                     | -5 0 0         | 1 0 0    | 3 7                         | -1 0 0, 1 0 0
  against y                   | 0 5 0          | 0 -9 0   | 3 7                         | 0 1 0, 0 -1 0
  along z                     | 0 0 -5         | 0 0 1e-3 | 3 7                         | 0 0 -1, 0 0 1
  with one zero               | -3 -3 0        | 1 1 0    | ${3 * R2 - 2} ${3 * R2 + 2} | ${-R2 / 2} ${-R2 / 2} 0, ${R2 / 2} ${R2 / 2} 0
  beside the middle           | -5 1 0         | 1 0 0    | ${5 - R3} ${5 + R3}         | ${-R3 / 2} 0.5 0, ${R3 / 2} 0.5 0
  tangent                     | 2 -5 0         | 0 1 0    | 5 5                         | 1 0 0, 1 0 0
  a hair beside               | ${2 + HAIR} -5 0 | 0 1 0  |                             |
  from the middle             | 0 0 0          | 0 0 -1   | 2                           | 0 0 -1
  from inside                 | 0 0 1          | 1 0 0    | ${R3}                       | ${R3 / 2} 0 0.5
  from the surface, inwards   | -2 0 0         | 1 0 0    | 0 4                         | -1 0 0, 1 0 0
  from the surface, outwards  | 2 0 0          | 1 0 0    | 0                           | 1 0 0
  from the surface, along it  | 0 2 0          | 1 0 0    | 0 0                         | 0 1 0, 0 1 0
  away                        | 5 0 0          | 1 0 0    |                             |
`);

/** Radius 1, from z = -1 to z = 1. */
export const CAPSULE_CASES = casesOf(`
  along its axis              | 0 0 -5         | 0 0 1    | 3 7                         | 0 0 -1, 0 0 1
  along its side              | 1 0 -5         | 0 0 1    | 4 6                         | 1 0 0, 1 0 0
  a hair beside its side      | ${1 + HAIR} 0 -5 | 0 0 1  |                             |
  beside its axis             | 0.6 0 5        | 0 0 -1   | 3.2 6.8                     | 0.6 0 0.8, 0.6 0 -0.8
  across                      | -5 0 0.5       | 1 0 0    | 4 6                         | -1 0 0, 1 0 0
  across where the end begins | 0 5 1          | 0 -1 0   | 4 6                         | 0 1 0, 0 -1 0
  across an end               | -5 0 1.6       | 1 0 0    | 4.2 5.8                     | -0.8 0 0.6, 0.8 0 0.6
  in by an end, out by a side | 0 0 3          | 1 0 -2   | ${3 / R5} ${R5}             | 0.6 0 0.8, 1 0 0
  tangent to an end           | -5 0 2         | 1 0 0    | 5 5                         | 0 0 1, 0 0 1
  a hair above                | -5 0 ${2 + HAIR} | 1 0 0  |                             |
  tangent to a side, aslant   | 1 -5 -5        | 0 1 1    | ${5 * R2} ${5 * R2}         | 1 0 0, 1 0 0
  from the middle             | 0 0 0          | 0 1 0    | 1                           | 0 1 0
  from there along its axis   | 0 0 0          | 0 0 1    | 2                           | 0 0 1
  from the surface, inwards   | -1 0 0         | 1 0 0    | 0 2                         | -1 0 0, 1 0 0
  from the surface, outwards  | 1 0 0          | 1 0 0    | 0                           | 1 0 0
  from a side, along it       | 1 0 0          | 0 0 1    | 1                           | 1 0 0
  away                        | 0 0 5          | 0 0 1    |                             |
`);

/** Half extents 1, 1 and 2. */
export const BOX_CASES = casesOf(`
  along x                     | -5 0 0         | 1 0 0    | 4 6                         | -1 0 0, 1 0 0
  against z                   | 0.5 0.25 5     | 0 0 -3   | 3 7                         | 0 0 1, 0 0 -1
  with one zero               | -3 0.25 -1     | 1 0 1    | ${2 * R2} ${3 * R2}         | -1 0 0, 0 0 1
  in the plane of a face      | 1 0.25 -5      | 0 0 1    | 3 7                         | 0 0 -1, 0 0 1
  along an edge               | 1 1 -5         | 0 0 1    | 3 7                         |
  a hair beside a face        | ${1 + HAIR} 0 -5 | 0 0 1  |                             |
  touching an edge            | -2 0 0.5       | 1 1 0    | ${R2}                       |
  through two edges           | -3 -3 0.5      | 1 1 0    | ${2 * R2} ${4 * R2}         |
  touching a vertex           | 0 2 2          | 1 -1 0   | ${R2}                       |
  through two vertices        | -2 -2 -4       | 1 1 2    | ${R6} ${3 * R6}             |
  from the middle             | 0 0.25 0.125   | 1 0 0    | 1                           | 1 0 0
  from there to a vertex      | 0 0 0          | 1 1 2    | ${R6}                       |
  from the surface, inwards   | -1 0.25 0.125  | 1 0 0    | 0 2                         | -1 0 0, 1 0 0
  from the surface, outwards  | 1 0.25 0.125   | 1 0 0    | 0                           | 1 0 0
  from a face, along it       | 1 0.25 0       | 0 0 1    | 2                           | 0 0 1
  from a vertex, inwards      | 1 1 2          | -1 -1 -2 | 0 ${2 * R6}                 |
  away                        | 0 0 5          | 0 0 1    |                             |
`);

function casesOf(table: string): RayCase[] {
  const numbers = (text: string) => text.trim().split(/\s+/).filter(Boolean).map(Number);
  const vector = (text: string) => numbers(text) as unknown as Vec3;
  const lines = table.trim().split('\n');
  return lines.map((line) => {
    const [name, origin, direction, distances, normals] = line.split('|').map((cell) => cell.trim());
    return {
      name,
      origin: vector(origin),
      direction: vector(direction),
      distances: numbers(distances),
      normals: normals ? normals.split(',').map(vector) : [],
    };
  });
}
