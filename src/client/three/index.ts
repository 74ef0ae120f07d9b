export type { Culled } from './culling/culled.js';
export { boxFromGeometry, meshDataFromGeometry } from './geometry/geometry.js';
export { CollisionHelper, type CollisionHelperOptions } from './helper/collision-helper.js';
export { SectionHelper, type SectionHelperOptions } from './helper/section-helper.js';
export { StatsOverlay } from './helper/stats-overlay.js';
export type { HoverListener, HoverOptions } from './query/hover.js';
export type { SceneIntersection, SceneSnap } from './query/intersection.js';
export type {
  SceneClosestOptions,
  SceneClosestPoint,
  SceneContactReport,
  SceneDistance,
  SceneLineOptions,
  SceneMatrix,
  ScenePlacement,
  SceneRayOptions,
  SceneSight,
  SceneSightOptions,
  SceneSweepHit,
  SceneSweepOptions,
} from './query/scene-answers.js';
export type { SceneQueryOptions } from './query/scene-options.js';
export type { SceneParams } from './query/scene-params.js';
export type { ScenePickOptions, SceneRegionOptions } from './query/scene-picks.js';
export type { ScenePoint, SceneRay } from './query/scene-ray.js';
export type { SceneSection, SceneSectionOptions } from './query/scene-section.js';
export { measure, type SceneMeasurable, type SceneMeasure } from './query/scene-snap.js';
export type {
  SceneCharacter,
  SceneCharacterOptions,
  SceneCharacterState,
  SceneCharacterTouch,
} from './scene-character.js';
export type { SceneTarget } from './scene-target.js';
export type { SceneTracker } from './scene-tracker.js';
export type { SceneDrawable, SceneObjectOptions } from './track/object-settings.js';
export type { SceneObject } from './track/scene-objects.js';
export type { CullingOptions, DetailLevel, InstanceOrder, TrackOptions } from './track-options.js';
export { trackScene } from './track-scene.js';
export type { BoneContact, BoxContact } from './view/bone-contact.js';
export type { SceneContact, SceneFrame } from './view/scene-frame.js';
export type { SceneViewOptions } from './view/scene-views.js';
export { type ViewSize, viewFromCamera } from './view/view.js';
