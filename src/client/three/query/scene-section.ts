import type { Plane } from 'three';
import type { Section, SectionOptions } from '../../../shared/types.js';
import { guardRead, throwInvalid } from '../../check/validate.js';
import { toFaceIndices } from '../geometry/geometry.js';
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
  return guardRead(operation, 'plane', () => {
    if (typeof given !== 'object' || given === null) throwInvalid(operation, 'plane', given, 'a Plane or four numbers');
    const plane = given as Plane;
    if (plane.normal === undefined) return given as ArrayLike<number>;
    return [plane.normal.x, plane.normal.y, plane.normal.z, plane.constant];
  });
}

/** Converts a section to the terms of the scene, without objects of others. `queryId`: the query's id. */
export function sceneSection(section: Section, objects: SceneObjects, queryId: number): SceneSection {
  const placements = Array.from(section.objects, (id) => objects.find(id));
  const ownSection = placements.every((placement) => placement !== undefined)
    ? section
    : withoutForeign(section, placements);
  const ownPlacements = placements.filter((placement) => placement !== undefined);
  const { starts, triangles } = ownSection;
  ownPlacements.forEach((placement, i) => {
    const runs = seenBy(placement, queryId)?.runs;
    if (runs === undefined) return;
    // -1 is, as an unsigned number, beyond all triangles.
    const outlineTriangles = triangles.subarray(starts[i], starts[i + 1]);
    toFaceIndices(
      runs,
      new Uint32Array(outlineTriangles.buffer, outlineTriangles.byteOffset, outlineTriangles.length),
      0,
      1,
    );
  });
  return { ...ownSection, objects: ownPlacements.map(({ object, instanceId }) => ({ object, instanceId })) };
}

/** Omits the outlines that have no placement. */
function withoutForeign(section: Section, placements: readonly (Placement | undefined)[]): Section {
  const keptOutlines = placements.flatMap((placement, i) => (placement === undefined ? [] : i));
  const newOutlineIndices = new Int32Array(placements.length + 1).fill(-1);
  const starts = new Uint32Array(keptOutlines.length + 1);
  keptOutlines.forEach((outline, i) => {
    newOutlineIndices[outline] = i;
    starts[i + 1] = starts[i] + section.starts[outline + 1] - section.starts[outline];
  });
  const points = new Float64Array(3 * starts[keptOutlines.length]);
  const triangles = new Int32Array(starts[keptOutlines.length]);
  // New index of each point; a triangle of a cap is within one object.
  const newPointIndices = new Int32Array(section.triangles.length).fill(-1);
  keptOutlines.forEach((outline, i) => {
    const [from, to] = [section.starts[outline], section.starts[outline + 1]];
    points.set(section.points.subarray(3 * from, 3 * to), 3 * starts[i]);
    triangles.set(section.triangles.subarray(from, to), starts[i]);
    for (let p = from; p < to; p++) newPointIndices[p] = starts[i] + p - from;
  });
  return {
    ...section,
    ...{ starts, points, triangles },
    caps: section.caps.filter((_, i) => newPointIndices[section.caps[i]] >= 0).map((point) => newPointIndices[point]),
    objects: Uint32Array.from(keptOutlines, (outline) => section.objects[outline]),
    closed: Uint8Array.from(keptOutlines, (outline) => section.closed[outline]),
    // A loop and the loop around it belong to the same object.
    parents: Int32Array.from(keptOutlines, (outline) => {
      const parent = section.parents[outline];
      return parent < 0 ? -1 : newOutlineIndices[parent];
    }),
  };
}
