import { BatchedMesh, type BufferGeometry, MeshBasicMaterial, SphereGeometry } from 'three';
import type { Random } from '../../oracle/random.js';

const GEOMETRIES = 20;

/** Makes a BatchedMesh with instances of 20 geometries in a sphere with `spacing` for each, and exposes its matrices. */
export function createBatch(random: Random, count: number, spacing: number) {
  const radius = spacing * Math.cbrt(count);
  const forms = Array.from({ length: GEOMETRIES }, (_, i): BufferGeometry => new SphereGeometry(0.5, 6 + i, 5));
  const sum = (countOf: (form: BufferGeometry) => number) => forms.reduce((total, form) => total + countOf(form), 0);
  const vertices = sum((form) => form.attributes.position.count);
  const indices = sum((form) => form.index!.count);
  const batch = new BatchedMesh(count, vertices, indices, new MeshBasicMaterial());
  const geometries = forms.map((form) => batch.addGeometry(form));
  for (let i = 0; i < count; i++) batch.addInstance(geometries[i % GEOMETRIES]);
  const texture = (batch as unknown as { _matricesTexture: { image: { data: Float32Array }; needsUpdate: boolean } })
    ._matricesTexture;
  const array = texture.image.data.subarray(0, 16 * count);
  for (let i = 0; i < array.length; i += 16) random.placement(random.point(radius)).toArray(array, i);
  return { batch, array, texture, radius };
}
