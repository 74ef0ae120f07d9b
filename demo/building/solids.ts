/** A closed mesh, in metres. Many parts share one solid. */
export interface Solid {
  readonly name: string;
  /** xyz of each vertex. */
  readonly positions: Float32Array;
  /** Three per triangle, counter-clockwise from outside. */
  readonly indices: Uint32Array;
}

type Point = readonly [x: number, y: number, z: number];

/**
 * Extrudes a profile of rectangles from z = `near` to `near + depth`. Cell (i, j) spans `xs[i]` to `xs[i + 1]` and, with rows
 * counted from the top as they are read, two neighbours of `ys`, which ascend. `#` is filled. Cells must not touch at a corner
 * only.
 */
export function extrude(
  name: string,
  xs: readonly number[],
  ys: readonly number[],
  rows: readonly string[],
  depth: number,
  near = 0,
): Solid {
  const mesher = new Mesher();
  const isFilled = (i: number, j: number): boolean => rows[ys.length - 2 - j]?.[i] === '#';
  const corner = (i: number, j: number, front: number): number =>
    mesher.vertex([xs[i], ys[j], near + front * depth], (front * ys.length + j) * xs.length + i);
  for (let j = 0; j < ys.length - 1; j++) {
    for (let i = 0; i < xs.length - 1; i++) {
      if (!isFilled(i, j)) continue;
      const [i1, j1] = [i + 1, j + 1];
      mesher.quad(corner(i, j, 1), corner(i1, j, 1), corner(i1, j1, 1), corner(i, j1, 1));
      mesher.quad(corner(i, j1, 0), corner(i1, j1, 0), corner(i1, j, 0), corner(i, j, 0));
      if (!isFilled(i - 1, j)) mesher.quad(corner(i, j, 0), corner(i, j, 1), corner(i, j1, 1), corner(i, j1, 0));
      if (!isFilled(i1, j)) mesher.quad(corner(i1, j, 1), corner(i1, j, 0), corner(i1, j1, 0), corner(i1, j1, 1));
      if (!isFilled(i, j - 1)) mesher.quad(corner(i, j, 0), corner(i1, j, 0), corner(i1, j, 1), corner(i, j, 1));
      if (!isFilled(i, j1)) mesher.quad(corner(i, j1, 1), corner(i1, j1, 1), corner(i1, j1, 0), corner(i, j1, 0));
    }
  }
  return mesher.solid(name);
}

/** The box from (-½, -½, 0) to (½, ½, 1), scaled by its size. */
export function box(name: string, width = 1, height = 1, depth = 1): Solid {
  return extrude(name, [-width / 2, width / 2], [-height / 2, height / 2], ['#'], depth);
}

/** A hollow pipe from z = 0 to 1. */
export function tube(name: string, radius: number, wall: number, sides: number): Solid {
  const ends = [0, 1].map((z) => ({ centre: [0, 0, z] as Point, aside: [1, 0, 0] as Point }));
  return hollow(name, ends, radius, wall, sides);
}

/** A 90° pipe bend: it starts at the origin along +z and ends along +x, at (bend, 0, bend). */
export function elbow(name: string, radius: number, wall: number, bend: number, sides: number, steps: number): Solid {
  const sections = Array.from({ length: steps + 1 }, (_, i) => {
    const [sin, cos] = [Math.sin((i * Math.PI) / 2 / steps), Math.cos((i * Math.PI) / 2 / steps)];
    return { centre: [bend - bend * cos, 0, bend * sin] as Point, aside: [cos, 0, -sin] as Point };
  });
  return hollow(name, sections, radius, wall, sides);
}

/** A surface of revolution about the z axis with a cap at each end; `profile` has the radius and z of each ring. */
export function lathe(name: string, profile: readonly (readonly [radius: number, z: number])[], sides: number): Solid {
  const mesher = new Mesher();
  const rings = profile.map(([radius, z]) =>
    ring([0, 0, z], [1, 0, 0], radius, sides).map((each) => mesher.vertex(each)),
  );
  for (let r = 0; r + 1 < rings.length; r++) mesher.band(rings[r], rings[r + 1]);
  const [first, last] = [rings[0], rings.at(-1)!];
  const [below, above] = [profile[0], profile.at(-1)!].map(([, z]) => mesher.vertex([0, 0, z]));
  for (let i = 0; i < sides; i++) {
    const next = (i + 1) % sides;
    mesher.triangle(below, first[next], first[i]);
    mesher.triangle(above, last[i], last[next]);
  }
  return mesher.solid(name);
}

/** Builds the outer surface along the sections, and the inner one back. */
function hollow(
  name: string,
  sections: readonly { centre: Point; aside: Point }[],
  radius: number,
  wall: number,
  sides: number,
): Solid {
  const mesher = new Mesher();
  const ringsOf = (ringRadius: number): number[][] =>
    sections.map(({ centre, aside }) => ring(centre, aside, ringRadius, sides).map((each) => mesher.vertex(each)));
  const rings = [...ringsOf(radius), ...ringsOf(radius - wall).reverse()];
  for (let i = 0; i < rings.length; i++) mesher.band(rings[i], rings[(i + 1) % rings.length]);
  return mesher.solid(name);
}

/** Points on a circle around a centre, in the plane of `aside` and y. */
function ring(center: Point, aside: Point, radius: number, sides: number): Point[] {
  return Array.from({ length: sides }, (_, i) => {
    const angle = (2 * Math.PI * i) / sides;
    const [out, up] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return [center[0] + out * aside[0], center[1] + out * aside[1] + up, center[2] + out * aside[2]];
  });
}

/** Collects vertices and triangles in order of arrival. */
class Mesher {
  readonly #positions: number[] = [];
  readonly #indices: number[] = [];
  readonly #vertexByKey = new Map<number, number>();

  /** Returns the vertex's number. A vertex with a key is made only once. */
  vertex(position: Point, key?: number): number {
    const existing = key === undefined ? undefined : this.#vertexByKey.get(key);
    if (existing !== undefined) return existing;
    const index = this.#positions.length / 3;
    this.#positions.push(...position);
    if (key !== undefined) this.#vertexByKey.set(key, index);
    return index;
  }

  triangle(a: number, b: number, c: number): void {
    this.#indices.push(a, b, c);
  }

  quad(a: number, b: number, c: number, d: number): void {
    this.#indices.push(a, b, c, a, c, d);
  }

  /** Triangulates between two rings, which wind counter-clockwise about the direction from the first to the second. */
  band(from: readonly number[], to: readonly number[]): void {
    from.forEach((each, i) => {
      const next = (i + 1) % from.length;
      this.quad(each, from[next], to[next], to[i]);
    });
  }

  solid(name: string): Solid {
    return { name, positions: Float32Array.from(this.#positions), indices: Uint32Array.from(this.#indices) };
  }
}
