import { createCollisionService, type Hit } from 'collision-worker';
import { PerspectiveCamera } from 'three';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { Random } from '../../oracle/random.js';
import { type Checksum, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS } from '../ours.js';
import { sectionWork } from '../work/cuts.js';

const SIZE = { width: 1920, height: 1080 };
const CURSORS = 200;
const KINDS = ['vertex', 'midpoint', 'center', 'edge'] as const;
/** Maximum time of a snapping pick, as a multiple of a plain one. */
const MAX_RATIO = 1.5;

/** A cursor over many meshes: the hit, with the nearby feature and without. */
export function snapRow(parts: number): Row {
  return {
    name: 'snap-1m',
    work: `awaiting a pick that snaps within 10 pixels among ${parts.toLocaleString('en')} parts of 980 triangles; a pick alone may take ${MAX_RATIO} times less`,
    rounds: 21,
    async prepare() {
      const work = sectionWork(parts, 1);
      const service = await createCollisionService();
      const handles = await Promise.all(
        work.meshes.map(({ positions, indices }) =>
          service.addMesh({ positions: positions.slice(), indices: indices.slice() }, { features: true }),
        ),
      );
      for (let i = 0; i < parts; i++) {
        const mesh = handles[i % handles.length];
        service.addObject({ shape: { type: 'mesh', mesh }, matrix: work.places.subarray(16 * i, 16 * i + 16) });
      }
      const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
      camera.position.set(0, 0, 40);
      camera.updateMatrixWorld();
      service.setView(viewFromCamera(camera, SIZE));
      await service.update();
      const random = new Random(2);
      const cursors = Array.from({ length: CURSORS }, () => [
        random.range(0.2, 0.8) * SIZE.width,
        random.range(0.1, 0.9) * SIZE.height,
      ]);
      const contender = (name: string, options: { snap?: typeof KINDS; radius?: number }): SelfTimedContender => {
        let sum: Checksum = {};
        return {
          name,
          async measure() {
            const hits: (Hit | null)[] = [];
            const start = performance.now();
            for (const [x, y] of cursors) hits.push(await service.pick(x, y, options));
            const ms = performance.now() - start;
            sum = checksumOf(hits);
            return ms;
          },
          checksum: () => sum,
        };
      };
      return {
        repeats: CURSORS,
        contenders: [
          inThisProcess(() => contender(OURS, { snap: KINDS, radius: 10 })),
          inThisProcess(() => ({ ...contender('a pick without a snap', {}), target: 1 / MAX_RATIO })),
        ],
        close: async () => service.dispose(),
      };
    },
  };
}

/** Sums up the hits of the rays themselves. */
function checksumOf(hits: (Hit | null)[]): Checksum {
  const rayHits = hits.flatMap((hit) => (hit && !isSnapOnly(hit) ? [hit] : []));
  return { hits: rayHits.length, distances: rayHits.reduce((sum, { distance }) => sum + distance, 0) };
}

/** Returns whether a hit is the feature's own, because the ray misses everything. */
function isSnapOnly({ point, snap }: Hit): boolean {
  return snap !== undefined && snap !== null && point.every((value, i) => value === snap.point[i]);
}
