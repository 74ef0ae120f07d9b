import { gap, type Point, rayHits, type Solid } from './solids.js';

/** Nothing is asked of answers that hang on less. */
export const DOUBT = 1e-4;

export interface Thing {
  /** Of the shape, without its place and scale. */
  kind: Solid['kind'];
  size: Point;
  /** Of a surface: which mesh, that may have been scaled since. */
  mesh: number;
  scale: number;
  place: Point;
  layers: number;
  group: number;
}

/** The scene as it is after some operation. Never changes. */
export interface World {
  readonly things: ReadonlyMap<number, Thing>;
  /** By mesh: how much its vertices are scaled. */
  readonly meshes: ReadonlyMap<number, number>;
}

export const EMPTY: World = { things: new Map(), meshes: new Map() };

export function solidOf({ meshes }: World, { kind, size, mesh, scale, place }: Thing): Solid {
  const factor = scale * (kind === 'surface' ? (meshes.get(mesh) ?? 1) : 1);
  return { kind, center: place, half: [size[0] * factor, size[1] * factor, size[2] * factor] };
}

/** Whether `pairs` (a:b) are those of the world, but for such as are in doubt. */
export function arePairs(world: World, pairs: ReadonlySet<string>): boolean {
  const things = [...world.things]
    .sort(([a], [b]) => a - b)
    .map(([id, thing]) => ({ id, thing, solid: solidOf(world, thing) }));
  const known = new Set<string>();
  for (let i = 0; i < things.length; i++) {
    for (let j = i + 1; j < things.length; j++) {
      const [a, b] = [things[i], things[j]];
      const key = `${a.id}:${b.id}`;
      known.add(key);
      const mayMeet = a.thing.group === 0 || a.thing.group !== b.thing.group;
      const apart = gap(a.solid, b.solid);
      if (mayMeet && Math.abs(apart) < DOUBT) continue;
      if ((mayMeet && apart < 0) !== pairs.has(key)) return false;
    }
  }
  return [...pairs].every((key) => known.has(key));
}

/** Whether a ray's answer is right: the object hit first and how far away, or null. */
export function isFirstHit(
  world: World,
  origin: Point,
  direction: Point,
  layers: number,
  answer: { object: number; distance: number } | null,
): boolean {
  let nearest = Infinity;
  let isInDoubt = false;
  let own = Infinity;
  for (const [id, thing] of world.things) {
    if (!(thing.layers & layers)) continue;
    const { hits, doubt } = rayHits(solidOf(world, thing), origin, direction);
    if (doubt < DOUBT) isInDoubt = true;
    const [first = Infinity] = hits;
    nearest = Math.min(nearest, first);
    if (id === answer?.object) own = first;
  }
  if (isInDoubt) return true;
  if (answer === null) return nearest === Infinity;
  return Math.abs(answer.distance - nearest) < DOUBT && Math.abs(own - nearest) < DOUBT;
}

/** Whether `ids` are what meets a solid. */
export function areMet(world: World, solid: Solid, ids: readonly number[]): boolean {
  const found = new Set(ids);
  for (const [id, thing] of world.things) {
    const apart = gap(solidOf(world, thing), solid);
    if (Math.abs(apart) >= DOUBT && apart < 0 !== found.has(id)) return false;
  }
  return ids.every((id) => world.things.has(id));
}

/** Whether `ids` are what has its bounds in a box about the origin. */
export function areSeen(world: World, half: Point, ids: ReadonlySet<number>): boolean {
  const frustum: Solid = { kind: 'box', center: [0, 0, 0], half };
  for (const [id, thing] of world.things) {
    const apart = gap({ ...solidOf(world, thing), kind: 'box' }, frustum);
    if (Math.abs(apart) >= DOUBT && apart < 0 !== ids.has(id)) return false;
  }
  return [...ids].every((id) => world.things.has(id));
}
