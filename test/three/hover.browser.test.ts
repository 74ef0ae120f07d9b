// The object under the pointer, in a real browser: over a canvas that receives pointer events.
import { type CollisionService, createCollisionService } from 'collision-worker';
import type { HoverOptions, SceneIntersection, SceneTracker } from 'collision-worker/three';
import { trackScene } from 'collision-worker/three';
import { InstancedMesh, Matrix4, MeshBasicMaterial, type Object3D, Scene } from 'three';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { frontCamera, SIZE, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

const [MIDDLE_X, MIDDLE_Y] = [SIZE.width / 2, SIZE.height / 2];

let service: CollisionService;
let canvas: HTMLElement;
beforeEach(async () => {
  service = await createCollisionService();
  canvas = document.createElement('div');
  canvas.style.cssText = `position:fixed; left:10px; top:20px; width:${SIZE.width}px; height:${SIZE.height}px; border:3px solid`;
  document.body.append(canvas);
});
afterEach(() => {
  canvas.remove();
  service.dispose();
});

function send(type: string, x: number, y: number, init: PointerEventInit = {}, target: Element = canvas): void {
  const { left, top } = canvas.getBoundingClientRect();
  const place = { clientX: left + 3 + x, clientY: top + 3 + y };
  target.dispatchEvent(new PointerEvent(type, { isPrimary: true, pointerId: 1, bubbles: true, ...place, ...init }));
}

/** The listener's calls: objects, or null, and the previous ones. */
function listen(tracker: SceneTracker, options?: HoverOptions) {
  const heard: (Object3D | null)[] = [];
  const befores: (Object3D | null)[] = [];
  const hits: (SceneIntersection | null)[] = [];
  const end = tracker.hover(
    canvas,
    (hit, before) => {
      heard.push(hit?.object ?? null);
      befores.push(before?.object ?? null);
      hits.push(hit);
    },
    options,
  );
  return { heard, befores, hits, end };
}

/** Two cubes side by side, with a gap between them. */
async function twoCubes() {
  const [left, right] = [cube(), cube()];
  left.position.x = -2;
  right.position.x = 2;
  const tracker = await track(service, new Scene().add(left, right));
  // Where the centre of each is drawn.
  const pixels = (2 * SIZE.height) / 2 / Math.tan((25 * Math.PI) / 180) / 10;
  return { left, right, tracker, leftX: MIDDLE_X - pixels, rightX: MIDDLE_X + pixels };
}

/** Waits for the answers to all queries. */
const answered = async (tracker: SceneTracker): Promise<void> => {
  await tracker.pick(0, 0);
  await tracker.pick(0, 0);
};

describe('hover', () => {
  test('says when the pointer comes to another object, and goes', async () => {
    const { left, right, tracker, leftX, rightX } = await twoCubes();
    const { heard, befores } = listen(tracker);
    for (const [x, y] of [
      [leftX, MIDDLE_Y],
      [leftX + 5, MIDDLE_Y],
      [MIDDLE_X, MIDDLE_Y],
      [rightX, MIDDLE_Y],
    ]) {
      send('pointermove', x, y);
      await answered(tracker);
    }
    expect(heard).toEqual([left, null, right]);
    expect(befores).toEqual([null, left, null]);
    send('pointerleave', rightX, MIDDLE_Y);
    await Promise.resolve();
    expect(heard).toEqual([left, null, right, null]);
  });

  test('says it when objects and the camera move under a pointer that rests', async () => {
    const { left, tracker } = await twoCubes();
    const { heard } = listen(tracker);
    send('pointerenter', MIDDLE_X, MIDDLE_Y);
    await answered(tracker);
    expect(heard).toEqual([]);
    left.position.x = 0;
    await tracker.update(frontCamera(), SIZE);
    await answered(tracker);
    expect(heard).toEqual([left]);
    const camera = frontCamera();
    camera.position.x = 50;
    await tracker.update(camera, SIZE);
    await answered(tracker);
    expect(heard).toEqual([left, null]);
    await tracker.update(frontCamera(), SIZE);
    left.removeFromParent();
    await tracker.update(frontCamera(), SIZE);
    await answered(tracker);
    expect(heard.at(-1)).toBeNull();
  });

  test('tells instances of one mesh apart, and every point on request', async () => {
    const crowd = new InstancedMesh(cube().geometry, new MeshBasicMaterial(), 2);
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(-2, 0, 0));
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(2, 0, 0));
    const tracker = await track(service, new Scene().add(crowd));
    const changes = listen(tracker);
    const all = listen(tracker, { every: true });
    const { leftX, rightX } = { leftX: MIDDLE_X - 129, rightX: MIDDLE_X + 129 };
    for (const x of [leftX, leftX + 1, rightX, rightX + 1]) {
      send('pointermove', x, MIDDLE_Y);
      await answered(tracker);
    }
    expect(changes.hits.map((hit) => hit?.instanceId)).toEqual([0, 1]);
    expect(all.hits.map((hit) => hit?.instanceId)).toEqual([0, 0, 1, 1]);
    expect(all.hits[1]!.point.x).toBeGreaterThan(all.hits[0]!.point.x);
  });

  test('waits for the first update, and hears nothing of a pointer that is gone by then', async () => {
    const box = cube();
    const tracker = await trackScene(service, new Scene().add(box), UNRENDERED);
    const { heard } = listen(tracker);
    send('pointermove', MIDDLE_X, MIDDLE_Y);
    await settle(tracker, frontCamera());
    await answered(tracker);
    expect(heard).toEqual([box]);
    send('pointermove', MIDDLE_X + 1, MIDDLE_Y);
    send('pointerleave', MIDDLE_X, MIDDLE_Y);
    await answered(tracker);
    expect(heard).toEqual([box, null]); // the answer to the move came too late
  });

  test('follows the first finger alone, and what lies over the canvas', async () => {
    const { left, right, tracker, leftX, rightX } = await twoCubes();
    const { heard } = listen(tracker);
    send('pointerdown', leftX, MIDDLE_Y, { pointerType: 'touch' });
    send('pointerdown', rightX, MIDDLE_Y, { pointerType: 'touch', isPrimary: false, pointerId: 2 });
    await answered(tracker);
    send('pointerleave', rightX, MIDDLE_Y, { pointerId: 2 });
    await answered(tracker);
    expect(heard).toEqual([left]);
    const label = document.createElement('span');
    label.style.cssText = 'position:absolute; left:70px; top:50px';
    canvas.append(label);
    send('pointermove', rightX, MIDDLE_Y, {}, label);
    await answered(tracker);
    expect(heard).toEqual([left, right]);
  });

  test('ends by its function, its signal and with the tracker', async () => {
    const { left, tracker, leftX } = await twoCubes();
    const abort = new AbortController();
    const lists = [listen(tracker), listen(tracker, { signal: abort.signal }), listen(tracker)];
    send('pointermove', leftX, MIDDLE_Y);
    await answered(tracker);
    lists[0].end();
    abort.abort();
    listen(tracker, { signal: AbortSignal.abort() }).end();
    send('pointermove', MIDDLE_X, MIDDLE_Y);
    await answered(tracker);
    expect(lists.map(({ heard }) => heard)).toEqual([[left], [left], [left, null]]);
    send('pointermove', leftX, MIDDLE_Y);
    tracker.dispose();
    await service.update();
    expect(lists[2].heard).toEqual([left, null]);
    expect(() => listen(tracker)).toThrow(/^hover: the tracker is disposed/);
  });

  test('what is asked comes in time with answers that wait', async () => {
    const { right, tracker, leftX, rightX } = await twoCubes();
    const { heard } = listen(tracker);
    // Faster than the worker answers: the newest is never lost, and no older one comes after it.
    for (let i = 0; i < 200; i++) send('pointermove', i % 2 === 0 ? leftX : MIDDLE_X, MIDDLE_Y);
    send('pointermove', rightX, MIDDLE_Y);
    await vi.waitFor(() => expect(heard.at(-1)).toBe(right), 10_000);
    await answered(tracker);
    expect(heard.at(-1)).toBe(right);
    expect(heard.length).toBeLessThan(10);
  });

  test('is over, with nothing under the pointer, when there is no service any more', async () => {
    const { left, tracker, leftX } = await twoCubes();
    const { heard } = listen(tracker);
    send('pointermove', leftX, MIDDLE_Y);
    await answered(tracker);
    service.dispose();
    send('pointermove', leftX + 1, MIDDLE_Y);
    await vi.waitFor(() => expect(heard).toEqual([left, null]), 10_000);
    send('pointermove', leftX, MIDDLE_Y);
    await Promise.resolve();
    expect(heard).toEqual([left, null]);
  });

  test('refuses what it cannot use', async () => {
    const { tracker } = await twoCubes();
    const refuse =
      (...args: unknown[]) =>
      () =>
        (tracker.hover as (...all: unknown[]) => unknown)(...args);
    expect(refuse(canvas)).toThrow(/^hover: listener is undefined/);
    expect(refuse(null, () => {})).toThrow(/^hover: element/);
    expect(refuse(canvas, () => {}, { latest: true })).toThrow(/unknown key "latest"/);
    expect(refuse(canvas, () => {}, { every: 1 })).toThrow(/^hover: every is 1/);
    expect(refuse(canvas, () => {}, { signal: {} })).toThrow(/^hover: signal/);
  });
});
