import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Scene } from 'three';
import { Random } from '../../oracle/random.js';
import { matricesRow } from './matrices-row.js';
import type { PageRow } from './page-row.js';

/** The adapter's frame of an InstancedMesh, compared with one `set` of its array. */
export async function instancesRow(count: number): Promise<PageRow> {
  const root = new Scene();
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
  const random = new Random(1);
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().setPosition(random.point(30)));
  root.add(mesh);
  root.updateMatrixWorld();
  const changed = (): void => {
    mesh.instanceMatrix.needsUpdate = true;
  };
  const { row } = await matricesRow({ root, array: mesh.instanceMatrix.array as Float32Array, changed });
  return row;
}
