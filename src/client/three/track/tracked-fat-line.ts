import {
  BufferAttribute,
  BufferGeometry,
  type InstancedBufferGeometry,
  type InterleavedBufferAttribute,
  type Mesh,
} from 'three';
import { versionOf } from '../geometry/geometry-version.js';
import type { ObjectSettings } from './object-settings.js';
import type { FatLine, TrackerContext } from './stand-in.js';
import { TrackedObject } from './tracked-object.js';

type EndsAttribute = BufferAttribute | InterleavedBufferAttribute | undefined;

/**
 * A LineSegments2 or Line2 of three's addons in the service: its segments as lines. Each query decides how wide they are
 * (fat-lines.ts).
 */
export class TrackedFatLine extends TrackedObject {
  readonly #context: TrackerContext;
  readonly #lineGeometry: BufferGeometry;
  #startAttribute: EndsAttribute;
  #endAttribute: EndsAttribute;
  #version = -1;

  /** Throws what the caller's functions throw. */
  constructor(context: TrackerContext, object: FatLine, settings: ObjectSettings) {
    const lineGeometry = new BufferGeometry();
    super(context, object, settings, facadeOf(object, lineGeometry));
    this.#context = context;
    this.#lineGeometry = lineGeometry;
    context.fat.add(this);
  }

  protected override look(visible: boolean): void {
    this.#refresh();
    super.look(visible);
  }

  override askAgain(): void {
    this.refresh();
    this.#context.meshes.review(this.#lineGeometry);
    super.askAgain();
  }

  override remove(): boolean {
    this.#context.fat.delete(this);
    return super.remove();
  }

  /** Takes over changes of the geometry; if it cannot be read, `update` reports that. */
  refresh(): void {
    try {
      this.#refresh();
    } catch {
      this.#context.stale.add(this);
    }
  }

  #refresh(): void {
    const { geometry } = this.object as FatLine;
    const { attributes, instanceCount } = geometry as InstancedBufferGeometry;
    const { instanceStart, instanceEnd } = attributes as Record<string, EndsAttribute>;
    const lineGeometry = this.#lineGeometry;
    const count = Math.min(instanceCount ?? 0, instanceStart?.count ?? 0);
    lineGeometry.name = geometry.name;
    lineGeometry.setDrawRange(0, 2 * count);
    const version = versionOf(instanceStart) + versionOf(instanceEnd);
    if (instanceStart === this.#startAttribute && instanceEnd === this.#endAttribute && version === this.#version)
      return;
    this.#startAttribute = instanceStart;
    this.#endAttribute = instanceEnd;
    this.#version = version;
    if (instanceStart === undefined || instanceEnd === undefined) {
      lineGeometry.deleteAttribute('position');
      return;
    }
    const existing = lineGeometry.attributes.position as BufferAttribute | undefined;
    const { count: total } = instanceStart;
    const position = existing?.count === 2 * total ? existing : new BufferAttribute(new Float32Array(6 * total), 3);
    const { array } = position;
    const sharedEnds = sharedArray(instanceStart, instanceEnd);
    if (sharedEnds !== null) {
      array.set(sharedEnds.subarray(0, 6 * total));
    } else {
      for (let i = 0; i < total; i++) {
        position.setXYZ(2 * i, instanceStart.getX(i), instanceStart.getY(i), instanceStart.getZ(i));
        position.setXYZ(2 * i + 1, instanceEnd.getX(i), instanceEnd.getY(i), instanceEnd.getZ(i));
      }
    }
    position.needsUpdate = true;
    lineGeometry.setAttribute('position', position);
  }
}

/** Returns the array that has the ends of all segments one after the other, as the addons make it; else null. */
function sharedArray(start: NonNullable<EndsAttribute>, end: NonNullable<EndsAttribute>): Float32Array | null {
  if (!('data' in start) || !('data' in end) || start.data !== end.data || start.normalized) return null;
  const { array, stride } = start.data;
  return stride === 6 && start.offset === 0 && end.offset === 3 && array instanceof Float32Array ? array : null;
}

/** Makes a facade of the object that can be tracked as LineSegments. */
function facadeOf(object: FatLine, geometry: BufferGeometry): Mesh {
  return Object.create(object, {
    isMesh: { value: false },
    isLine: { value: true },
    isLineSegments: { value: true },
    geometry: { value: geometry },
  });
}
