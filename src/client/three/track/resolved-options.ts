import type { Shape } from '../../../shared/types.js';
import { checkBits } from '../../check/validate.js';
import {
  copyDeep,
  isEqualDeep,
  type ObjectSettings,
  type SceneDrawable,
  type SceneObjectOptions,
} from './object-settings.js';

/** The results of the caller's functions for one object, as of the last call. */
export class ResolvedOptions {
  readonly #object: SceneDrawable;
  readonly #settings: ObjectSettings;
  options!: Omit<SceneObjectOptions, 'solid' | 'weld'>;
  isSolid = false;
  weld = 0;
  isStatic = false;
  /** Replaces the object's triangles. */
  shape: Shape | null = null;

  /** Throws what the caller's functions throw. */
  constructor(object: SceneDrawable, settings: ObjectSettings) {
    this.#object = object;
    this.#settings = settings;
    this.ask();
  }

  /** Asks for the options again, not for the shape; returns whether any option has changed. */
  ask(): boolean {
    const { options: previous, isSolid, weld } = this;
    const given = this.#settings.options(this.#object);
    const { solid = false, weld: width = 0, contacts = this.#settings.contacts, ...options } = given;
    // Layers reach the service in another way than the other options, which it checks itself.
    if (options.layers !== undefined) checkBits('trackScene', 'layers', options.layers);
    this.options = { ...options, contacts };
    if (options.boxes !== undefined) this.options.boxes = copyDeep(options.boxes);
    this.isSolid = solid;
    this.weld = width;
    this.isStatic = options.motion === 'static';
    return solid !== isSolid || width !== weld || !isEqualDeep(previous, this.options);
  }

  /** Asks for the shape; returns whether it has changed. */
  askShape(): boolean {
    const shape = this.#settings.shape(this.#object);
    if (isEqualDeep(this.shape, shape)) return false;
    this.shape = copyDeep(shape);
    return true;
  }
}
