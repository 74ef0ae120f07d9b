import type { Plane } from 'three';
import type { Section, SectionOptions } from '../../../shared/types.js';
import { invalid, reading } from '../../check/validate.js';
import { toFaces } from '../geometry/geometry.js';
import type { Placement, SceneObject, SceneObjects } from '../track/scene-objects.js';
import { seenBy } from '../track/scene-objects.js';
import type { SceneQueryOptions } from './scene-options.js';

/** The service's options, with objects of the scene instead of ids. */
export interface SceneSectionOptions
  extends Omit<SceneQueryOptions, 'clip' | 'clipIntersection'>,
    Pick<SectionOptions, 'weld' | 'roundPoints' | 'caps'> {}

/** Where a plane cuts the scene. The arrays are as in the service's {@link Section}. */
export interface SceneSection extends Omit<Section, 'objects'> {
  /** The object or instance of each outline. */
  objects: SceneObject[];
  /** For each point the face of its object, as `faceIndex` of three's Intersection; -1 where it is -1 in the service's section. */
  triangles: Int32Array;
}

/** Reads three's Plane, or four numbers, in the form that the service takes. */
export function readPlane(operation: string, given: Plane | ArrayLike<number>): ArrayLike<number> {
  return reading(operation, 'plane', () => {
    if (typeof given !== 'object' || given === null) invalid(operation, 'plane', given, 'a Plane or four numbers');
    const plane = given as Plane;
    if (plane.normal === undefined) return given as ArrayLike<number>;
    return [plane.normal.x, plane.normal.y, plane.normal.z, plane.constant];
  });
}

/** Converts a section to the terms of the scene, without objects of others. `query`: the query's number. */
export function sceneSection(section: Section, scene: SceneObjects, query: number): SceneSection {
  const placements = Array.from(section.objects, (id) => scene.find(id));
  const own = placements.every((placement) => placement !== undefined) ? section : only(section, placements);
  const found = placements.filter((placement) => placement !== undefined);
  const { starts, triangles } = own;
  found.forEach((placement, i) => {
    const runs = seenBy(placement, query)?.runs;
    if (runs === undefined) return;
    // -1 is, as an unsigned number, beyond all triangles.
    const part = triangles.subarray(starts[i], starts[i + 1]);
    toFaces(runs, new Uint32Array(part.buffer, part.byteOffset, part.length), 0, 1);
  });
  return { ...own, objects: found.map(({ object, instanceId }) => ({ object, instanceId })) };
}

/** Omits the outlines that have no placement. */
function only(section: Section, placements: readonly (Placement | undefined)[]): Section {
  const kept = placements.flatMap((placement, i) => (placement === undefined ? [] : i));
  const places = new Int32Array(placements.length + 1).fill(-1);
  const starts = new Uint32Array(kept.length + 1);
  kept.forEach((outline, i) => {
    places[outline] = i;
    starts[i + 1] = starts[i] + section.starts[outline + 1] - section.starts[outline];
  });
  const points = new Float64Array(3 * starts[kept.length]);
  const triangles = new Int32Array(starts[kept.length]);
  // New index of each point; a triangle of a cap is within one object.
  const moved = new Int32Array(section.triangles.length).fill(-1);
  kept.forEach((outline, i) => {
    const [from, to] = [section.starts[outline], section.starts[outline + 1]];
    points.set(section.points.subarray(3 * from, 3 * to), 3 * starts[i]);
    triangles.set(section.triangles.subarray(from, to), starts[i]);
    for (let p = from; p < to; p++) moved[p] = starts[i] + p - from;
  });
  return {
    ...section,
    ...{ starts, points, triangles },
    caps: section.caps.filter((_, i) => moved[section.caps[i]] >= 0).map((point) => moved[point]),
    objects: Uint32Array.from(kept, (outline) => section.objects[outline]),
    closed: Uint8Array.from(kept, (outline) => section.closed[outline]),
    // A loop and the loop around it belong to the same object.
    parents: Int32Array.from(kept, (outline) => {
      const parent = section.parents[outline];
      return parent < 0 ? -1 : places[parent];
    }),
  };
}
