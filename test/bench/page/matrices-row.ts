import type { TrackOptions } from 'collision-worker/three';
import type { Object3D } from 'three';
import { Echo } from './messages.js';
import type { PageRow } from './page-row.js';
import { roundOf, StreamedScene, sumOf, timed } from './streamed.js';

/** A scene with an array of matrices that changes in each frame; `changed` is called after it was written. */
export interface MovingMatrices {
  root: Object3D;
  /** 16 numbers per instance. */
  array: Float32Array;
  changed(): void;
}

/** The adapter's frame of an array of matrices, compared with one `set` of it. */
export async function matricesRow(
  { root, array, changed }: MovingMatrices,
  options?: TrackOptions,
  warmUpFrames?: number,
): Promise<{ row: PageRow; streamed: StreamedScene; move: (frame: number) => void }> {
  const base = array.slice();
  const move = (frame: number): void => {
    for (let i = 0; i < array.length; i += 16) array[i + 12] = base[i + 12] + Math.sin(0.05 * frame + i);
    changed();
  };
  const streamed = await StreamedScene.of(root, options);
  await streamed.warmUp(move, warmUpFrames);
  const target = new Float32Array(array.length);
  const echo = new Echo(target.byteLength);
  const row: PageRow = {
    contenders: {
      ours: (round) => roundOf(round, move, () => streamed.share()),
      'one set': (round) => roundOf(round, move, () => timed(() => target.set(array))),
      'one set and two messages': (round) =>
        roundOf(round, move, async () => {
          const copyMs = timed(() => new Float32Array(echo.buffer).set(array));
          return copyMs + (await echo.send());
        }),
    },
    checksums: {
      ours: () => {
        changed();
        return streamed.record();
      },
      'one set': async () => {
        target.set(array);
        return { objects: array.length / 16, sum: sumOf(target) };
      },
    },
    idle: (round) => roundOf(round, move, async () => 0),
    close() {
      streamed.close();
      echo.close();
    },
  };
  return { row, streamed, move };
}
