import { Matrix4, Vector3 } from 'three';
import { bumpyBall } from '../../oracle/lumps.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';

/** Parts, each of one of a few meshes, and planes that cut through all of them. */
export interface SectionWork {
  meshes: Triangles[];
  /** 16 numbers per part. */
  places: Float64Array;
  /** Four numbers per plane. */
  planes: Float64Array;
}

const MESHES = 10;
/** Half the edge of the cube that contains the parts; each extends about 1 from its centre. */
const HALF_SIZE = 15;
/** Subdivision of an icosphere of 980 triangles. */
const DETAIL = 6;

export function sectionWork(parts: number, planeCount: number): SectionWork {
  const random = new Random(1);
  const meshes = Array.from({ length: MESHES }, () => bumpyBall(random, DETAIL, 0.2));
  const places = new Float64Array(16 * parts);
  for (let i = 0; i < parts; i++) {
    new Matrix4()
      .compose(random.point(HALF_SIZE), random.rotation(), new Vector3(1, 1, 1))
      .toArray(places as unknown as number[], 16 * i);
  }
  const planes = new Float64Array(4 * planeCount);
  const { x, y, z } = new Vector3(0.2, 1, 0.1).normalize(); // normalized, as three requires
  for (let i = 0; i < planeCount; i++) planes.set([x, y, z, HALF_SIZE * (1 - (2 * i + 1) / planeCount)], 4 * i);
  return { meshes, places, planes };
}
