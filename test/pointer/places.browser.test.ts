// The position of a pointer on an element with a border and a padding,
// which is scaled, rotated or mirrored, and the object there.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { forwardPointerEvents } from 'collision-worker/pointer';
import type { SceneTracker } from 'collision-worker/three';
import { Mesh, MeshBasicMaterial, PlaneGeometry, Scene, type Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, server, userEvent } from 'vitest/browser';
import { SIZE, track } from '../fixtures/three-picks.js';

const BORDER = 'border:solid; border-width:3px 7px 31px 29px';
/** Pixels. WebKit's events have whole pixels of the page, and of the element if its bounding box does not help. */
const EXACT = new PointerEvent('pointermove', { clientX: 0.5 }).clientX === 0.5 ? 0.1 : 2.5;
/** Styles of the element's parent and of the element itself; a pixel of the page may be more than one of the element. */
const STYLES: Record<string, { element?: string; around?: string; isTurned?: boolean; pagePixel?: number }> = {
  plain: {},
  'with a border': { element: BORDER },
  'with a border and a padding': { element: `${BORDER}; padding:11px 13px 17px 19px` },
  'with a border, its width included': { element: `${BORDER}; box-sizing:border-box` },
  'of a size in parts of a pixel': { element: `${BORDER}; left:10.3px; width:800.4px` },
  'that is scaled': { element: `${BORDER}; transform:scale(0.7)` },
  'in something that is scaled unevenly': { element: BORDER, around: 'transform:scale(0.5, 0.8)' },
  'that is moved in percents': { element: `${BORDER}; transform:translate(5%, 3%)` },
  'that is zoomed': { element: `${BORDER}; zoom:2` },
  'in something that is zoomed, and scaled': { around: 'zoom:0.7; transform:scale(0.9)' },
  'that is zoomed and turned': { element: 'zoom:0.5; transform:rotate(30deg)', isTurned: true, pagePixel: 2 },
  'that is turned': { element: `${BORDER}; transform:rotate(30deg) scale(0.6)`, isTurned: true },
  'that is upside down': { element: `${BORDER}; transform:rotate(180deg)`, isTurned: true },
  'that is mirrored': { element: BORDER, around: 'transform:scaleX(-1)', isTurned: true },
  'that is skewed': { element: `${BORDER}; transform:skewX(20deg) scale(0.7)`, isTurned: true },
};
const REAL = ['with a border and a padding', 'that is scaled', 'that is turned'];
/** Pixels of the element; the second is near its centre, where a rotation hardly matters. */
const PIXELS = [
  [100, 80],
  [399, 301],
  [700, 450],
] as const;

let service: CollisionService;
let tracker: SceneTracker;
let around: HTMLElement;
let canvas: HTMLElement;
beforeEach(async () => {
  await page.viewport(SIZE.width + 300, SIZE.height + 200);
  // If another file has left the mouse on an element, the browser moves it there again.
  if (server.provider === 'playwright') await moveMouse(1, 1);
  service = await createCollisionService();
  around = document.createElement('div');
  canvas = document.createElement('div');
  around.append(canvas);
  document.body.append(around);
  const wall = new Mesh(new PlaneGeometry(100, 100), new MeshBasicMaterial());
  tracker = await track(service, new Scene().add(wall));
});
afterEach(() => {
  around.remove();
  service.dispose();
});

/** Moves the real mouse. */
const moveMouse = (x: number, y: number) =>
  userEvent.hover(document.documentElement, { position: { x, y }, force: true });

function style({ element = '', around: outer = '' }: (typeof STYLES)[string]): void {
  around.style.cssText = `position:absolute; left:40px; top:30px; width:900px; height:650px; ${outer}`;
  canvas.style.cssText = `position:absolute; left:10px; top:20px; width:${SIZE.width}px; height:${SIZE.height}px; ${element}`;
}

/** Places an element of one pixel around a pixel of the canvas, with the browser's own layout. */
function mark(x: number, y: number): HTMLElement {
  const mark = document.createElement('div');
  mark.style.cssText = `position:absolute; left:${x - 0.5}px; top:${y - 0.5}px; width:1px; height:1px`;
  canvas.append(mark);
  return mark;
}

/** Where a pixel of the canvas appears on the page. */
function shown(x: number, y: number): { clientX: number; clientY: number } {
  const marked = mark(x, y);
  const { left, right, top, bottom } = marked.getBoundingClientRect();
  marked.remove();
  // WebKit returns bounding boxes in zoomed pixels as well.
  let zoom = 1;
  for (const each of 'currentCSSZoom' in canvas ? [] : [around, canvas]) zoom *= Number(getComputedStyle(each).zoom);
  const place = { clientX: (zoom * (left + right)) / 2, clientY: (zoom * (top + bottom)) / 2 };
  // Null outside the window.
  expect(canvas.contains(document.elementFromPoint(place.clientX, place.clientY) ?? canvas)).toBe(true);
  return place;
}

const answered = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await tracker.pick(0, 0);
};

/** Each of the ways to follow a pointer, which report points. */
const WAYS = {
  hover(heard: Vector3[]) {
    return tracker.hover(canvas, (hit) => hit && heard.push(hit.point), { every: true });
  },
  forwardPointerEvents(heard: Vector3[]) {
    tracker.root.addEventListener('pointermove' as 'added', (event) => {
      heard.push((event as unknown as { point: Vector3 }).point.clone());
    });
    return forwardPointerEvents(tracker, canvas);
  },
};

/** Compares the reported points with a pick of the same pixel, in pixels. */
async function compare(heard: Vector3[], [x, y]: readonly [number, number], tolerance: number): Promise<void> {
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0), 10_000);
  const [one, other] = await Promise.all([tracker.pick(x, y), tracker.pick(x + 100, y)]);
  const unit = one!.point.distanceTo(other!.point) / 100;
  expect(heard.at(-1)!.distanceTo(one!.point) / unit, `${x} ${y}`).toBeLessThan(tolerance);
}

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('%s', (way) => {
  test.each(Object.keys(STYLES))('on an element %s', async (name) => {
    style(STYLES[name]);
    const heard: Vector3[] = [];
    const end = WAYS[way](heard);
    for (const [x, y] of PIXELS) {
      heard.length = 0;
      const init = { ...shown(x, y), bubbles: true, isPrimary: true, pointerId: 1, pointerType: 'mouse' };
      canvas.dispatchEvent(new PointerEvent('pointermove', init));
      await answered();
      const { isTurned, pagePixel = 1 } = STYLES[name];
      await compare(heard, [x, y], isTurned ? Math.max(2.5, EXACT * pagePixel) : EXACT);
    }
    end();
  });

  test.each(Object.keys(STYLES).filter((name) => !STYLES[name].isTurned))('over what is in one %s', async (name) => {
    style(STYLES[name]);
    const heard: Vector3[] = [];
    const end = WAYS[way](heard);
    for (const [x, y] of PIXELS) {
      heard.length = 0;
      const marked = mark(x, y);
      const init = { ...shown(x, y), bubbles: true, isPrimary: true, pointerId: 1, pointerType: 'mouse' };
      marked.dispatchEvent(new PointerEvent('pointermove', init));
      await answered();
      await compare(heard, [x, y], EXACT);
      marked.remove();
    }
    end();
  });

  test.for(REAL)('a real mouse on an element %s', async (name, { skip }) => {
    skip(server.provider !== 'playwright', 'only the driver of Chromium moves a real mouse');
    style(STYLES[name]);
    const heard: Vector3[] = [];
    const end = WAYS[way](heard);
    document.body.style.margin = '0';
    for (const [x, y] of PIXELS) {
      heard.length = 0;
      const { clientX, clientY } = shown(x, y);
      await moveMouse(clientX, clientY);
      await answered();
      await compare(heard, [x, y], 2.5);
    }
    end();
  });
});
