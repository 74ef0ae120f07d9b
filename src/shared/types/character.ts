import type { ObjectId, Vec3 } from './ids.js';
import type { CapsuleShape } from './object.js';

/** The shape of a character, and how it walks. Lengths are in world units. */
export interface CharacterOptions {
  /** Its shape, relative to its `position`. It does not turn. */
  shape: CapsuleShape;
  /** Where it starts. `set` with a position puts the character there, at rest. Default the origin. */
  position?: Vec3;
  /** The up direction, of any length but 0. Default [0, 1, 0]. */
  up?: Vec3;
  /** The gap that it keeps to all objects, at least a ten thousandth of the radius. Default a fiftieth of it. */
  skin?: number;
  /**
   * The steepest slope that it stands on, in radians from 0 to π / 2. Default π / 4. A surface less than 0.01 radians from
   * vertical is a wall in any case.
   */
  slope?: number;
  /** The highest step that it climbs. Default the radius; 0 for none. */
  stepHeight?: number;
  /** How far it goes down to stay on the ground while it walks. Default `stepHeight`. */
  snap?: number;
  /** The gravity of `advance`, in units / s². Default 9.81. */
  gravity?: number;
  /** The length of a step of `advance`, in seconds. Default 1 / 60. */
  step?: number;
  /** Which objects it collides with, a bit for each layer. Default all. */
  layers?: number;
  /** Objects that it passes through. */
  ignore?: ArrayLike<ObjectId>;
  /**
   * An object that is moved along with its `position`, keeping its rotation and scale. The character itself passes through
   * it. 0 for none, the default.
   */
  object?: ObjectId;
}

/** A capsule that walks; see `createCharacter`. Each method throws UNKNOWN_ID once the character has been removed. */
export interface Character {
  /** Its state in the newest answer of update(). */
  readonly state: CharacterState;
  /**
   * Moves by a vector, in world units, with the next update(); vectors of several calls before it add up. It first moves by the
   * part perpendicular to `up`, then by the part along it: downwards it stops where it lands; upwards, by more than a millionth
   * of the vector's length, it leaves the ground.
   */
  move(displacement: Vec3): void;
  /**
   * Walks for `seconds` at a velocity, in world units per second, in steps of the length of `step`; the rest that is no
   * whole step is carried over. So the same walk is the same to the last bit at any frame rate. Gravity and `jump` are added
   * to it. If more than 16 steps are due at once, the others are dropped.
   */
  advance(velocity: Vec3, seconds: number): void;
  /** Leaves the ground at a speed along `up`, in units per second, if it stands when `advance` makes its next step. */
  jump(speed: number): void;
  /**
   * Changes some of its options. With a `position`, the next update() puts it there, whatever is in between. With a `shape`,
   * `skin`, `stepHeight` and `snap` become the defaults of its radius, and with a `stepHeight`, `snap` becomes the same, unless
   * they are given, too.
   */
  set(options: Partial<CharacterOptions>): void;
  /** Removes the character. An object that it moved stays where it is. */
  remove(): void;
}

/** The state of a character. */
export interface CharacterState {
  /** Its position after its last step. */
  position: Vec3;
  /** Its position between its last two steps, for drawing; equal to `position` if it does not move by steps. */
  interpolated: Vec3;
  /** How fast `advance` makes it rise, along `up`, in units per second; negative while it falls. */
  speed: number;
  /** Whether it stands on something that is not too steep. */
  isStanding: boolean;
  /**
   * Whether a ceiling, a surface that faces down as steeply as ground that it may stand on faces up, kept it from rising, or it
   * got stuck between steeper surfaces. `advance` rises no farther then.
   */
  isBlockedAbove: boolean;
  /** The ground that it stands on, or that keeps it from falling though it is too steep; null in the air. */
  ground: CharacterTouch | null;
  /** What it walked against, or was pushed by, in this frame: eight at most. */
  touches: CharacterTouch[];
  /** How deep it remains inside objects that leave it no free place; 0 if it is free. */
  depth: number;
  /** Steps of `advance` that it has made. */
  steps: number;
  /** The frame of this state; 0 before the first. */
  frame: number;
}

/** Where a character touches an object. */
export interface CharacterTouch {
  object: ObjectId;
  /** The triangle of its mesh; -1 for other shapes. */
  triangle: number;
  point: Vec3;
  /** Unit length, from the object to the character. */
  normal: Vec3;
}
