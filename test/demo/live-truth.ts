import type { Page } from 'playwright';
import { type Intersection, type Object3D, Raycaster, Vector2 } from 'three';
import type { LivePage } from '../../demo/live-page.js';
import { cameraIn } from './camera.js';

declare global {
  interface Window {
    livePage?: LivePage;
  }
}

/** Three's own hits at a pixel of the page, nearest first. `root` is a copy of the page's own at the moment. */
export async function hitsAt(page: Page, root: Object3D, x: number, y: number, threshold = 0): Promise<Intersection[]> {
  const { width, height } = page.viewportSize()!;
  const camera = await cameraIn(page, 'window.livePage.camera');
  const raycaster = new Raycaster();
  raycaster.params.Points = { threshold };
  raycaster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
  return raycaster.intersectObject(root);
}

/** Stops the motion, and returns the time at which it stopped. */
export function stopped(page: Page): Promise<number> {
  return page.evaluate(async () => {
    window.livePage!.settings.move = false;
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    return window.livePage!.seconds;
  });
}

/** Waits for a few frames. */
export function framesOf(page: Page): Promise<void> {
  return page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  });
}
