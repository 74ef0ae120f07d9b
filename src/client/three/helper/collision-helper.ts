import { Matrix3, type Vector3 } from 'three';
import type { BoxPalette, ColouredLines } from '../../../shared/coloured-boxes.js';
import { MAX_OBJECTS } from '../../../shared/layout.js';
import type { ContactSet, Inspection, InspectOptions, Rect, Vec3, ViewOptions } from '../../../shared/types.js';
import {
  checkBoolean,
  checkInteger,
  checkPositive,
  guardRead,
  readOptions,
  throwInvalid,
} from '../../check/validate.js';
import { type SceneIntersection, worldMatrixOf } from '../query/intersection.js';
import type { SceneTarget } from '../scene-target.js';
import type { SceneTracker } from '../scene-tracker.js';
import { nameOf } from '../track/name-of.js';
import type { SceneFrame } from '../view/scene-frame.js';
import { LineSet } from './line-set.js';
import { NameLabel } from './name-label.js';
import { SceneHelper } from './scene-helper.js';
import { frustumEdgeEnds, pixelRayEnds } from './view-lines.js';

export interface CollisionHelperOptions {
  /** Objects of the scene, or instances, whose trees are drawn as boxes. Default none. */
  trees?: readonly SceneTarget[];
  /** The first and the last level of these trees; default [1, 4]. Level 0 is the object's oriented bounds. */
  levels?: readonly [number, number];
  /** The cells of the octrees. Default false. */
  octree?: boolean;
  /**
   * The bounds of all objects: green inside the view, yellow crossing its border, grey outside, blue if nearer objects hide them
   * (in a view with `occlusion`); darker for static objects. Violet objects are asleep: they may move, but did not in the last
   * frame. Default false.
   */
  bounds?: boolean;
  /** Points of contact with their normals and, in red, depths; and the segments of triangles. Default true. */
  contacts?: boolean;
  /** Rays of picks and of `raycast`, and what they hit. Default true. */
  hits?: boolean;
  /** The name of what was hit, shown beside the hit: on hover, too. Default true. */
  names?: boolean;
  /** The region that `pickRegion` has cut out last. Default true. */
  regions?: boolean;
  /** Names of views whose frusta are drawn. Default none. */
  views?: readonly string[];
  /** The length of the normals of contacts and hits, in world units. Default 0.5. */
  normalLength?: number;
  /** Maximum number of boxes of each tree, of the cells and of the bounds. Default 8,192. */
  maxBoxes?: number;
}

const KEYS: readonly string[] = [
  ...[
    'trees',
    'levels',
    'octree',
    'bounds',
    'contacts',
    'hits',
    'names',
    'regions',
    'views',
    'normalLength',
    'maxBoxes',
  ],
];

const [RED, YELLOW, GREEN, BLUE, WHITE] = [
  [255, 60, 60, 255],
  [255, 220, 60, 255],
  [60, 220, 100, 255],
  [80, 160, 255, 255],
  [255, 255, 255, 255],
];
const VIOLET = [150, 110, 255, 255];
const MAGENTA = [230, 80, 230, 255];
const GREY = [150, 150, 150, 255];
const darken = (colour: readonly number[]): number[] => colour.map((each, i) => (i < 3 ? each >> 1 : each));

/** Outside, crossing, inside, occluded. */
const STATE_COLOURS = [GREY, YELLOW, GREEN, BLUE];

const PALETTE: BoxPalette = {
  levels: Uint8Array.from([WHITE, RED, YELLOW, GREEN, BLUE, MAGENTA].flat()),
  cells: Uint8Array.from([YELLOW, BLUE, GREY].flat()),
  states: Uint8Array.from(
    [...STATE_COLOURS, ...STATE_COLOURS.map(darken), darken(VIOLET), VIOLET, VIOLET, darken(BLUE)].flat(),
  ),
};

/**
 * Draws what the worker sees: boxes of trees, cells, bounds, contacts, hits and regions, as `LineSegments`. Add it to the scene
 * itself, or to an object without a transform; the tracker ignores it, and nothing hits it.
 *
 * ```ts
 * const helper = new CollisionHelper(tracker, { bounds: true, trees: [mesh], views: ['map'] });
 * scene.add(helper);
 * ```
 *
 * It follows the frames that are answered anyway. The worker makes the lines of boxes, at most one answer at a time, in float32
 * relative to the eye. While it is not `visible`, or after it is disposed of, it asks for nothing.
 *
 * `hitName` is the name of what was hit last. Errors are reported once in the console.
 */
export class CollisionHelper extends SceneHelper {
  /** The name of what the last pick or ray hit, with the number of an instance; empty if it hit nothing. */
  hitName = '';
  readonly #options: CollisionHelperOptions;
  readonly #cells = new LineSet();
  readonly #bounds = new LineSet();
  readonly #contacts = new LineSet();
  readonly #ray = new LineSet();
  readonly #region = new LineSet();
  readonly #label = new NameLabel();
  readonly #trees: LineSet[] = [];
  readonly #frusta = new Map<string, LineSet>();

  /** Throws INVALID_ARGUMENT, and DISPOSED if the tracker is disposed. */
  constructor(tracker: SceneTracker, options: CollisionHelperOptions = {}) {
    const operation = 'CollisionHelper';
    const given = readOptions(operation, 'options', options, KEYS);
    for (const key of ['octree', 'bounds', 'contacts', 'hits', 'names', 'regions'] as const) {
      if (given[key] !== undefined) checkBoolean(operation, key, given[key]);
    }
    const { normalLength = 0.5, trees = [], views = [] } = given;
    checkPositive(operation, 'normalLength', normalLength);
    const lists = guardRead(operation, 'the arguments', () => ({
      trees: copyArray(operation, 'trees', trees, 'an array of objects of the scene'),
      views: copyArray(operation, 'views', views, 'an array of names of views'),
    }));
    super(operation, tracker);
    this.#options = { ...given, normalLength, ...lists };
    this.add(this.#cells, this.#bounds, this.#contacts, this.#ray, this.#region, this.#label);
  }

  protected release(): void {
    for (const each of this.children) (each as LineSet | NameLabel).dispose();
  }

  /** @internal */
  answered(frame: SceneFrame): void {
    if (!this.visible) return;
    const { contacts = true, octree, bounds, trees, views } = this.#options;
    if (contacts) this.#showContacts(frame.result.contacts);
    for (const name of views!) this.#showFrustum(name);
    if (octree || bounds || trees!.length > 0) this.#inspect();
  }

  /** @internal */
  picked(view: ViewOptions | null, x: number, y: number, hit: SceneIntersection | null): void {
    if (view === null) return;
    const [near, far] = pixelRayEnds(view, x, y);
    this.#showRay(near, far, hit);
  }

  /** @internal */
  cast(from: Vector3, direction: Vector3, hit: SceneIntersection | null): void {
    const length = hit === null ? 1e4 : hit.distance;
    this.#showRay(from, from.clone().addScaledVector(direction.clone().normalize(), length), hit);
  }

  /** @internal */
  cut(view: ViewOptions | null, region: Rect | Float32Array): void {
    if (view === null || !this.visible || this.isOver || this.#options.regions === false) return;
    this.#region.showEnds(frustumEdgeEnds(view, region), MAGENTA);
  }

  #showRay(from: Vector3, to: Vector3, hit: SceneIntersection | null): void {
    if (!this.visible || this.isOver) return;
    const instance = hit?.instanceId ?? hit?.batchId;
    this.hitName = hit === null ? '' : `${nameOf(hit.object)}${instance === undefined ? '' : ` [${instance}]`}`;
    const { hits = true, names = true } = this.#options;
    const view = this.tracker.viewOf()?.options;
    if (names && view !== undefined) this.#label.show(this.hitName, hit?.point ?? to, view);
    if (!hits) return;
    const ends = [from, hit?.point ?? to];
    // A cross, because whoever has picked looks along the ray.
    for (const axis of hit === null ? [] : (['x', 'y', 'z'] as const)) {
      for (const side of [-0.25, 0.25]) {
        const end = hit!.point.clone();
        end[axis] += side * this.#options.normalLength!;
        ends.push(end);
      }
    }
    const normal = hit?.face?.normal;
    if (hit !== null && normal !== undefined) {
      const toWorld = new Matrix3().getNormalMatrix(worldMatrixOf(hit.object, instance));
      const worldNormal = normal.clone().applyNormalMatrix(toWorld);
      ends.push(hit.point, hit.point.clone().addScaledVector(worldNormal, this.#options.normalLength!));
    }
    this.#ray.showEnds(ends, hit === null ? GREY : WHITE);
  }

  #showFrustum(name: string): void {
    const view = this.tracker.viewOf(name)?.options ?? null;
    let lineSet = this.#frusta.get(name);
    if (lineSet === undefined) {
      lineSet = new LineSet();
      this.#frusta.set(name, lineSet);
      this.add(lineSet);
    }
    lineSet.showEnds(view === null ? [] : frustumEdgeEnds(view), BLUE);
  }

  /** Draws copies of a frame's contacts, because the arrays are the frame's own. */
  #showContacts({ points, normals, depths, segments }: ContactSet): void {
    const [x, y, z] = points.length > 0 ? points : segments;
    const length = this.#options.normalLength!;
    const count = depths.length;
    const lines = new Float32Array(12 * count + segments.length);
    const colours = new Uint8Array((4 * lines.length) / 3);
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < 3; k++) {
        const from = points[3 * i + k] - [x, y, z][k];
        const normal = normals[3 * i + k];
        lines[12 * i + k] = lines[12 * i + 6 + k] = from;
        lines[12 * i + 3 + k] = from + length * normal;
        lines[12 * i + 9 + k] = from + depths[i] * normal;
      }
      colours.set([...BLUE, ...BLUE, ...RED, ...RED], 16 * i);
    }
    for (let i = 0; i < segments.length; i++) lines[12 * count + i] = segments[i] - [x, y, z][i % 3];
    for (let i = 16 * count; i < colours.length; i += 4) colours.set(YELLOW, i);
    this.#contacts.show({ lines, colours }, [x ?? 0, y ?? 0, z ?? 0]);
  }

  /** Asks for boxes; later changes are asked for by the frame after the answer. */
  #inspect(): void {
    const { octree = false, bounds = false, trees, levels = [1, 4], maxBoxes = 8192 } = this.#options;
    const inspect = (signal: AbortSignal): Promise<Inspection> => {
      const objects = trees!.flatMap((target) => this.tracker.targetIds(target));
      const request: InspectOptions & { palette: BoxPalette } = {
        ...{ octree, bounds, objects, levels, maxBoxes, lines: true, palette: PALETTE },
        ...{ views: [this.tracker.viewName], signal },
      };
      const eye = this.tracker.viewOf()?.camera.matrixWorld.elements;
      if (eye !== undefined) request.origin = [eye[12], eye[13], eye[14]];
      return this.tracker.service.inspect(request);
    };
    void this.ask(inspect, (answer) => this.#show(answer));
  }

  #show({ origin, cells, bounds, trees }: Inspection): void {
    this.#cells.show((cells ?? {}) as ColouredLines, origin as Vec3);
    this.#bounds.show((bounds ?? {}) as ColouredLines, origin as Vec3);
    while (this.#trees.length < trees.length) {
      const lineSet = new LineSet();
      this.#trees.push(lineSet);
      this.add(lineSet);
    }
    this.#trees.forEach((lineSet, i) => {
      lineSet.show((trees[i] ?? {}) as ColouredLines, origin as Vec3);
    });
  }
}

/** Copies an array by its indices, because an iterator of it may never end. */
function copyArray<T>(operation: string, argument: string, given: readonly T[], expected: string): T[] {
  if (!Array.isArray(given)) throwInvalid(operation, argument, given, expected);
  const { length } = given;
  checkInteger(operation, `the length of ${argument}`, length, 0, MAX_OBJECTS);
  return Array.from({ length }, (_, i) => given[i]);
}
