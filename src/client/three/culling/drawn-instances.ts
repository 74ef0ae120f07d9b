import {
  type BufferGeometry,
  DataTexture,
  DynamicDrawUsage,
  FloatType,
  InstancedBufferAttribute,
  type InstancedMesh,
  RedFormat,
  type TypedArray,
} from 'three';

type InstanceSource = InstancedMesh['instanceMatrix'] | DataTexture;

/** Capacity per drawn instance, so that the buffers are not reallocated in each frame. */
const HEADROOM = 1.5;
const MIN_CAPACITY = 64;

/** The source and version of a copy: the app may since have replaced or written to the source. */
interface CopiedVersion {
  readonly of: InstanceSource;
  readonly version: number;
}

/** The mesh that a renderer draws in place of an InstancedMesh. */
type ReplacementMesh = InstancedMesh & { children: never[] };

/** Numbers of instances in their order. */
interface InstanceList {
  readonly numbers: Uint32Array;
  readonly count: number;
  /** Their matrices, if they are known in this order. */
  readonly matrices: Float32Array | null;
}

/**
 * Some instances of an InstancedMesh, for a renderer to draw in its place. The app's mesh remains as it is. The mesh drawn in its
 * place inherits everything from it, including its place in the scene and its id, and has matrices, colours, influences of morph
 * targets and a count of its own, and in a coarser level of detail a geometry. It casts no shadow: the app's mesh does that, with
 * all of its instances.
 */
export class DrawnInstances {
  readonly #mesh: InstancedMesh;
  /** The geometry that is drawn; null for the mesh's own. */
  readonly #geometry: BufferGeometry | null;
  #replacement: ReplacementMesh | null = null;
  #instanceIds = new Uint32Array(MIN_CAPACITY);
  /** The sources that the replacement's arrays are copied from: matrices, colours and influences of the list. */
  #copied: (CopiedVersion | undefined)[] = [];

  constructor(mesh: InstancedMesh, geometry: BufferGeometry | null) {
    this.#mesh = mesh;
    this.#geometry = geometry;
  }

  /** Makes these instances be drawn in this order. */
  show({ numbers: instanceIds, count, matrices: knownMatrices }: InstanceList): InstancedMesh {
    const mesh = this.#mesh;
    const { instanceMatrix, instanceColor } = mesh;
    const morphTexture = this.#morphTexture;
    if (count > this.#instanceIds.length) this.#instanceIds = new Uint32Array(Math.ceil(HEADROOM * count));
    const replacement = this.#replacementFor(count);
    if (count !== replacement.count || !isEqual(this.#instanceIds, instanceIds, count)) {
      this.#instanceIds.set(instanceIds.subarray(0, count));
      this.#copied = [];
    }
    const copied = this.#copied;
    if (!isCopy(copied[0], instanceMatrix)) {
      if (knownMatrices === null) copyInstances(instanceMatrix, replacement.instanceMatrix, instanceIds, count);
      else {
        replacement.instanceMatrix.array.set(knownMatrices);
        upload(replacement.instanceMatrix, count);
      }
      copied[0] = recordCopy(instanceMatrix);
    }
    if (instanceColor !== null && !isCopy(copied[1], instanceColor)) {
      copyInstances(instanceColor, replacement.instanceColor!, instanceIds, count);
      copied[1] = recordCopy(instanceColor);
    }
    if (morphTexture !== null && !isCopy(copied[2], morphTexture)) {
      copyRows(morphTexture, replacement.morphTexture!, instanceIds, count);
      copied[2] = recordCopy(morphTexture);
    }
    replacement.count = count;
    return replacement;
  }

  /** Frees the memory on the graphics card, once a render that may have yet to draw with it is over. */
  dispose(): void {
    const replacement = this.#replacement;
    queueMicrotask(() => {
      replacement?.dispatchEvent({ type: 'dispose' });
      replacement?.morphTexture?.dispose();
    });
    this.#replacement = null;
    this.#copied = [];
  }

  /** The influences of morph targets; null if the geometry has none, which a level of detail may lack. */
  get #morphTexture(): DataTexture | null {
    const { morphAttributes } = this.#geometry ?? this.#mesh.geometry;
    return Object.keys(morphAttributes).length === 0 ? null : (this.#mesh.morphTexture ?? null);
  }

  #replacementFor(count: number): ReplacementMesh {
    const { instanceMatrix, instanceColor } = this.#mesh;
    const morphTexture = this.#morphTexture;
    const current = this.#replacement;
    const fits =
      current !== null &&
      count <= current.instanceMatrix.count &&
      hasSameFormat(current.instanceMatrix as InstancedBufferAttribute, instanceMatrix as InstancedBufferAttribute) &&
      hasSameFormat(
        current.instanceColor as InstancedBufferAttribute | null,
        instanceColor as InstancedBufferAttribute | null,
      ) &&
      widthOf(current.morphTexture) === widthOf(morphTexture);
    if (fits) return current;
    this.dispose();
    const capacity = Math.max(MIN_CAPACITY, Math.min(Math.ceil(HEADROOM * count), instanceMatrix.count));
    this.#replacement = createReplacement(this.#mesh, {
      instanceMatrix: emptyLike(instanceMatrix as InstancedBufferAttribute, capacity),
      instanceColor: instanceColor === null ? null : emptyLike(instanceColor as InstancedBufferAttribute, capacity),
      morphTexture: morphTexture === null ? null : emptyRows(morphTexture, capacity),
      ...(this.#geometry !== null && { geometry: this.#geometry }),
    });
    return this.#replacement;
  }
}

function createReplacement(mesh: InstancedMesh, arrays: Partial<InstancedMesh>): ReplacementMesh {
  const overrides = {
    ...arrays,
    count: 0,
    children: [],
    frustumCulled: true, // the pass decides where it is drawn: not in shadows
    // Renderers listen for the disposal of the replacement itself.
    _listeners: undefined,
    updateMatrixWorld: () => {},
    // The replacement would be drawn and sorted where the mesh is not if it had another sphere.
    computeBoundingSphere: () => mesh.computeBoundingSphere(),
    raycast: () => {},
    // The app's callbacks are called on the mesh itself, whose private fields are not inherited.
    onBeforeRender: (...args: Parameters<InstancedMesh['onBeforeRender']>) => mesh.onBeforeRender(...args),
    onAfterRender: (...args: Parameters<InstancedMesh['onAfterRender']>) => mesh.onAfterRender(...args),
  };
  return Object.create(mesh, Object.getOwnPropertyDescriptors(overrides)) as ReplacementMesh;
}

/** Notes what was copied. three may never upload the source's update ranges: those that the app adds would pile up. */
function recordCopy(source: InstanceSource): CopiedVersion {
  if ('count' in source && source.updateRanges.length > source.count) {
    source.clearUpdateRanges();
    source.addUpdateRange(0, source.array.length);
  }
  return { of: source, version: source.version };
}

function isCopy(copied: CopiedVersion | undefined, attribute: InstanceSource): boolean {
  return copied?.of === attribute && copied.version === attribute.version;
}

function widthOf(texture: DataTexture | null): number {
  return texture == null ? 0 : (texture.image as { width: number }).width;
}

/** Returns a texture of the kind that `setMorphAt` makes, with room for this many rows. */
function emptyRows(texture: DataTexture, count: number): DataTexture {
  const { width } = texture.image as { width: number };
  return new DataTexture(new Float32Array(width * count), width, count, RedFormat, FloatType);
}

/** Copies the rows of a list. */
function copyRows(from: DataTexture, to: DataTexture, instanceIds: Uint32Array, count: number): void {
  const { data, width } = from.image as { data: Float32Array; width: number };
  copyItems(data, (to.image as { data: Float32Array }).data, width, instanceIds, count);
  to.needsUpdate = true;
}

/** Copies items of `size` numbers each; missing numbers are read as zeros. */
function copyItems(
  source: TypedArray,
  target: TypedArray,
  size: number,
  instanceIds: Uint32Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const at = size * instanceIds[i];
    for (let k = 0; k < size; k++) target[size * i + k] = source[at + k] ?? 0;
  }
}

/** Returns an attribute of the same kind, with room for this many instances. */
function emptyLike(attribute: InstancedBufferAttribute, count: number): InstancedBufferAttribute {
  const { array, itemSize, normalized, meshPerAttribute } = attribute;
  const TypedArray = array.constructor as Float32ArrayConstructor;
  const empty = new InstancedBufferAttribute(new TypedArray(itemSize * count), itemSize, normalized, meshPerAttribute);
  empty.setUsage(DynamicDrawUsage);
  return empty;
}

function hasSameFormat(a: InstancedBufferAttribute | null, b: InstancedBufferAttribute | null): boolean {
  if (a === null || b === null) return a === b;
  return a.itemSize === b.itemSize && a.normalized === b.normalized && a.array.constructor === b.array.constructor;
}

/** Copies the instances of a list, and sends no more than these to the graphics card. */
function copyInstances(
  from: InstancedBufferAttribute,
  to: InstancedBufferAttribute,
  instanceIds: Uint32Array,
  count: number,
): void {
  const { itemSize, array } = from;
  if (itemSize === 16) copyMatrices(array as Float32Array, to.array as Float32Array, instanceIds, count);
  else copyItems(array, to.array, itemSize, instanceIds, count);
  upload(to, count);
}

/** Sends this many instances to the graphics card. */
function upload(attribute: InstancedBufferAttribute, count: number): void {
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, attribute.itemSize * count);
  attribute.needsUpdate = true;
}

/** Copies some matrices. For 10,000 it takes 0.13 ms; a loop over the sixteen takes 0.20 ms, subarrays and `set` take 0.42 ms. */
function copyMatrices(source: Float32Array, target: Float32Array, instanceIds: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const from = 16 * instanceIds[i];
    const to = 16 * i;
    target[to] = source[from];
    target[to + 1] = source[from + 1];
    target[to + 2] = source[from + 2];
    target[to + 3] = source[from + 3];
    target[to + 4] = source[from + 4];
    target[to + 5] = source[from + 5];
    target[to + 6] = source[from + 6];
    target[to + 7] = source[from + 7];
    target[to + 8] = source[from + 8];
    target[to + 9] = source[from + 9];
    target[to + 10] = source[from + 10];
    target[to + 11] = source[from + 11];
    target[to + 12] = source[from + 12];
    target[to + 13] = source[from + 13];
    target[to + 14] = source[from + 14];
    target[to + 15] = source[from + 15];
  }
}

function isEqual(a: Uint32Array, b: Uint32Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (a[i] !== b[i]) return false;
  return true;
}
