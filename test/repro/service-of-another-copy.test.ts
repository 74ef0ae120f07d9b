// A page with two copies of the package: the service is made by one, the tracker by the other.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CollisionError } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BufferAttribute, BufferGeometry, Mesh, Scene } from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

let folder: string;
let copy: typeof import('collision-worker');
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'copy-'));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  copy = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'dist/index.node.js')).href);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('its errors are recognized', async () => {
  expect(copy.CollisionError).not.toBe(CollisionError);
  const service = await copy.createCollisionService();
  service.dispose();
  const error = await service.update().catch((each) => each);
  expect([CollisionError.is(error), copy.CollisionError.is(error)]).toEqual([true, true]);
  expect(error.code).toBe('DISPOSED');
});

test('what it refuses is left out in its words, and its end is an end', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const service = await copy.createCollisionService();
  const flat = new Mesh(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(9), 3)));
  const scene = new Scene().add(cube(), flat);
  const tracker = await trackScene(service, scene);
  expect(tracker.untracked.get(flat)?.message).toMatch(/^addMesh: none of the 1 triangles/);
  await tracker.update(frontCamera(), SIZE);

  service.dispose();
  scene.children[0].position.x = 1;
  scene.updateMatrixWorld();
  await expect(tracker.update(frontCamera(), SIZE)).rejects.toMatchObject({
    code: 'DISPOSED',
    message: 'update: the service was disposed',
  });
  tracker.dispose();
  expect(warn).toHaveBeenCalledOnce(); // of the flat mesh
  warn.mockRestore();
});
