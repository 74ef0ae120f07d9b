import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Scene } from 'three';
import { Random } from '../../oracle/random.js';
import { Echo } from './messages.js';
import type { PageRow } from './page-row.js';
import { roundOf, Streamed, sumOf, timed } from './streamed.js';

/** The adapter's frame of an InstancedMesh against one `set` of its array. */
export async function instancesRow(count: number): Promise<PageRow> {
  const root = new Scene();
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
  const random = new Random(1);
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().setPosition(random.point(30)));
  root.add(mesh);
  root.updateMatrixWorld();
  const array = mesh.instanceMatrix.array as Float32Array;
  const base = array.slice();
  const move = (frame: number): void => {
    for (let i = 0; i < array.length; i += 16) array[i + 12] = base[i + 12] + Math.sin(0.05 * frame + i);
    mesh.instanceMatrix.needsUpdate = true;
  };
  const streamed = await Streamed.of(root);
  await streamed.warmUp(move);
  const target = new Float32Array(array.length);
  const echo = new Echo(target.byteLength);
  return {
    contenders: {
      ours: (round) => roundOf(round, move, () => streamed.share()),
      'one set': (round) => roundOf(round, move, () => timed(() => target.set(array))),
      'one set and two messages': (round) =>
        roundOf(round, move, async () => {
          const filled = timed(() => new Float32Array(echo.buffer).set(array));
          return filled + (await echo.send());
        }),
    },
    checksums: {
      ours: () => {
        mesh.instanceMatrix.needsUpdate = true;
        return streamed.record();
      },
      'one set': async () => {
        target.set(array);
        return { objects: count, sum: sumOf(target) };
      },
    },
    idle: (round) => roundOf(round, move, async () => 0),
    close() {
      streamed.close();
      echo.close();
    },
  };
}
