export type { CanvasSceneOptions } from './canvas-scene.js';
export {
  Collision,
  type CollisionProps,
  type CollisionQueries,
  type ContactHandlers,
  useCollision,
  useCollisionFrame,
  useContact,
  useVisible,
} from './collision.js';
export { type CollisionEventsOptions, collisionEvents } from './collision-events.js';
export type { CollisionProp } from './collision-prop.js';
export { type CharacterHookOptions, useCharacter } from './use-character.js';
