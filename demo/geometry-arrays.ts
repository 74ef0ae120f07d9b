import { Box3, BufferAttribute, BufferGeometry, Sphere, Vector3 } from 'three';

type Arrays = Record<string, { array: Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>; itemSize: number }>;

/** A geometry in the form in which a worker sends it: arrays, with its box and its sphere as numbers. */
export interface GeometryArrays {
  readonly attributes: Arrays;
  readonly indices: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
  readonly box: readonly number[];
  readonly sphere: readonly number[];
}

/** For workers: posts an indexed geometry with the bounds that a renderer needs, and transfers its arrays. */
export function postGeometry(geometry: BufferGeometry): void {
  geometry.computeBoundingBox();
  geometry.computeBoundingSphere();
  const { min, max } = geometry.boundingBox!;
  const { center, radius } = geometry.boundingSphere!;
  const attributes: Arrays = {};
  for (const [name, { array, itemSize }] of Object.entries(geometry.attributes)) {
    attributes[name] = { array: array as Float32Array<ArrayBuffer>, itemSize };
  }
  const indices = geometry.index!.array as Uint32Array<ArrayBuffer>;
  const answer: GeometryArrays = {
    attributes,
    indices,
    box: [...min.toArray(), ...max.toArray()],
    sphere: [...center.toArray(), radius],
  };
  postMessage(answer, { transfer: [indices, ...Object.values(attributes).map(({ array }) => array)].map(bufferOf) });
}

/** For the page: rebuilds the geometry. */
export function geometryOf({ attributes, indices, box, sphere }: GeometryArrays): BufferGeometry {
  const geometry = new BufferGeometry().setIndex(new BufferAttribute(indices, 1));
  for (const [name, { array, itemSize }] of Object.entries(attributes)) {
    geometry.setAttribute(name, new BufferAttribute(array, itemSize));
  }
  geometry.boundingBox = new Box3(new Vector3().fromArray(box), new Vector3().fromArray(box, 3));
  geometry.boundingSphere = new Sphere(new Vector3().fromArray(sphere), sphere[3]);
  return geometry;
}

function bufferOf({ buffer }: { buffer: ArrayBuffer }): ArrayBuffer {
  return buffer;
}
