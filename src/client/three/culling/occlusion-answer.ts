import {
  type Camera,
  DoubleSide,
  type InstancedMesh,
  type Material,
  Matrix4,
  type Mesh,
  type Object3D,
  type PerspectiveCamera,
  Vector3,
} from 'three';
import { slotOf } from '../../../shared/ids.js';
import type { ObjectId, VisibleSet } from '../../../shared/types.js';
import { isSameMatrix } from '../../transforms/affine.js';
import { isShown } from '../track/is-shown.js';
import { isOccludable, isOccluder } from '../track/opacity.js';
import type { RepresentedObject, SceneObjects } from '../track/scene-objects.js';
import type { CullableObject } from '../track/stand-in.js';
import type { SceneView } from '../view/scene-views.js';
import type { CullingSettings } from './culling-settings.js';
import { boundsOf } from './geometry-bounds.js';
import { type AnsweredInstances, appendNumber, listOf, type SeenInstances } from './seen-objects.js';
import type { ViewVolume } from './view-volume.js';

/** Rounding moves an eye that stands still by less than this fraction of the distance to the near plane. */
const ROUNDING = 1e-6;

/** Rounding of float64 moves it by less than this fraction of its distance to the origin. */
const FLOAT64_ROUNDING = 2e-15;

/**
 * Number of answers after which an object is forgotten that none of them has named. Until then it is kept, because a camera that
 * turns comes back to it.
 */
const MAX_ANSWER_AGE = 120;

/** The part of the service that knows where objects are. */
export interface PlacementService {
  /** Returns whether this is the transform of an object that was sent last, in a whole update. */
  isPlacedAs(id: ObjectId, matrix: ArrayLike<number>): boolean;
  setObject(id: ObjectId, options: { occluder: boolean }): void;
}

/** Where an object of one id was when updates were sent. */
interface SentTransform {
  readonly object: Mesh;
  readonly matrix: Float64Array;
  /** The number of the update since which the object has been there, for the service as well. */
  since: number;
  /** The newest answer that names the object. */
  answer: number;
}

type CullableOwner = RepresentedObject & CullableObject;

interface Occluder {
  readonly owner: CullableOwner;
  readonly id: ObjectId;
  /** Its number among the owner's instances. */
  readonly index: number;
}

/**
 * What nearer objects hide from one view by the newest answer. That is true as long as the occluders and the hidden objects are
 * where they were when it was asked, unchanged, and the eye is within the margin that it was asked with; the camera may turn.
 * Where an object was at that time is known only if an earlier answer has named it: named objects are compared in each `update`.
 */
export class OcclusionAnswer {
  readonly #sentTransforms = new Map<ObjectId, SentTransform>();
  #occluders: Occluder[] = [];
  /** The slots of the objects that the answer names as hidden. */
  readonly #hiddenSlots = new Set<number>();
  readonly #instances = new Map<RepresentedObject, AnsweredInstances>();
  #answer = 0;

  /** Takes over an answer. */
  set({ occluded, occluders }: VisibleSet, objects: SceneObjects): void {
    const answer = ++this.#answer;
    this.#hiddenSlots.clear();
    this.#instances.clear();
    this.#occluders = [];
    if (occluded.length === 0) return;
    objects.forEach(occluders, (owner, index, slot) => {
      const id = objects.idOf(slot);
      this.#occluders.push({ owner: owner as CullableOwner, id, index });
      this.#recordOwner(owner as CullableOwner, id, answer);
    });
    objects.forEach(occluded, (owner, index, slot) => {
      this.#hiddenSlots.add(slot);
      if (owner.isInstanced) appendNumber(listOf(this.#instances, owner), index);
      else this.#recordOwner(owner as CullableOwner, objects.idOf(slot), answer);
    });
    // An occluder that has left the scene, or is not the tracker's, hides nothing in a picture.
    if (this.#occluders.length < occluders.length) this.#hiddenSlots.clear();
    for (const { numbers, count } of this.#instances.values()) numbers.subarray(0, count).sort();
    for (const [id, sentTransform] of this.#sentTransforms)
      if (answer - sentTransform.answer > MAX_ANSWER_AGE) this.#sentTransforms.delete(id);
  }

  /** Notes where the named objects are, for the update of that number, of which all but the views was passed to the service. */
  ask(update: number, service: PlacementService): void {
    for (const [id, sentTransform] of this.#sentTransforms) {
      try {
        const { elements } = sentTransform.object.matrixWorld;
        if (!service.isPlacedAs(id, elements)) sentTransform.since = Number.POSITIVE_INFINITY;
        else if (sentTransform.since === Number.POSITIVE_INFINITY || !isSameMatrix(sentTransform.matrix, elements)) {
          sentTransform.matrix.set(elements);
          sentTransform.since = update;
        }
      } catch {
        sentTransform.since = Number.POSITIVE_INFINITY; // unreadable
      }
    }
  }

  /**
   * Returns whether the answer is true of what a camera draws now. `update` and `view` are those that it was asked with. By
   * `settings`, some instances are drawn with other triangles than the service knows.
   */
  holds(
    camera: Camera,
    volume: ViewVolume,
    scene: Object3D,
    update: number,
    view: SceneView,
    service: PlacementService,
    settings: Pick<CullingSettings, 'levelsOf'>,
  ): boolean {
    if (this.#hiddenSlots.size === 0 || (scene as { overrideMaterial?: unknown }).overrideMaterial != null)
      return false;
    if (!isEyeWithinMargin(camera, view)) return false;
    let holds = true;
    for (const { owner, id, index } of this.#occluders) {
      const mesh = owner.object as Mesh;
      try {
        const isDeclared = owner.occluder === true;
        // The service is notified of objects that do not hide others, so that it finds other occluders.
        if (!isDeclared && !isOccluder(mesh)) {
          owner.onMeshChange();
          holds = false;
        } else if (
          !isDeclared &&
          'isInstancedMesh' in mesh &&
          (settings.levelsOf(mesh as InstancedMesh) !== null || isInsideOut(mesh as InstancedMesh, index))
        ) {
          service.setObject(id, { occluder: false });
          holds = false;
        } else
          holds &&=
            isShown(mesh, scene) &&
            isDrawnWhenInView(mesh, volume) &&
            mesh.layers.test(camera.layers) &&
            drawnOf(owner) === mesh && // another level of a LOD may be drawn
            this.#isUnchanged(owner, id, update, view.layers);
      } catch {
        holds = false; // an unreadable object hides nothing
      }
    }
    return holds;
  }

  /**
   * Returns whether a Mesh is hidden by an answer that `holds`. The Mesh is an object of one id, or the level that a LOD of one
   * id shows.
   */
  hides(owner: CullableOwner, mesh: Mesh, update: number, layers: number): boolean {
    const id = owner.idAt(0);
    return (
      drawnOf(owner) === mesh &&
      this.#sentTransforms.get(id)?.object === mesh &&
      this.#hiddenSlots.has(slotOf(id)) &&
      isOccludable(mesh, owner.cullable === true) &&
      this.#isUnchanged(owner, id, update, layers)
    );
  }

  /**
   * Returns the numbers of an object's hidden instances. They are hidden if the answer `holds` and the instances are as they
   * were.
   */
  instancesOf(owner: RepresentedObject): SeenInstances | null {
    return this.#instances.get(owner) ?? null;
  }

  #isUnchanged(owner: CullableOwner, id: ObjectId, update: number, layers: number): boolean {
    if (owner.isInstanced) return owner.wasSeenAsItIs(update, layers);
    const sentTransform = this.#sentTransforms.get(id);
    return (
      sentTransform !== undefined &&
      sentTransform.since <= update &&
      isSameMatrix(sentTransform.matrix, sentTransform.object.matrixWorld.elements) &&
      owner.wasSeenInShape(update, layers)
    );
  }

  #recordOwner(owner: CullableOwner, id: ObjectId, answer: number): void {
    if (owner.isInstanced) return;
    const sentTransform = this.#sentTransforms.get(id);
    const object = drawnOf(owner);
    if (sentTransform?.object === object) sentTransform.answer = answer;
    else {
      this.#sentTransforms.set(id, {
        object,
        matrix: new Float64Array(16),
        since: Number.POSITIVE_INFINITY,
        answer,
      });
    }
  }
}

/** Returns the Mesh that is drawn for an object of one id. */
function drawnOf({ object, drawn }: CullableOwner): Mesh {
  return drawn ?? (object as Mesh);
}

const instanceMatrix = new Matrix4();

/** Returns whether an instance is mirrored, and shows only one side: three does not turn its sides as it does those of a Mesh. */
function isInsideOut(mesh: InstancedMesh, index: number): boolean {
  mesh.getMatrixAt(index, instanceMatrix);
  return instanceMatrix.determinant() < 0 && (mesh.material as Material).side !== DoubleSide;
}

const eye = new Vector3();
const askedEye = new Vector3();
const world = new Matrix4();

/** Returns whether hidden objects are still hidden as far as the camera is concerned: it may have moved within the margin. */
function isEyeWithinMargin(camera: Camera, { options }: SceneView): boolean {
  const { elements: p } = camera.projectionMatrix;
  if (!isSameMatrix(p, options.projection)) return false;
  const { elements } = camera.matrixWorldInverse;
  // Lines of sight that do not meet in the camera, such as parallel ones, stay the same as long as it does not turn.
  const isOffset = p[12] || p[13] || p[15];
  for (let i = 0; isOffset && i < 11; i++) if (elements[i] !== options.view[i]) return false;
  eye.setFromMatrixPosition(world.fromArray(elements).invert());
  askedEye.setFromMatrixPosition(world.fromArray(options.view as number[]).invert());
  // A Camera of no kind has no `near`: nothing is hidden from it.
  const rounding = Math.max(ROUNDING * (camera as PerspectiveCamera).near, FLOAT64_ROUNDING * eye.length());
  return eye.distanceTo(askedEye) <= (options.occlusionMargin ?? 0) + rounding;
}

/**
 * Returns whether three draws a mesh wherever it is in view: three culls by the bounding sphere, which may be outdated after
 * vertices or instances have moved. Spheres of instances are not examined.
 */
function isDrawnWhenInView(mesh: Mesh, { frustum }: ViewVolume): boolean {
  if (!mesh.frustumCulled || frustum.intersectsObject(mesh)) return true;
  const bounds = 'boundingSphere' in mesh ? null : boundsOf(mesh.geometry);
  return bounds !== null && !frustum.intersectsSphere(bounds.sphere.clone().applyMatrix4(mesh.matrixWorld));
}
