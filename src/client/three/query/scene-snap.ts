import { Vector3 } from 'three';
import type { FlatFace, Snap, Vec3 } from '../../../shared/types.js';
import { guardRead, throwInvalid } from '../../check/validate.js';
import type { Measurable } from '../../measure/features.js';
import { measure as measureFeatures } from '../../measure/measure.js';
import { toFaceIndices } from '../geometry/geometry.js';
import { hitObject, type Placement, seenBy } from '../track/scene-objects.js';
import { isFatLine } from '../track/stand-in.js';
import { elementIndexOf, faceAt, type SceneIntersection, type SceneSnap } from './intersection.js';

/** What can be measured: points, edges by their ends, faces, features that a pick snapped to, and what it hit. */
export type SceneMeasurable =
  | Vector3
  | { readonly a: Vector3; readonly b: Vector3 }
  | FlatFace
  | SceneSnap
  | SceneIntersection;

/** The relation of two features, as in the service's `Measure`. */
export interface SceneMeasure {
  distance: number;
  pointA: Vector3;
  pointB: Vector3;
  angle: number | null;
  gap: number | null;
}

/** Converts the feature that a hit snapped to into the terms of the scene. `queryId`: the query's number. */
export function sceneSnapOf(snap: Snap, placement: Placement, queryId: number): SceneSnap {
  const { kind, pixels, element, radius, axis, face } = snap;
  const mesh = seenBy(placement, queryId);
  const { instanceId } = placement;
  const object = hitObject(placement, mesh);
  if (mesh && face) toFaceIndices(mesh.runs, face.triangles, 0, 1);
  return {
    kind,
    object,
    ...(instanceId !== undefined && { instanceId }),
    point: new Vector3(...snap.point),
    pixels,
    a: new Vector3(...snap.a),
    b: new Vector3(...snap.b),
    ...(mesh &&
      element >= 0 &&
      (mesh.primitive === 'triangles'
        ? { faceIndex: faceAt(mesh, element).faceIndex! }
        : isFatLine(object)
          ? { faceIndex: element }
          : { index: elementIndexOf(mesh, element) })),
    ...(axis && { radius: radius!, axis: new Vector3(...axis) }),
    ...(face && { face }),
  };
}

/**
 * Measures two features of picks in the scene, as `measure` of `collision-worker` does.
 *
 * ```ts
 * const a = await tracker.pick(x1, y1, { snap: ['vertex', 'edge', 'face'] });
 * const b = await tracker.pick(x2, y2, { snap: ['vertex', 'edge', 'face'] });
 * if (a && b) line.geometry.setFromPoints([measure(a, b).pointA, measure(a, b).pointB]);
 * ```
 */
export function measure(a: SceneMeasurable, b: SceneMeasurable): SceneMeasure {
  const { pointA, pointB, ...rest } = measureFeatures(toMeasurable('a', a), toMeasurable('b', b));
  return { ...rest, pointA: new Vector3(...pointA), pointB: new Vector3(...pointB) };
}

/** Reads vectors as numbers; `measure` reports what is wrong with them. */
function toMeasurable(argument: string, given: SceneMeasurable): Measurable {
  return guardRead('measure', argument, () => {
    if (typeof given !== 'object' || given === null) throwInvalid('measure', argument, given, EXPECTED);
    if ((given as Vector3).isVector3) return vec3(given as Vector3);
    const { snap } = given as SceneIntersection;
    const { kind, face, corners, point, a, b } = (snap ?? given) as Partial<SceneSnap & FlatFace>;
    if (corners !== undefined) return { corners } as FlatFace;
    if (kind === 'face') return { kind, face } as Snap;
    const isEdge = kind === 'edge' || (kind === undefined && a !== undefined);
    if (isEdge) return { a: vec3(a as Vector3), b: vec3(b as Vector3) };
    if (point === undefined) throwInvalid('measure', argument, given, EXPECTED);
    return vec3(point);
  });
}

const EXPECTED = 'a Vector3, an edge, a face, a snap or an intersection';

function vec3({ x, y, z }: Vector3): Vec3 {
  return [x, y, z];
}
