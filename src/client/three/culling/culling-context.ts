import type { LOD, Object3D } from 'three';
import type { SceneEntry } from '../track/scene-entry.js';
import type { SceneObjects } from '../track/scene-objects.js';
import type { CullableObject } from '../track/stand-in.js';
import type { PlacementService } from './occlusion-answer.js';

/** What culling needs to know of a tracker. */
export interface CullingContext {
  readonly objects: SceneObjects;
  readonly instanced: ReadonlySet<CullableObject>;
  readonly lods: ReadonlySet<LOD>;
  readonly service: PlacementService;
  entryOf(object: Object3D): SceneEntry | undefined;
}
