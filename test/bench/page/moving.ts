import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { Random } from '../../oracle/random.js';
import { Echo } from './messages.js';
import type { PageRow } from './page-row.js';
import { roundOf, StreamedScene, timed } from './streamed.js';

/** Meshes that all move and rotate in every frame. */
export class MovingScene {
  readonly root = new Scene();
  readonly meshes: Mesh[] = [];
  readonly #random = new Random(1);

  constructor(count: number) {
    const geometry = new BoxGeometry();
    const material = new MeshBasicMaterial();
    for (let i = 0; i < count; i++) {
      const mesh = new Mesh(geometry, material);
      mesh.position.copy(this.#random.point(30));
      mesh.userData.base = mesh.position.clone();
      this.meshes.push(mesh);
      this.root.add(mesh);
    }
    this.move(0);
  }

  readonly move = (frame: number): void => {
    for (let i = 0; i < this.meshes.length; i++) {
      const { position, rotation, userData } = this.meshes[i];
      position.copy(userData.base);
      position.x += Math.sin(0.05 * frame + i);
      position.y += Math.cos(0.05 * frame + i);
      rotation.y = 0.05 * frame + i;
    }
    this.root.updateMatrixWorld();
  };
}

/** The adapter's frame, compared with a loop that only copies the same matrices. */
export async function movingRow(count: number): Promise<PageRow> {
  const { root, meshes, move } = new MovingScene(count);
  const streamed = await StreamedScene.of(root);
  await streamed.warmUp(move);
  const target = new Float64Array(16 * count);
  const echo = new Echo(target.byteLength);
  const copy = (output: Float64Array): void => {
    for (let i = 0; i < meshes.length; i++) {
      const { elements } = meshes[i].matrixWorld;
      const at = 16 * i;
      for (let k = 0; k < 16; k++) output[at + k] = elements[k];
    }
  };
  let frame = 0;
  const timeRound = (round: number, work: () => number | Promise<number>) =>
    roundOf(
      round,
      (frameIndex) => {
        frame = frameIndex;
        move(frame);
      },
      work,
    );
  return {
    contenders: {
      ours: (round) => timeRound(round, () => streamed.share()),
      'bare loop': (round) => timeRound(round, () => timed(() => copy(target))),
      'bare loop and two messages': (round) =>
        timeRound(round, async () => {
          const copyMs = timed(() => copy(new Float64Array(echo.buffer)));
          return copyMs + (await echo.send());
        }),
    },
    checksums: {
      ours: () => {
        move(frame + 1);
        return streamed.record();
      },
      'bare loop': async () => {
        move(frame + 1);
        copy(target);
        let sum = 0;
        for (let i = 0; i < target.length; i++) if (i % 4 !== 3) sum += target[i];
        return { objects: count, sum };
      },
    },
    idle: (round) => timeRound(round, async () => 0),
    close() {
      streamed.close();
      echo.close();
    },
  };
}
