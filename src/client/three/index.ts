export { boxFromGeometry, meshDataFromGeometry } from './geometry.js';
export type { SceneContact, SceneFrame } from './scene-frame.js';
export type { SceneObject } from './scene-objects.js';
export type { SceneIntersection, ScenePickOptions, SceneRegionOptions } from './scene-picks.js';
export type { SceneTracker } from './scene-tracker.js';
export type { SceneViewOptions } from './scene-views.js';
export { type TrackOptions, trackScene } from './track-scene.js';
export type { SceneObjectOptions } from './tracked-object.js';
export { type ViewSize, viewFromCamera } from './view.js';
