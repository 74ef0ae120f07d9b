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
import { guardRead, invalidArgumentError, readOptions, throwInvalid } from '../check/validate.js';
import type { CollisionService } from '../service.js';
import { placedFace } from './query/intersection.js';
import { readPoint, type ScenePoint } from './query/scene-ray.js';
import { idsOfAll } from './query/target-ids.js';
import { checkObject, isObject, readTarget, readTargets, type SceneTarget } from './scene-target.js';
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
  readonly #onEnd: (character: SceneCharacter) => void;
  #object: Object3D | null;
  #ignoredTargets: readonly SceneObject[];
  #sentIgnoredIds: Uint32Array;
  #cachedState: { of: CharacterState; state: SceneCharacterState } | null = null;
  /** The id of a query that sees what the newest answer has seen. */
  #queryId = 0;

  /** @internal */
  constructor(
    scene: CharacterScene,
    given: SceneCharacterOptions | Object3D,
    onEnd: (character: SceneCharacter) => void,
  ) {
    const isAlone = guardRead('createCharacter', 'options', () => isObject(given));
    const options = readCharacterOptions(
      'createCharacter',
      (isAlone ? { object: given } : given) as SceneCharacterOptions,
    );
    this.#scene = scene;
    this.#onEnd = onEnd;
    this.#object = options.object ?? null;
    this.#ignoredTargets = options.ignore ?? [];
    this.#sentIgnoredIds = guardRead('createCharacter', 'object', () => this.#ignoredIds());
    const { object, ignore: _, ...others } = options;
    const up = others.up ?? [0, 1, 0];
    const [shape, position] = guardRead(
      'createCharacter',
      'object',
      () =>
        [
          others.shape ?? capsuleAround(object, up),
          others.position ?? (object === undefined ? ([0, 0, 0] as const) : worldPositionOf(object)),
        ] as const,
    );
    this.#character = scene.service.createCharacter({
      ...withoutUndefined(others),
      shape,
      position,
      ignore: this.#sentIgnoredIds,
    });
  }

  /** The state as of the newest answer of `update`. Throws UNKNOWN_ID once the character was removed. */
  get state(): SceneCharacterState {
    this.#scene.check('character.state');
    const serviceState = this.#character.state;
    if (this.#cachedState?.of !== serviceState)
      this.#cachedState = { of: serviceState, state: this.#readState(serviceState) };
    return this.#cachedState.state;
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
    const { object, ignore, ...others } = readCharacterOptions('character.set', given);
    const previous = [this.#object, this.#ignoredTargets] as const;
    if (object !== undefined) this.#object = object;
    if (ignore !== undefined) this.#ignoredTargets = ignore;
    try {
      const ignored = guardRead('character.set', 'object', () => this.#ignoredIds());
      this.#character.set({ ...withoutUndefined(others), ignore: ignored });
      this.#sentIgnoredIds = ignored;
    } catch (error) {
      [this.#object, this.#ignoredTargets] = previous;
      throw error;
    }
  }

  /** Removes the character; its object stays where it is. */
  remove(): void {
    this.#scene.check('character.remove');
    this.#character.remove();
    this.#onEnd(this);
  }

  /**
   * Updates the ids that the character passes through, which its object and the ignored targets may have gained or lost.
   *
   * @internal
   */
  refresh(): void {
    if (this.#object === null && this.#ignoredTargets.length === 0) return;
    const ignored = this.#ignoredIds();
    if (areEqual(ignored, this.#sentIgnoredIds)) return;
    this.#character.set({ ignore: ignored });
    this.#sentIgnoredIds = ignored;
  }

  /**
   * Puts the object at the character's position, after an answer that has seen what a query of that id sees.
   *
   * @internal
   */
  place(queryId: number): void {
    this.#queryId = queryId;
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
    const targets = [...this.#ignoredTargets];
    this.#object?.traverse((object) => {
      targets.push({ object, instanceId: undefined });
    });
    return idsOfAll(this.#scene.walk, targets);
  }

  #readState({ position, interpolated, ground, touches, ...others }: CharacterState): SceneCharacterState {
    const [groundTouch = null] = ground === null ? [] : this.#readTouch(ground);
    return {
      ...others,
      position: new Vector3(...position),
      interpolated: new Vector3(...interpolated),
      ground: groundTouch,
      touches: touches.flatMap((touch) => this.#readTouch(touch)),
    };
  }

  #readTouch({ object: id, triangle, point, normal }: CharacterTouch): SceneCharacterTouch[] {
    const placement = this.#scene.objects.find(id);
    if (placement === undefined) return [];
    const { object, instanceId, faceIndex } = placedFace(placement, this.#queryId, triangle);
    return [{ object, instanceId, faceIndex, point: new Vector3(...point), normal: new Vector3(...normal) }];
  }
}

type CheckedCharacterOptions = Omit<CharacterOptions, 'shape' | 'ignore' | 'object'> & {
  object?: Object3D;
  shape?: CapsuleShape;
  ignore?: SceneObject[];
};

/** Reads the options that concern the scene; the service checks the rest. */
function readCharacterOptions(operation: string, given: Partial<SceneCharacterOptions>): CheckedCharacterOptions {
  if (given === undefined) throwInvalid(operation, 'options', given, 'an object');
  const { object, position, up, ignore, ...others } = readOptions(operation, 'options', given, CHARACTER_KEYS);
  if (object !== undefined) checkObject(operation, object);
  return {
    ...withoutUndefined(others),
    ...(object !== undefined && { object }),
    ...(position !== undefined && { position: readPoint(operation, 'position', position) }),
    ...(up !== undefined && { up: readPoint(operation, 'up', up) }),
    ...(ignore !== undefined && { ignore: readTargets(operation, 'ignore', ignore, readTarget) }),
  };
}

/** Leaves out options that are undefined. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

function worldPositionOf(object: Object3D): Vec3 {
  object.updateWorldMatrix(true, false);
  return new Vector3().setFromMatrixPosition(object.matrixWorld).toArray();
}

/** Returns the capsule that an object fits into, relative to its position. Throws INVALID_ARGUMENT if the object has no size. */
function capsuleAround(object: Object3D | undefined, up: Vec3): CapsuleShape {
  if (object === undefined)
    throwInvalid('createCharacter', 'shape', undefined, 'a capsule, or an object that has a size');
  const box = new Box3().setFromObject(object);
  const origin = new Vector3(...worldPositionOf(object));
  const axis = new Vector3(...up).normalize();
  // Two directions perpendicular to `axis`: axes of the world if `axis` is one of them.
  const side = new Vector3(...(Math.abs(axis.x) < 0.9 ? ([1, 0, 0] as const) : ([0, 0, 1] as const)));
  const perpendicular = side.addScaledVector(axis, -side.dot(axis)).normalize();
  const [min, max] = extentOf(box, origin, axis);
  const widths = [perpendicular, new Vector3().crossVectors(axis, perpendicular)].map((direction) => {
    const [from, to] = extentOf(box, origin, direction);
    return { half: (to - from) / 2, place: direction.clone().multiplyScalar((from + to) / 2) };
  });
  const radius = Math.min(widths[0].half, widths[1].half, (max - min) / 2);
  if (!(radius > 0) || !Number.isFinite(radius)) {
    throw invalidArgumentError(
      `createCharacter: shape is undefined, and the object is empty or flat, expected a capsule`,
    );
  }
  const center = widths[0].place.add(widths[1].place);
  const at = (height: number): Vec3 => center.clone().addScaledVector(axis, height).toArray();
  return { type: 'capsule', radius, from: at(min + radius), to: at(max - radius) };
}

/** Returns the interval of a box along a direction, relative to `origin`. */
function extentOf({ min, max }: Box3, origin: Vector3, direction: Vector3): [min: number, max: number] {
  const center = new Vector3().addVectors(min, max).multiplyScalar(0.5).sub(origin).dot(direction);
  const half = new Vector3().subVectors(max, min).multiplyScalar(0.5);
  const halfExtent = half.x * Math.abs(direction.x) + half.y * Math.abs(direction.y) + half.z * Math.abs(direction.z);
  return [center - halfExtent, center + halfExtent];
}
