import { type BufferAttribute, BufferGeometry, CylinderGeometry, Vector3 } from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import { boxMesh, icosphere, type Triangles, welded } from './meshes.js';
import type { Random } from './random.js';

/** Closed and convex meshes: a plate, a ball, a truncated cone, and then hulls of points. */
export function randomHull(random: Random, i: number): Triangles {
  if (i === 0) return boxMesh(1, 0.3, 2);
  if (i === 1) return icosphere(1, 2);
  if (i === 2) return welded(new CylinderGeometry(1, 0.7, 1.5, 24));
  const points = Array.from({ length: 4 + random.integer(40) }, () =>
    round32(random.chance(0.5) ? random.direction() : random.point(1)),
  );
  return hullOf(points);
}

function hullOf(points: Vector3[]): Triangles {
  const positions = new ConvexGeometry(points).getAttribute('position') as BufferAttribute;
  return welded(
    new BufferGeometry()
      .setAttribute('position', positions)
      .setAttribute('normal', positions.clone())
      .setAttribute('uv', positions.clone()),
  );
}

function round32(point: Vector3): Vector3 {
  return new Vector3(...point.toArray().map(Math.fround));
}

/** The convex hull of `count` random points of the unit sphere, each of which is a vertex. */
export function hullOfDirections(random: Random, count: number): Triangles {
  return hullOf(Array.from({ length: count }, () => round32(random.direction())));
}
