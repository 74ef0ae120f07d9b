import type { Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import type { Contender, Row } from '../harness.js';
import { coreWithMesh, filterOf, OURS } from '../ours.js';
import { meshObject, raycaster } from '../peers/raycaster.js';
import { raycastFirst, treeOf } from '../peers/three-mesh-bvh.js';
import { rayChecksum, raysAround } from '../work/rays.js';

export interface RaysOptions {
  name: string;
  mesh(): Triangles;
  what: string;
  rays: number;
  /** Of three's Raycaster, which tests every triangle. */
  fewRays: number;
  target: number;
}

/** First hits on both sides of the triangles of one mesh. */
export function raysRow({ name, mesh, what, rays: count, fewRays, target }: RaysOptions): Row {
  return {
    name,
    work: `${count} first hits from a sphere around ${what} to random points in its box`,
    rounds: 11,
    async prepare() {
      const triangles = mesh();
      const rays = raysAround(new Random(1), triangles.positions, count);
      return {
        contenders: [
          await ourRays(triangles, rays),
          { ...raycastFirst(treeOf(triangles), rays), target },
          raycaster([meshObject(triangles)], rays, fewRays),
        ],
      };
    },
  };
}

async function ourRays(triangles: Triangles, rays: Float32Array): Promise<Contender> {
  const core = await coreWithMesh(triangles);
  let distances = new Float64Array(0);
  return {
    name: OURS,
    run() {
      ({ distances } = core.raycastMany(rays, filterOf()));
    },
    checksum: (part) => rayChecksum(distances, part),
  };
}
