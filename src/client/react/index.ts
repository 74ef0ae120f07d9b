export type { CanvasSceneOptions } from './canvas-scene.js';
export { type CollisionEventsOptions, collisionEvents } from './collision-events.js';
