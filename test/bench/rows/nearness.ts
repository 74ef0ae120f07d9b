import { Vector3 } from 'three';
import { SHAPE_SPHERE } from '../../../src/shared/layout.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { boundsOf, type Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Contender, inOwnProcess, inThisProcess, type Row } from '../harness.js';
import { coreWithMesh, describe, filterOf } from '../inner.js';
import { OURS } from '../ours.js';
import { closestPointToPoint, intersectsSphere } from '../peers/three-mesh-bvh.js';

/** The closest point of a mesh to points in and around its box: a direct call of the core, without a message for each. */
export function closestRow(mesh: () => Triangles, count: number): Row {
  return {
    name: 'closest-48k-inner',
    work: `the dragon's nearest points to ${count.toLocaleString('en')} random points in twice its box`,
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const points = pointsAround(triangles, count);
      return {
        contenders: [
          inThisProcess(() => ourClosest(triangles, points)),
          inOwnProcess(() => closestPointToPoint(triangles, points)),
        ],
      };
    },
  };
}

/** Whether spheres intersect a mesh: a direct call of the core, without a message for each. */
export function spheresRow(mesh: () => Triangles, count: number): Row {
  return {
    name: 'spheres-48k-inner',
    work: `which of ${count.toLocaleString('en')} random spheres in twice its box meet the dragon's surface`,
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const points = pointsAround(triangles, count);
      const radius = 0.1 * boundsOf(triangles.positions).getSize(new Vector3()).length();
      return {
        contenders: [
          inThisProcess(() => ourSpheres(triangles, points, radius)),
          inOwnProcess(() => intersectsSphere(triangles, points, radius)),
        ],
      };
    },
  };
}

/** xyz each. */
function pointsAround({ positions }: Triangles, count: number): Float64Array {
  const random = new Random(1);
  const box = boundsOf(positions);
  const [center, size] = [box.getCenter(new Vector3()), box.getSize(new Vector3())];
  const points = new Float64Array(3 * count);
  for (let i = 0; i < count; i++)
    random
      .point(1)
      .multiply(size)
      .add(center)
      .toArray(points, 3 * i);
  return points;
}

async function ourClosest(triangles: Triangles, points: Float64Array): Promise<Contender> {
  const core = await coreWithMesh(triangles);
  const distances = new Float64Array(points.length / 3);
  return {
    name: OURS,
    run() {
      for (let i = 0; i < distances.length; i++) {
        const point = [points[3 * i], points[3 * i + 1], points[3 * i + 2]] as const;
        distances[i] = runToEnd(core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, filterOf()))!.distance;
      }
    },
    checksum: () => ({ distances: distances.reduce((sum, each) => sum + each) }),
  };
}

async function ourSpheres(triangles: Triangles, points: Float64Array, radius: number): Promise<Contender> {
  const core = await coreWithMesh(triangles);
  const spheres = Array.from({ length: points.length / 3 }, (_, i) =>
    describe({ shape: SHAPE_SPHERE, center: Array.from(points.subarray(3 * i, 3 * i + 3)), radius }),
  );
  let met = 0;
  return {
    name: OURS,
    run() {
      met = 0;
      for (const sphere of spheres) met += runToEnd(core.volumes.overlap(sphere, filterOf())).length;
    },
    checksum: () => ({ met }),
  };
}
