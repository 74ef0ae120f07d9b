// The position of an event on an element, on a simulated page with the differences of browsers: some count offsets from
// inside a border, and some from its outer edge.
import { beforeAll, expect, test, vi } from 'vitest';
import { positionOn as positionFrom } from '../../src/client/three/query/position-on.js';

/** A document whose events have offsets as one kind of browser counts them. */
class Page {
  probes = 0;
  /** Whether elements report the CSS zoom of themselves and their ancestors. */
  knowsZoom = true;
  readonly documentElement = { append() {} };
  readonly #isFromBorder: boolean;
  readonly #isZoomed: boolean;

  constructor(isFromBorder: boolean, isZoomed = false) {
    this.#isFromBorder = isFromBorder;
    this.#isZoomed = isZoomed;
  }

  createElement() {
    this.probes++;
    const page = this;
    const style = { cssText: '' };
    const zoom = () => Number(/zoom:(\d+)/.exec(style.cssText)?.[1] ?? 1);
    let hear = (_: { offsetX: number }): void => {};
    return {
      style,
      get currentCSSZoom() {
        return page.knowsZoom ? zoom() : undefined;
      },
      addEventListener: (_: string, listener: typeof hear) => {
        hear = listener;
      },
      getBoundingClientRect: () => ({ left: 3, top: 4 }),
      dispatchEvent({ clientX }: MouseEvent) {
        const border = page.#isFromBorder ? 0 : Number(/border:(\d+)px/.exec(style.cssText)?.[1] ?? 0);
        hear({ offsetX: (clientX - 3) / (page.#isZoomed ? 1 : zoom()) - border });
      },
      remove() {},
    };
  }

  /** An element of 200 × 100 pixels with borders, whose corner is at (40, 30), drawn at another size, perhaps by CSS zoom. */
  element(clientLeft: number, clientTop: number, scale = 1, currentCSSZoom = 1): HTMLElement {
    const [offsetWidth, offsetHeight] = [200 + 2 * clientLeft, 100 + 2 * clientTop];
    const box = { left: 40, top: 30, width: scale * offsetWidth, height: scale * offsetHeight };
    return {
      ...{ clientLeft, clientTop, offsetWidth, offsetHeight, ownerDocument: this },
      ...(this.knowsZoom && { currentCSSZoom }),
      getBoundingClientRect: () => box,
    } as unknown as HTMLElement;
  }

  /** An event whose offset, from inside the border, is (x, y); its position on the page differs. */
  event(target: HTMLElement, x: number, y: number, clientX: number, clientY: number, own?: number): MouseEvent {
    const { clientLeft, clientTop, currentCSSZoom = 1 } = target;
    const zoom = this.#isZoomed ? (own ?? currentCSSZoom) : 1;
    const [offsetX, offsetY] = this.#isFromBorder
      ? [zoom * (x + clientLeft), zoom * (y + clientTop)]
      : [zoom * x, zoom * y];
    return { target, offsetX, offsetY, clientX, clientY } as unknown as MouseEvent;
  }
}

const positionOn = (...args: Parameters<typeof positionFrom>) => positionFrom(...args)()!;

beforeAll(() => {
  class FakeMouseEvent {
    readonly clientX: number;
    constructor(_: string, { clientX }: { clientX: number }) {
      this.clientX = clientX;
    }
  }
  vi.stubGlobal('MouseEvent', FakeMouseEvent);
  return () => vi.unstubAllGlobals();
});

test.each([false, true])('offsets are told from within the border, which a browser counts: %s', (isFromBorder) => {
  const page = new Page(isFromBorder);
  for (const [left, top] of [
    [10, 20],
    [10, 0],
    [0, 20],
  ]) {
    const element = page.element(left, top);
    // It is rotated: its bounding box on the page is of no use.
    expect(positionOn(element, page.event(element, 12.5, 70.25, 300, 200))).toEqual({ x: 12.5, y: 70.25 });
    expect(positionOn(element, page.event(element, 12, 70, 300, 200))).toEqual({ x: 12, y: 70 });
  }
  expect(page.probes).toBe(2); // a document is probed once for both
});

test.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])('on an element that CSS zooms: border counts %s, in pixels of the page %s', (isFromBorder, isZoomed) => {
  const page = new Page(isFromBorder, isZoomed);
  for (const zoom of [0.5, 4]) {
    const element = page.element(10, 20, zoom, zoom);
    // It is rotated: its bounding box on the page is of no use.
    expect(positionOn(element, page.event(element, 12.5, 70.25, 900, 900))).toEqual({ x: 12.5, y: 70.25 });
    // In whole pixels of the page, at half an own pixel: the bounding box is more precise.
    const event = page.event(element, 12, 70, 40 + zoom * (10 + 12.2), 30 + zoom * (20 + 69.9));
    const { x, y } = positionOn(element, event);
    expect([x, y]).toEqual([expect.closeTo(12.2), expect.closeTo(69.9)]);
  }
  expect(page.probes).toBe(2);
});

test.each([false, true])('without a border nobody asks, where a browser counts it: %s', (isFromBorder) => {
  const page = new Page(isFromBorder);
  const element = page.element(0, 0);
  expect(positionOn(element, page.event(element, 12.5, 70.25, 300, 200))).toEqual({ x: 12.5, y: 70.25 });
  expect(page.probes).toBe(0);
});

test.each([false, true])(
  'whole pixels are told as the box has them where it agrees, border counts: %s',
  (isFromBorder) => {
    const page = new Page(isFromBorder);
    const element = page.element(10, 20);
    const placed = (x: number, y: number, clientX: number, clientY: number) =>
      positionOn(element, page.event(element, x, y, clientX, clientY));
    expect(placed(12, 70, 40 + 10 + 12.75, 30 + 20 + 69.5)).toEqual({ x: 12.75, y: 69.5 });
    // A difference of less than a pixel along only one axis is ignored.
    expect(placed(12, 70, 40 + 10 + 13, 30 + 20 + 69.5)).toEqual({ x: 12, y: 70 });
    expect(placed(12, 70, 40 + 10 + 12.75, 30 + 20 + 71)).toEqual({ x: 12, y: 70 });
    // Fractional offsets are used as they are.
    expect(placed(12.5, 70, 40 + 10 + 12.75, 30 + 20 + 69.5)).toEqual({ x: 12.5, y: 70 });
    expect(placed(12, 70.5, 40 + 10 + 12.75, 30 + 20 + 69.5)).toEqual({ x: 12, y: 70.5 });
  },
);

test('over something in it, an event is told by the box, which may be scaled', () => {
  const page = new Page(true);
  const element = page.element(10, 20, 0.5);
  const child = page.element(0, 0);
  const { x, y } = positionOn(element, page.event(child, 1, 2, 40 + 0.5 * (10 + 33), 30 + 0.5 * (20 + 44)));
  expect([x, y]).toEqual([33, 44]);
  // Its size is rounded: a difference within that is no scale.
  const rounded = page.element(10, 20, 1 + 0.9 / 220);
  expect(positionOn(rounded, page.event(child, 1, 2, 40 + 10 + 33, 30 + 20 + 44))).toEqual({ x: 33, y: 44 });
  // An element that is not drawn has no scale.
  const hidden = page.element(0, 0, 0);
  expect(positionOn(hidden, page.event(child, 1, 2, 45, 36))).toEqual({ x: 5, y: 6 });
});

test.each([false, true])('without currentCSSZoom boxes are told in zoomed pixels, and offsets, too: %s', (isZoomed) => {
  const page = new Page(true, isZoomed);
  page.knowsZoom = false;
  const around = { parentElement: null };
  const element = Object.assign(page.element(10, 20, 0.5), { parentElement: around });
  vi.stubGlobal('getComputedStyle', (asked: { style?: { cssText: string } }) => {
    if (asked === element) return { zoom: '2' };
    return { zoom: asked === around ? '1.5' : /zoom:(\d+)/.exec(asked.style!.cssText)?.[1] };
  });
  const client = [3 * (40 + 0.5 * (10 + 33)), 3 * (30 + 0.5 * (20 + 44))] as const;
  const overChild = positionOn(element, page.event(page.element(0, 0), 1, 2, ...client));
  expect([overChild.x, overChild.y]).toEqual([expect.closeTo(33), expect.closeTo(44)]);
  // It is rotated: its bounding box on the page is of no use.
  expect(positionOn(element, page.event(element, 12.5, 70.25, 900, 900, 3))).toEqual({ x: 12.5, y: 70.25 });
});
