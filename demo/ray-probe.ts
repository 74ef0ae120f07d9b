import type { CollisionService } from 'collision-worker';
import { type Camera, Raycaster, Vector2 } from 'three';

/** Rays along each side of the grid. */
const SIDE = 16;

/** Returns the time per ray in the worker, in microseconds: the mean over a grid of rays across the whole picture. */
export async function timeOfRay(service: CollisionService, camera: Camera, threshold: number): Promise<number> {
  const { ms } = await service.raycastMany(gridRays(camera), { threshold });
  return (1000 * ms) / SIDE ** 2;
}

/** Eight numbers per ray. */
function gridRays(camera: Camera): Float32Array {
  const raycaster = new Raycaster();
  const rays = new Float32Array(8 * SIDE ** 2);
  for (let i = 0; i < SIDE ** 2; i++) {
    const [column, row] = [i % SIDE, Math.floor(i / SIDE)];
    raycaster.setFromCamera(new Vector2((2 * column + 1) / SIDE - 1, (2 * row + 1) / SIDE - 1), camera);
    const { origin, direction } = raycaster.ray;
    rays.set([...origin.toArray(), 0, ...direction.toArray(), Number.POSITIVE_INFINITY], 8 * i);
  }
  return rays;
}
