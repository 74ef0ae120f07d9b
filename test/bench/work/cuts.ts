import { Matrix4, Vector3 } from 'three';
import { bumpy } from '../../oracle/lumps.js';
import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';

/** Parts of one of a few meshes each, and planes that go through all of them: what is cut. */
export interface CutWork {
  meshes: Triangles[];
  /** 16 numbers each. */
  places: Float64Array;
  /** Four numbers each. */
  planes: Float64Array;
}

const MESHES = 10;
/** Half the edge of the cube in which the parts lie; each reaches about 1 from its middle. */
const HALF_SIZE = 15;
/** The detail of an icosphere of 980 triangles. */
const DETAIL = 6;

export function cutWork(parts: number, planeCount: number): CutWork {
  const random = new Random(1);
  const meshes = Array.from({ length: MESHES }, () => bumpy(random, DETAIL, 0.2));
  const places = new Float64Array(16 * parts);
  for (let i = 0; i < parts; i++) {
    new Matrix4()
      .compose(random.point(HALF_SIZE), random.rotation(), new Vector3(1, 1, 1))
      .toArray(places as unknown as number[], 16 * i);
  }
  const planes = new Float64Array(4 * planeCount);
  const { x, y, z } = new Vector3(0.2, 1, 0.1).normalize(); // as three wants it
  for (let i = 0; i < planeCount; i++) planes.set([x, y, z, HALF_SIZE * (1 - (2 * i + 1) / planeCount)], 4 * i);
  return { meshes, places, planes };
}
