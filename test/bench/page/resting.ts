import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { Random } from '../../oracle/random.js';
import type { PageRow } from './page-row.js';
import { roundOf, StreamedScene, timed } from './streamed.js';

const WARM_UP_FRAMES = 300;

/** The adapter's frame of a scene at rest, compared with three's own work on it in every frame. */
async function restingRow(count: number, motion: 'moving' | 'static'): Promise<PageRow> {
  const root = new Scene();
  const geometry = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const random = new Random(1);
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(geometry, material);
    mesh.position.copy(random.point(30));
    root.add(mesh);
  }
  // As a renderer does.
  const draw = () => root.updateMatrixWorld();
  draw();
  const streamed = await StreamedScene.of(root, { objectOptions: () => ({ motion }) });
  await streamed.warmUp(draw, WARM_UP_FRAMES);
  return {
    contenders: {
      ours: (round) => roundOf(round, draw, () => streamed.share()),
      "three's updateMatrixWorld": (round) =>
        roundOf(
          round,
          () => {},
          () => timed(draw),
        ),
    },
    idle: (round) => roundOf(round, draw, async () => 0),
    close() {
      streamed.close();
    },
  };
}

export const stillRow = (count: number) => restingRow(count, 'moving');
export const staticRow = (count: number) => restingRow(count, 'static');
