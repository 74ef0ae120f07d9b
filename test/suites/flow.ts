import type { CollisionService, MeshId } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { expect } from 'vitest';
import { waves } from '../oracle/meshes.js';

/** Runs frames and picks one after another while a million triangles are built, and returns what was answered. */
export async function runBesideLargeBuild(service: CollisionService) {
  const box = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  service.setView({
    projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
    view: new Matrix4().makeTranslation(0, 0, -10).elements,
    viewport: { width: 200, height: 200 },
  });
  await service.update();

  const fractions: number[] = [];
  let mesh: MeshId | undefined;
  const building = service.addMesh(waves(708), { onProgress: (fraction) => fractions.push(fraction) }).then((id) => {
    mesh = id;
  });
  const counts = { frames: 0, picks: 0, between: new Set<number>() };
  while (mesh === undefined) {
    const x = (counts.frames % 10) / 10;
    service.setTransform(box, new Matrix4().makeTranslation(x, 0, 0).elements);
    const [{ frame, rejected }, hit] = await Promise.all([service.update(), service.pick(100, 100)]);
    expect([rejected.length, hit?.object, hit?.frame]).toEqual([0, box, frame]);
    counts.frames++;
    counts.picks++;
    // How far the build was when a frame and a pick were answered.
    counts.between.add(fractions.at(-1) ?? 0);
  }
  await building;
  return { mesh, box, fractions, ...counts };
}

/** For a build whose progress is reported every few milliseconds; counts only, since machines differ. */
export function expectFlow({ fractions, frames, between }: Awaited<ReturnType<typeof runBesideLargeBuild>>) {
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  expect(new Set(fractions).size).toBeGreaterThan(50);
  expect(fractions[0]).toBeGreaterThanOrEqual(0);
  expect(fractions[0]).toBeLessThan(0.2);
  expect(fractions.at(-1)).toBe(1);
  expect(frames).toBeGreaterThan(50);
  // They were answered throughout, not just before and after.
  expect(between.size).toBeGreaterThan(20);
}
