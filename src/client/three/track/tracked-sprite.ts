import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  DoubleSide,
  type Material,
  Matrix4,
  type Mesh,
  type PerspectiveCamera,
  type Sprite,
} from 'three';
import type { Shape } from '../../../shared/types.js';
import type { ObjectSettings } from './object-settings.js';
import type { CameraFacing, TrackerContext } from './stand-in.js';
import { TrackedObject } from './tracked-object.js';
import { updateCamera } from './update-camera.js';

/** The square that three draws of a Sprite, in the order in which its Raycaster tests the triangles. */
const SQUARE = new BufferGeometry()
  .setAttribute(
    'position',
    new BufferAttribute(Float32Array.of(-0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5, 0), 3),
  )
  .setAttribute('uv', new BufferAttribute(Float32Array.of(0, 0, 1, 0, 1, 1, 0, 1), 2))
  .setIndex([0, 1, 2, 0, 2, 3]);

/** How a Sprite is tracked: as the square, turned to the camera. */
interface Facade {
  material: Material;
  readonly matrixWorld: Matrix4;
}

/** A Sprite in the service: a square that is turned to the camera of each `update`, or a shape, which is not turned. */
export class TrackedSprite extends TrackedObject implements CameraFacing {
  declare readonly object: Sprite;
  readonly #context: TrackerContext;
  readonly #settings: ObjectSettings;
  readonly #replacement: { shape: Shape | null };
  readonly #facade: Mesh & Facade;
  /** What was thrown when it was turned. */
  #fault: { readonly thrown: unknown } | null = null;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, sprite: Sprite, settings: ObjectSettings) {
    const replacement = { shape: settings.shape(sprite) };
    const facade = facadeOf(sprite);
    const spriteSettings: ObjectSettings = {
      contacts: settings.contacts,
      shape: () => replacement.shape,
      // A Sprite that turns to the camera moves, whatever its options say.
      options: () => {
        const options = settings.options(sprite);
        return replacement.shape === null ? { ...options, motion: 'moving' } : options;
      },
    };
    super(context, sprite, spriteSettings, replacement.shape === null ? facade : (sprite as unknown as Mesh));
    this.#context = context;
    this.#settings = settings;
    this.#replacement = replacement;
    this.#facade = facade;
    this.#register();
  }

  override askAgain(): void {
    this.#replacement.shape = this.#settings.shape(this.object);
    this.drawn = this.#replacement.shape === null ? this.#facade : (this.object as unknown as Mesh);
    super.askAgain();
    this.#register();
  }

  override remove(): boolean {
    this.#context.sprites.delete(this);
    return super.remove();
  }

  protected override look(visible: boolean): void {
    if (this.#fault !== null) throw this.#fault.thrown;
    super.look(visible);
  }

  /** Turns the square to the camera; if the Sprite cannot be read, `update` reports that. */
  face(camera: Matrix4, view: Matrix4, isPerspective: boolean): void {
    const previousFault = this.#fault;
    try {
      this.#faceCamera(camera, view, isPerspective);
      this.#fault = null;
    } catch (thrown) {
      this.#fault = { thrown };
    }
    if (previousFault === null && this.#fault === null) return;
    if (this.#fault === null) this.planAgain();
    this.#context.stale.add(this);
  }

  /** Turns the square as three's shader does. */
  #faceCamera(camera: Matrix4, view: Matrix4, isPerspective: boolean): void {
    const { material, center, matrixWorld } = this.object;
    const facade = this.#facade;
    if (Object.getPrototypeOf(facade.material) !== material) facade.material = twoSided(material);
    const m = matrixWorld.elements;
    const v = view.elements;
    const c = camera.elements;
    let width = Math.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    let height = Math.sqrt(m[4] * m[4] + m[5] * m[5] + m[6] * m[6]);
    if (isPerspective && !material.sizeAttenuation) {
      const depth = -(v[2] * m[12] + v[6] * m[13] + v[10] * m[14] + v[14]);
      width *= depth;
      height *= depth;
    }
    const { rotation } = material;
    const [cos, sin] = rotation === 0 ? [1, 0] : [Math.cos(rotation), Math.sin(rotation)];
    const [left, bottom] = [0.5 - center.x, 0.5 - center.y];
    const e = facade.matrixWorld.elements;
    for (let i = 0; i < 3; i++) {
      const x = width * (cos * c[i] + sin * c[4 + i]);
      const y = height * (cos * c[4 + i] - sin * c[i]);
      e[i] = x;
      e[4 + i] = y;
      e[8 + i] = c[8 + i];
      e[12 + i] = m[12 + i] + left * x + bottom * y;
    }
  }

  #register(): void {
    const context = this.#context;
    if (this.#replacement.shape !== null) context.sprites.delete(this);
    else {
      context.sprites.add(this);
      faceSprites(context, context.camera, [this]);
    }
  }
}

const toWorld = new Matrix4();

/** Turns sprites, by default all, to the camera of a frame. Sprites that are added later are turned to it, too. */
export function faceSprites(
  context: Pick<TrackerContext, 'sprites' | 'camera'>,
  camera: Camera | undefined,
  sprites: Iterable<CameraFacing> = context.sprites,
): void {
  if (camera?.isCamera !== true) return;
  context.camera = camera;
  if (context.sprites.size === 0) return;
  updateCamera(camera);
  const isPerspective = (camera as PerspectiveCamera).isPerspectiveCamera === true;
  // three draws with a view that has no scale of the camera's parents, though its Raycaster places sprites with it.
  const world = toWorld.copy(camera.matrixWorldInverse).invert();
  for (const sprite of sprites) sprite.face(world, camera.matrixWorldInverse, isPerspective);
}

/** Makes a facade of a Sprite that can be tracked as a Mesh. It is nowhere until it is first turned to a camera. */
function facadeOf(sprite: Sprite): Mesh & Facade {
  return Object.create(sprite, {
    isMesh: { value: true },
    geometry: { value: SQUARE },
    material: { value: twoSided(sprite.material), writable: true },
    matrixWorld: { value: new Matrix4().makeScale(0, 0, 0) },
  });
}

const TWO_SIDED_MATERIALS = new WeakMap<Material, Material>();

/** Returns a material like the given one, except that both sides are hit. */
function twoSided(material: Material): Material {
  let twoSidedMaterial = TWO_SIDED_MATERIALS.get(material);
  if (twoSidedMaterial === undefined) {
    twoSidedMaterial = Object.create(material, { side: { value: DoubleSide } }) as Material;
    TWO_SIDED_MATERIALS.set(material, twoSidedMaterial);
  }
  return twoSidedMaterial;
}
