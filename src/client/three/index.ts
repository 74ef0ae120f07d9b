export { boxFromGeometry, meshDataFromGeometry } from './geometry/geometry.js';
export type { SceneIntersection, ScenePickOptions, SceneRegionOptions } from './query/scene-picks.js';
export type { SceneTracker } from './scene-tracker.js';
export type { SceneObject } from './track/scene-objects.js';
export type { SceneObjectOptions } from './track/tracked-object.js';
export { type TrackOptions, trackScene } from './track-scene.js';
export type { SceneContact, SceneFrame } from './view/scene-frame.js';
export type { SceneViewOptions } from './view/scene-views.js';
export { type ViewSize, viewFromCamera } from './view/view.js';
