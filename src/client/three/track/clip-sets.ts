import type { Plane, Vector3 } from 'three';
import { MAX_SET_PLANES } from '../../../shared/layout.js';
import type { Clips } from '../../../shared/protocol.js';
import { MAX_PLANE_CONSTANT, scalePlane } from '../../check/planes.js';
import { guardRead, invalidArgumentError } from '../../check/validate.js';
import type { MaterialCut } from './material-cut.js';

/** The clipping settings of three's renderers: `WebGLRenderer` has both. */
export interface ClippingRenderer {
  /** These cut everything, in world coordinates. */
  readonly clippingPlanes?: readonly Plane[];
  /** Whether the planes of materials cut. */
  readonly localClippingEnabled?: boolean;
  /** Every renderer of three has it. A WebGPURenderer has neither of the others. */
  readonly render?: unknown;
}

/** How materials cut objects; shared by many objects. */
interface SharedCut {
  readonly cut: MaterialCut;
  /** Identifies the planes, and whether they intersect. */
  readonly key: string;
  /** How many objects have it. */
  uses: number;
}

const NO_PLANES: readonly Plane[] = [];
/** The set of objects that only the renderer's planes cut. */
const RENDERER_SET = 1;

/**
 * The clip sets of a tracker's objects, by id: the planes of their materials and of the renderer. The planes are read for
 * each query, and sent with it.
 */
export class ClipSetTable {
  readonly #renderer: ClippingRenderer | undefined;
  /** The cuts by their set id minus 2. */
  readonly #cuts: (SharedCut | undefined)[] = [];
  /** Indices of `#cuts` by their keys, and the free ones: each clone of a material has its own planes, so there may be thousands. */
  readonly #indexByKey = new Map<string, number>();
  readonly #freeIndices: number[] = [];
  /** How many objects have triangles of several sets. */
  mixedCount = 0;

  constructor(renderer: ClippingRenderer | undefined) {
    this.#renderer = renderer;
  }

  /** Whether the renderer has planes, which cut everything. */
  get cutAll(): boolean {
    return guardRead('setView', 'the clipping planes', () => (this.#renderer?.clippingPlanes?.length ?? 0) > 0);
  }

  /** Returns the id of the set for a material, 0 for none; each call must be followed by a `release`. */
  hold(cut: MaterialCut | undefined): number {
    if (cut === undefined) return this.#renderer === undefined ? 0 : RENDERER_SET;
    if (cut.isExempt) return 0;
    const key = `${cut.isIntersection} ${cut.planes.map(planeIdOf)}`;
    let index = this.#indexByKey.get(key);
    if (index === undefined) {
      index = this.#freeIndices.pop() ?? this.#cuts.length;
      this.#cuts[index] = { cut, key, uses: 0 };
      this.#indexByKey.set(key, index);
    }
    this.#cuts[index]!.uses++;
    return index + RENDERER_SET + 1;
  }

  release(setId: number): void {
    if (setId <= RENDERER_SET) return;
    const index = setId - RENDERER_SET - 1;
    const sharedCut = this.#cuts[index]!;
    if (--sharedCut.uses > 0) return;
    this.#indexByKey.delete(sharedCut.key);
    this.#cuts[index] = undefined;
    this.#freeIndices.push(index);
  }

  /** Returns all sets as they are now; undefined if nothing is cut. */
  read(operation: string): Clips | undefined {
    return guardRead(operation, 'the clipping planes', () => {
      const renderer = this.#renderer;
      const rendererPlanes = (renderer?.clippingPlanes ?? NO_PLANES).slice();
      const materialsClip = renderer === undefined || renderer.localClippingEnabled === true;
      if (rendererPlanes.length === 0 && !(materialsClip && this.#cuts.some((sharedCut) => sharedCut !== undefined)))
        return undefined;
      // Set 0 is the query's own and is empty. Set 1 is the renderer's.
      const sets = [0, 0, 0, 0, 0, rendererPlanes.length, 0, 0];
      const planes = [...rendererPlanes];
      let maxCount = rendererPlanes.length;
      for (const sharedCut of this.#cuts) {
        const { planes: materialPlanes, isIntersection } =
          sharedCut !== undefined && materialsClip ? sharedCut.cut : UNCUT;
        const isUnion = !isIntersection;
        const unionCount = rendererPlanes.length + (isUnion ? materialPlanes.length : 0);
        sets.push(planes.length, unionCount, isUnion ? 0 : materialPlanes.length, 0);
        planes.push(...rendererPlanes, ...materialPlanes);
        maxCount = Math.max(maxCount, unionCount, materialPlanes.length);
      }
      if (maxCount > MAX_SET_PLANES) {
        throw invalidArgumentError(
          `${operation}: ${maxCount} clipping planes cut an object, expected at most ${MAX_SET_PLANES}`,
        );
      }
      return { sets: Uint32Array.from(sets), planes: Float64Array.from(planes.flatMap(coefficientsOf)) };
    });
  }
}

const planeIds = new WeakMap<Plane, number>();
let lastPlaneId = 0;

/** Returns a unique number for a plane; a value that is no object is identified by its text. */
function planeIdOf(plane: Plane): number | string {
  if (Object(plane) !== plane) return `!${String(plane)}`;
  const id = planeIds.get(plane) ?? ++lastPlaneId;
  planeIds.set(plane, id);
  return id;
}

const UNCUT: MaterialCut = { planes: NO_PLANES, isIntersection: false, isExempt: false };

/** Reads a plane as three's shader does: one with NaN cuts nothing, and one without a normal cuts everything or nothing. */
function coefficientsOf(given: Plane): readonly number[] {
  const plane = new Float64Array(4).fill(Number.NaN);
  try {
    const { x, y, z } = given.normal;
    plane.set([x, y, z, given.constant]);
  } catch {} // it is not comparable
  const isComparable = !plane.some(Number.isNaN) && plane.subarray(0, 3).every(Number.isFinite);
  if (!isComparable) return [1, 0, 0, MAX_PLANE_CONSTANT];
  if (plane[0] === 0 && plane[1] === 0 && plane[2] === 0)
    return [1, 0, 0, plane[3] < 0 ? -MAX_PLANE_CONSTANT : MAX_PLANE_CONSTANT];
  scalePlane(plane);
  return Array.from(plane);
}

/** Returns whether the set of that id cuts a point away, by the same rule as the core. */
export function isCutAway({ sets, planes }: Clips, setId: number, { x, y, z }: Vector3): boolean {
  if (setId === 0) return false;
  const [first = 0, unionCount = 0, intersectionCount = 0] = sets.subarray(4 * setId);
  const isBehind = (i: number): boolean => {
    const [a, b, c, w] = planes.subarray(4 * (first + i), 4 * (first + i) + 4);
    const terms = [a * x, b * y, c * z, w];
    const size = terms.reduce((sum, term) => sum + Math.abs(term), 0);
    return terms[0] + terms[1] + terms[2] + terms[3] < -ROUNDING * size;
  };
  for (let i = 0; i < unionCount; i++) if (isBehind(i)) return true;
  for (let i = 0; i < intersectionCount; i++) if (!isBehind(unionCount + i)) return false;
  return intersectionCount > 0;
}

/** Relative rounding error of a plane's value at a hit, as in the core (scene/query/clipping.ts). */
const ROUNDING = 2 ** -48;
