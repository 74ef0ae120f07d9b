// What culling draws on a page whose policy forbids WebAssembly, though the worker script's policy allows it: the same.
import { type Browser, chromium } from 'playwright';
import type * as Three from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { type Site, serveSite } from './site.js';

let browser: Browser;
const sites: Site[] = [];
beforeAll(async () => {
  browser = await chromium.launch(chromiumLaunchOptions());
});
afterAll(async () => {
  await browser?.close();
  for (const site of sites) site.close();
});

/** Draws some frames of moving instances; returns how many are drawn in each, and what the policy has blocked. */
async function drawn() {
  const { three, createCollisionService, trackScene } = globalThis as unknown as {
    three: typeof Three;
    createCollisionService: typeof import('collision-worker').createCollisionService;
    trackScene: typeof import('collision-worker/three').trackScene;
  };
  const forbidden: string[] = [];
  addEventListener('securitypolicyviolation', ({ blockedURI }) => forbidden.push(blockedURI));
  const mesh = new three.InstancedMesh(new three.BoxGeometry(), new three.MeshBasicMaterial(), 200);
  for (let i = 0; i < 200; i++) mesh.setMatrixAt(i, new three.Matrix4().makeTranslation(4 * i - 400, 0, 0));
  const scene = new three.Scene().add(mesh);
  scene.updateMatrixWorld();
  const camera = new three.PerspectiveCamera(50, 1, 0.1, 100);
  camera.position.z = 30;
  camera.updateMatrixWorld();
  const service = await createCollisionService();
  const tracker = await trackScene(service, scene, { culling: true });
  const clip = new three.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const frustum = new three.Frustum().setFromProjectionMatrix(clip);
  const counts: (number | undefined)[] = [];
  for (let frame = 0; frame < 10; frame++) {
    mesh.instanceMatrix.needsUpdate = true;
    await tracker.update(camera, { width: 100, height: 100 });
    const renderer = { isWebGLRenderer: true } as never;
    scene.onBeforeRender(renderer, scene, camera, null as never, null as never, null as never);
    frustum.intersectsObject(mesh);
    counts.push((mesh.children[0] as Three.InstancedMesh | undefined)?.count);
    scene.onAfterRender(renderer, scene, camera, null as never, null as never, null as never);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  tracker.dispose();
  service.dispose();
  return { counts, forbidden };
}

test.each([
  ["'wasm-unsafe-eval'", []],
  ['', ['wasm-eval']],
])('with %s in script-src', async (more, forbidden) => {
  const policy = {
    headers: { 'Content-Security-Policy': `worker-src 'self'; script-src 'self' 'nonce-page' ${more}` },
  };
  const site = await serveSite({ '/': policy });
  sites.push(site);
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(site.url);
  await expect.poll(() => page.title()).toBe('ready');
  const found = await page.evaluate(drawn);
  expect(found.forbidden).toEqual(forbidden);
  // From x = -14 to 14, which is the border of the view plus half a box.
  expect(found.counts).toEqual(new Array(10).fill(7));
  expect(faults).toEqual([]);
});
