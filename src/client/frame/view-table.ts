import {
  OCCLUSION_EXACT,
  OCCLUSION_LASTING,
  OCCLUSION_NONE,
  VIEW_BYTES,
  VIEW_DEPTH,
  VIEW_LAYERS,
  VIEW_MARGIN,
  VIEW_MATRIX,
  VIEW_MIN_PIXELS,
  VIEW_OCCLUSION,
  VIEW_OCCLUSION_MARGIN,
  VIEW_PROJECTION,
  VIEW_REVERSED,
  VIEW_SLOT,
  VIEW_VIEWPORT,
} from '../../shared/layout.js';
import { areEqual } from '../../shared/typed-arrays.js';
import type { ViewOptions } from '../../shared/types.js';
import {
  checkAtLeastZero,
  checkBits,
  checkBoolean,
  checkFinite,
  checkMatrix,
  checkNumbers,
  checkOneOf,
  describeValue,
  guardRead,
  invalidArgumentError,
  readNumbers,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { IDENTITY } from '../transforms/affine.js';
import type { FrameBuilder } from './frame-builder.js';

const KEYS = [
  ...['projection', 'view', 'viewport', 'depth', 'reversed', 'layers', 'margin', 'minPixels'],
  ...['occlusion', 'occlusionMargin'],
];
const VIEWPORT_KEYS = ['x', 'y', 'width', 'height'];
const DEPTHS = ['webgl', 'webgpu'] as const;
const PROJECTION_NUMBERS = 16;

/** A view without pixels sees nothing, whatever its matrices: no object is in any of its layers. */
const NO_LAYERS = 0;

/** A view's record (layout.ts). */
export class View {
  readonly record = new Uint32Array(VIEW_BYTES / 4);
  readonly floats = new Float64Array(this.record.buffer);
  /** Whether the record is newer than the one that is staged or sent. */
  dirty = true;
  /** Whether an update() has included it. */
  isAsked = false;

  constructor(slot: number) {
    this.record[VIEW_SLOT / 4] = slot;
  }

  get slot(): number {
    return this.record[VIEW_SLOT / 4];
  }

  /** Whether the viewport has no pixels. */
  get isEmpty(): boolean {
    return this.floats[VIEW_VIEWPORT / 8 + 2] === 0 || this.floats[VIEW_VIEWPORT / 8 + 3] === 0;
  }

  /** Writes the margin, and whether occlusion is requested, with its own margin if given. */
  setMargins(margin: number, hasOcclusion: boolean, occlusionMargin: number | undefined): void {
    const { record, floats } = this;
    floats[VIEW_MARGIN / 8] = margin;
    // The margin bounds the sum of the frustum's and an object's motion. The eye, an object and its occluder may move by twice
    // that relative to one another.
    const lastingMargin = occlusionMargin ?? (margin > 0 ? 2 * margin : undefined);
    const kind = lastingMargin === undefined ? OCCLUSION_EXACT : OCCLUSION_LASTING;
    record[VIEW_OCCLUSION / 4] = hasOcclusion ? kind : OCCLUSION_NONE;
    floats[VIEW_OCCLUSION_MARGIN / 8] = hasOcclusion ? (lastingMargin ?? 0) : 0;
  }
}

/** The views by name. The worker knows them by slot, and keeps each until it is changed or removed. */
export class ViewTable {
  #names: (string | undefined)[] = [];
  /** The array of names that a frame may keep: a change makes a new one. */
  #keptNames: unknown;
  readonly #views = new Map<string, View>();
  readonly #freeSlots: number[] = [];
  readonly #scratch = new View(0);

  /** The name of each slot. A frame can keep the array: it has the names of its time. */
  get names(): readonly (string | undefined)[] {
    this.#keptNames = this.#names;
    return this.#names;
  }

  /**
   * Sets a view; `preparedView` is the view if it was read before. Callers may pass anything as an extra argument: it is
   * ignored.
   */
  set(operation: string, name: unknown, options: ViewOptions, preparedView?: unknown): void {
    if (typeof name !== 'string' || name === '') throwInvalid(operation, 'name', name, 'a name');
    const isPrepared = guardRead(operation, 'view', () => preparedView instanceof View);
    const { record } = isPrepared ? (preparedView as View) : readView(operation, options, this.#scratch);
    const view = this.#views.get(name) ?? this.#add(name);
    record[VIEW_SLOT / 4] = view.slot;
    if (areEqual(view.record, record)) return;
    view.record.set(record);
    view.dirty = true;
  }

  get(operation: string, argument: string, name: unknown): View {
    const view = this.#views.get(name as string);
    if (view) return view;
    const knownNames = [...this.#views.keys()].map(describeValue).join(', ') || 'none yet';
    throw invalidArgumentError(
      `${operation}: ${argument} is ${describeValue(name)}, expected a view that was set: ${knownNames}`,
    );
  }

  /** Copies the current record of a view, by name, or of a view that is given for a query alone. */
  recordOf(operation: string, argument: string, view: string | ViewOptions): Uint32Array {
    if (typeof view === 'string') return this.get(operation, argument, view).record.slice();
    return readView(operation, view).record;
  }

  /** Removes a view and returns its slot. */
  delete(operation: string, name: unknown): number {
    const { slot } = this.get(operation, 'name', name);
    this.#views.delete(name as string);
    this.#freeSlots.push(slot);
    this.#setName(slot);
    return slot;
  }

  /** Stages the views that changed. */
  stage(staging: FrameBuilder): void {
    for (const view of this.#views.values()) {
      if (!view.dirty) continue;
      staging.setView(view.record);
      view.dirty = false;
      view.isAsked = true;
    }
  }

  /** Returns the slot of a view; undefined if no view has that name. */
  slotOf(name: string): number | undefined {
    return this.#views.get(name)?.slot;
  }

  /** Stages all views that frames have included; they are staged again when the next frame is sent. */
  copyTo(staging: FrameBuilder): void {
    for (const { record, isAsked } of this.#views.values()) if (isAsked) staging.setView(record);
  }

  /** Marks all views dirty, since the worker may not have them. */
  forgetSent(): void {
    for (const view of this.#views.values()) view.dirty = true;
  }

  #add(name: string): View {
    const view = new View(this.#freeSlots.pop() ?? this.#names.length);
    this.#views.set(name, view);
    this.#setName(view.slot, name);
    return view;
  }

  #setName(slot: number, name?: string): void {
    if (this.#keptNames === this.#names) this.#names = [...this.#names];
    this.#names[slot] = name;
  }
}

/** Reads a view that has no name, into a given one if any. */
export function readView(operation: string, options: ViewOptions, target = new View(0)): View {
  if (options === undefined) throwInvalid(operation, 'view', options, 'an object');
  const given = readOptions(operation, 'view', options, KEYS);
  if (given.viewport === undefined) throwInvalid(operation, 'viewport', given.viewport, 'an object');
  given.viewport = readOptions(operation, 'viewport', given.viewport, VIEWPORT_KEYS);
  return checkView(operation, given, target);
}

/** Reads a view from options that nobody else holds: their keys are known, and their contents do not change. */
export function checkView(operation: string, options: ViewOptions, target = new View(0)): View {
  const { record, floats } = target;
  const {
    projection,
    view,
    viewport,
    depth = 'webgl',
    reversed = false,
    layers = -1,
    margin = 0,
    minPixels = 0,
    occlusion = false,
    occlusionMargin,
  } = options;
  const { x = 0, y = 0, width, height } = viewport;
  checkAtLeastZero(operation, 'viewport.width', width);
  checkAtLeastZero(operation, 'viewport.height', height);
  const isEmpty = width === 0 || height === 0;
  // Before anything is written: a getter may call this function again.
  const p = isEmpty ? readAnyProjection(operation, projection) : checkProjection(operation, projection);
  const m = checkMatrix(operation, 'view', view);
  const bits = checkBits(operation, 'layers', layers);
  record[VIEW_LAYERS / 4] = isEmpty ? NO_LAYERS : bits;
  record[VIEW_DEPTH / 4] = DEPTHS.indexOf(checkOneOf(operation, 'depth', depth, DEPTHS));
  record[VIEW_REVERSED / 4] = Number(checkBoolean(operation, 'reversed', reversed));
  floats.set(p, VIEW_PROJECTION / 8);
  floats.set(m, VIEW_MATRIX / 8);
  floats[VIEW_VIEWPORT / 8] = checkFinite(operation, 'viewport.x', x);
  floats[VIEW_VIEWPORT / 8 + 1] = checkFinite(operation, 'viewport.y', y);
  floats[VIEW_VIEWPORT / 8 + 2] = width;
  floats[VIEW_VIEWPORT / 8 + 3] = height;
  floats[VIEW_MIN_PIXELS / 8] = checkAtLeastZero(operation, 'minPixels', minPixels);
  checkAtLeastZero(operation, 'margin', margin);
  if (occlusionMargin !== undefined) checkAtLeastZero(operation, 'occlusionMargin', occlusionMargin);
  target.setMargins(margin, checkBoolean(operation, 'occlusion', occlusion) && !isEmpty, occlusionMargin);
  return target;
}

/** Reads the projection of a view that sees nothing: the aspect of a canvas without a size is often 0 / 0. */
function readAnyProjection(operation: string, projection: ArrayLike<number>): readonly number[] {
  readNumbers(operation, 'projection', projection, PROJECTION_NUMBERS, []);
  return IDENTITY;
}

function checkProjection(operation: string, projection: ArrayLike<number>): number[] {
  const p = checkNumbers(operation, 'projection', projection, PROJECTION_NUMBERS);
  const minor = (i: number, j: number, k: number) =>
    p[i] * (p[j + 1] * p[k + 2] - p[j + 2] * p[k + 1]) +
    p[i + 1] * (p[j + 2] * p[k] - p[j] * p[k + 2]) +
    p[i + 2] * (p[j] * p[k + 1] - p[j + 1] * p[k]);
  const determinant =
    p[15] * minor(0, 4, 8) - p[11] * minor(0, 4, 12) + p[7] * minor(0, 8, 12) - p[3] * minor(4, 8, 12);
  if (determinant === 0) throwInvalid(operation, 'the determinant of projection', determinant, 'an invertible matrix');
  return p;
}
