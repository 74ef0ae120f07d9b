import { Box3, type Object3D, Vector3 } from 'three';
import { areEqual } from '../../shared/typed-arrays.js';
import type {
  CapsuleShape,
  Character,
  CharacterOptions,
  CharacterState,
  CharacterTouch,
  Vec3,
} from '../../shared/types.js';
import { CHARACTER_KEYS } from '../character/character-options.js';
import { invalid, invalidArgument, reading, readOptions } from '../check/validate.js';
import type { CollisionService } from '../service.js';
import { placedFace } from './query/intersection.js';
import { readPoint, type ScenePoint } from './query/scene-ray.js';
import { idsOfAll } from './query/target-ids.js';
import { readTarget, readTargets, type SceneTarget } from './scene-target.js';
import type { SceneObject, SceneObjects } from './track/scene-objects.js';
import type { SceneWalk } from './track/scene-walk.js';

/** Like `CharacterOptions` of the service, with objects of the scene. */
export interface SceneCharacterOptions
  extends Omit<CharacterOptions, 'shape' | 'position' | 'up' | 'ignore' | 'object'> {
  /**
   * An object, in the scene or not, that moves with the character: each answer of `update` puts it where the character is,
   * interpolated between its last two steps. It is not turned. The character passes through it and all its descendants.
   */
  object?: Object3D;
  /**
   * The shape, relative to the position. Default: a capsule that `object` fits into, as high as the object is along `up` with
   * all its descendants, and as wide as the narrower of its two other sides.
   */
  shape?: CapsuleShape;
  /** Where it begins, in world coordinates. Default: the position of `object`, else the origin. */
  position?: ScenePoint;
  /** The direction that is up. Default [0, 1, 0]. */
  up?: ScenePoint;
  /** What it passes through, including targets that are built, or get more instances, later. */
  ignore?: readonly SceneTarget[];
}

/** Where a character touches the scene. */
export interface SceneCharacterTouch extends SceneObject {
  /** The number of the face, as in hits; null for an object without faces. */
  readonly faceIndex: number | null;
  readonly point: Vector3;
  /** Unit vector that points from the object to the character. */
  readonly normal: Vector3;
}

/**
 * Like `CharacterState` of the service, with objects of the scene: touches of objects that others added to the service are left
 * out.
 */
export interface SceneCharacterState extends Omit<CharacterState, 'position' | 'interpolated' | 'ground' | 'touches'> {
  readonly position: Vector3;
  readonly interpolated: Vector3;
  readonly ground: SceneCharacterTouch | null;
  readonly touches: SceneCharacterTouch[];
}

/** What the characters of a tracker have in common. */
export interface CharacterScene {
  readonly service: CollisionService;
  readonly walk: SceneWalk;
  readonly objects: SceneObjects;
  /** Throws if the tracker is disposed. */
  check(operation: string): void;
}

/** A capsule that walks through the scene; see `createCharacter` of the tracker. */
export class SceneCharacter {
  readonly #scene: CharacterScene;
  readonly #character: Character;
  readonly #end: (character: SceneCharacter) => void;
  #object: Object3D | null;
  #ignore: readonly SceneObject[];
  #ignored: Uint32Array;
  #state: { of: CharacterState; state: SceneCharacterState } | null = null;

  /** @internal */
  constructor(
    scene: CharacterScene,
    given: SceneCharacterOptions | Object3D,
    end: (character: SceneCharacter) => void,
  ) {
    const isAlone = reading('createCharacter', 'options', () => isObject(given));
    const options = readCharacter('createCharacter', (isAlone ? { object: given } : given) as SceneCharacterOptions);
    this.#scene = scene;
    this.#end = end;
    this.#object = options.object ?? null;
    this.#ignore = options.ignore ?? [];
    this.#ignored = reading('createCharacter', 'object', () => this.#ignoredIds());
    const { object, ignore: _, ...others } = options;
    const up = others.up ?? [0, 1, 0];
    const [shape, position] = reading(
      'createCharacter',
      'object',
      () =>
        [
          others.shape ?? capsuleAbout(object, up),
          others.position ?? (object === undefined ? ([0, 0, 0] as const) : placeOf(object)),
        ] as const,
    );
    this.#character = scene.service.createCharacter({ ...defined(others), shape, position, ignore: this.#ignored });
  }

  /** The state as of the newest answer of `update`. Throws UNKNOWN_ID once the character was removed. */
  get state(): SceneCharacterState {
    this.#scene.check('character.state');
    const of = this.#character.state;
    if (this.#state?.of !== of) this.#state = { of, state: this.#read(of) };
    return this.#state.state;
  }

  /** The object that moves with the character. */
  get object(): Object3D | null {
    return this.#object;
  }

  /** Moves by a displacement, in world units, with the next `update`; see `Character.move`. */
  move(displacement: ScenePoint): void {
    this.#scene.check('character.move');
    this.#character.move(readPoint('character.move', 'displacement', displacement));
  }

  /** Moves at a velocity for this many seconds, in fixed steps of its own; see `Character.advance`. */
  advance(velocity: ScenePoint, seconds: number): void {
    this.#scene.check('character.advance');
    this.#character.advance(readPoint('character.advance', 'velocity', velocity), seconds);
  }

  /** Leaves the ground at a speed along `up`, in units per second; see `Character.jump`. */
  jump(speed: number): void {
    this.#scene.check('character.jump');
    this.#character.jump(speed);
  }

  /** Changes some of the options. With a `position`, the character is put there by the next `update`, whatever is in between. */
  set(given: Partial<SceneCharacterOptions>): void {
    this.#scene.check('character.set');
    const { object, ignore, ...others } = readCharacter('character.set', given);
    const before = [this.#object, this.#ignore] as const;
    if (object !== undefined) this.#object = object;
    if (ignore !== undefined) this.#ignore = ignore;
    try {
      const ignored = reading('character.set', 'object', () => this.#ignoredIds());
      this.#character.set({ ...defined(others), ignore: ignored });
      this.#ignored = ignored;
    } catch (error) {
      [this.#object, this.#ignore] = before;
      throw error;
    }
  }

  /** Removes the character; its object stays where it is. */
  remove(): void {
    this.#scene.check('character.remove');
    this.#character.remove();
    this.#end(this);
  }

  /**
   * Updates the ids that the character passes through, which its object and the ignored targets may have gained or lost.
   *
   * @internal
   */
  refresh(): void {
    if (this.#object === null && this.#ignore.length === 0) return;
    const ignored = this.#ignoredIds();
    if (areEqual(ignored, this.#ignored)) return;
    this.#character.set({ ignore: ignored });
    this.#ignored = ignored;
  }

  /**
   * Puts the object at the character's position.
   *
   * @internal
   */
  place(): void {
    const { interpolated } = this.#character.state;
    if (this.#object === null) return;
    const { position, parent } = this.#object;
    position.set(...interpolated);
    if (parent !== null) parent.worldToLocal(position);
  }

  /** @internal */
  end(): void {
    this.#character.remove();
  }

  #ignoredIds(): Uint32Array {
    const targets = [...this.#ignore];
    this.#object?.traverse((object) => {
      targets.push({ object, instanceId: undefined });
    });
    return idsOfAll(this.#scene.walk, targets);
  }

  #read({ position, interpolated, ground, touches, ...others }: CharacterState): SceneCharacterState {
    const [onGround = null] = ground === null ? [] : this.#touch(ground);
    return {
      ...others,
      position: new Vector3(...position),
      interpolated: new Vector3(...interpolated),
      ground: onGround,
      touches: touches.flatMap((touch) => this.#touch(touch)),
    };
  }

  #touch({ object: id, triangle, point, normal }: CharacterTouch): SceneCharacterTouch[] {
    const { objects } = this.#scene;
    const placement = objects.find(id);
    if (placement === undefined) return [];
    const { object, instanceId, faceIndex } = placedFace(placement, objects.newestQuery, triangle);
    return [{ object, instanceId, faceIndex, point: new Vector3(...point), normal: new Vector3(...normal) }];
  }
}

type ReadOptions = Omit<CharacterOptions, 'shape' | 'ignore' | 'object'> & {
  object?: Object3D;
  shape?: CapsuleShape;
  ignore?: SceneObject[];
};

function isObject(given: unknown): given is Object3D {
  return typeof given === 'object' && given !== null && (given as Partial<Object3D>).isObject3D === true;
}

/** Reads the options that concern the scene; the service checks the rest. */
function readCharacter(operation: string, given: Partial<SceneCharacterOptions>): ReadOptions {
  if (given === undefined) invalid(operation, 'options', given, 'an object');
  const { object, position, up, ignore, ...others } = readOptions(operation, 'options', given, CHARACTER_KEYS);
  if (object !== undefined) {
    reading(operation, 'object', () => {
      if (!isObject(object)) invalid(operation, 'object', object, 'an Object3D of three');
    });
  }
  return {
    ...defined(others),
    ...(object !== undefined && { object }),
    ...(position !== undefined && { position: readPoint(operation, 'position', position) }),
    ...(up !== undefined && { up: readPoint(operation, 'up', up) }),
    ...(ignore !== undefined && { ignore: readTargets(operation, 'ignore', ignore, readTarget) }),
  };
}

/** Leaves out options that are undefined. */
function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

function placeOf(object: Object3D): Vec3 {
  object.updateWorldMatrix(true, false);
  return new Vector3().setFromMatrixPosition(object.matrixWorld).toArray();
}

/** Returns the capsule that an object fits into, relative to its position. Throws INVALID_ARGUMENT if the object has no size. */
function capsuleAbout(object: Object3D | undefined, up: Vec3): CapsuleShape {
  if (object === undefined) invalid('createCharacter', 'shape', undefined, 'a capsule, or an object that has a size');
  const box = new Box3().setFromObject(object);
  const origin = new Vector3(...placeOf(object));
  const way = new Vector3(...up).normalize();
  // Two directions perpendicular to `way`: axes of the world if `way` is one of them.
  const side = new Vector3(...(Math.abs(way.x) < 0.9 ? ([1, 0, 0] as const) : ([0, 0, 1] as const)));
  const first = side.addScaledVector(way, -side.dot(way)).normalize();
  const [low, high] = extentOf(box, origin, way);
  const widths = [first, new Vector3().crossVectors(way, first)].map((each) => {
    const [from, to] = extentOf(box, origin, each);
    return { half: (to - from) / 2, place: each.clone().multiplyScalar((from + to) / 2) };
  });
  const radius = Math.min(widths[0].half, widths[1].half, (high - low) / 2);
  if (!(radius > 0) || !Number.isFinite(radius)) {
    throw invalidArgument(`createCharacter: shape is undefined, and the object is empty or flat, expected a capsule`);
  }
  const centre = widths[0].place.add(widths[1].place);
  const at = (height: number): Vec3 => centre.clone().addScaledVector(way, height).toArray();
  return { type: 'capsule', radius, from: at(low + radius), to: at(high - radius) };
}

/** Returns the interval of a box along a direction, relative to `origin`. */
function extentOf({ min, max }: Box3, origin: Vector3, direction: Vector3): [low: number, high: number] {
  const centre = new Vector3().addVectors(min, max).multiplyScalar(0.5).sub(origin).dot(direction);
  const half = new Vector3().subVectors(max, min).multiplyScalar(0.5);
  const reach = half.x * Math.abs(direction.x) + half.y * Math.abs(direction.y) + half.z * Math.abs(direction.z);
  return [centre - reach, centre + reach];
}
