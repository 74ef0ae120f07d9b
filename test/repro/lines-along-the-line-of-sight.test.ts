// Of a line along the line of sight all places are drawn in one, but for rounding, which chose the one that was hit: in a plan,
// upright lines were hit at their feet, and slabs about them hid them.
import { createCollisionService } from 'collision-worker';
import { OrthographicCamera, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

test(`a line along the line of sight is hit at its end nearer to the eye, seed ${SEED}`, async () => {
  const service = await createCollisionService();
  const random = new Random(SEED);
  for (let round = 0; round < 60; round++) {
    const camera =
      round % 2 ? new OrthographicCamera(-8, 8, 6, -6, 0.1, 100) : new PerspectiveCamera(50, 4 / 3, 0.1, 100);
    const direction = round < 20 ? new Vector3(0, -1, 0) : random.direction();
    if (round < 20) camera.up.set(0, 0, -1);
    camera.position.copy(direction).multiplyScalar(-12);
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
    const view = { projection: camera.projectionMatrix.elements, view: camera.matrixWorldInverse.elements };
    service.setView({ ...view, viewport: { width: 800, height: 600 } });
    // In its object's space it is along an axis, so that its ends are exact.
    const ends = random.chance(0.5) ? [0, 0, -1, 0, 0, 2] : [0, 0, 2, 0, 0, -1];
    const mesh = await service.addMesh({ positions: Float32Array.from(ends), topology: 'lines' });
    // With an orthographic camera it is beside the middle of the picture.
    const matrix = camera.matrixWorld.clone();
    const x = round % 2 ? random.range(-4, 4) : 0;
    matrix.setPosition(new Vector3(x, 0, -12).applyMatrix4(camera.matrixWorld));
    const line = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
    const slab = service.addObject({ shape: { type: 'box', halfExtents: [9, 9, 0.1] }, matrix: matrix.elements });
    await service.update();
    const place: [number, number] = [400 + 50 * x + random.range(-2, 2), 300 + random.range(-2, 2)];
    const hit = await service.pick(...place, { radius: 4 });
    expect(hit?.object, `round ${round}`).toBe(line);
    expect(hit!.distance).toBeCloseTo(10, 2);
    const { snap } = (await service.pick(...place, { radius: 4, snap: ['edge'] }))!;
    expect(snap?.object).toBe(line);
    const top = new Vector3(0, 0, 2).applyMatrix4(matrix);
    expect(new Vector3(...snap!.point).distanceTo(top)).toBeLessThan(1e-5);
    service.removeObject(line);
    service.removeObject(slab);
    service.removeMesh(mesh);
  }
  service.dispose();
});
