/** Border width, in pixels, of the probe element, which shows where a browser measures offsets from. */
const PROBE_BORDER = 8;

/** CSS zoom of the probe element, which shows in which pixels a browser measures. No zoom of a page cancels it out. */
const PROBE_ZOOM = 5;

/** How a browser measures offsets, by the document that was probed. */
const OFFSET_MODES = new WeakMap<Document, { fromBorder: boolean; zoomed: boolean }>();

interface Position {
  x: number;
  y: number;
}

/**
 * Returns a function that returns the position of an event's pointer on an element, in the element's own CSS pixels from the corner
 * within its border, however it is transformed. If the event is over a child of an element that is turned or skewed, the position
 * is in pixels of the page. The element may move under a pointer that rests, as when the page scrolls: the position is that of the
 * time of the call, or null if the element was removed since the event, or its iframe, or it is in another window.
 */
export function positionOn(element: HTMLElement, event: MouseEvent): () => Position | null {
  const { clientLeft, clientTop, clientWidth, ownerDocument } = element;
  const window = windowOf(element);
  const elementZoom = zoomOf(element);
  const box = positionOnBox(element, event, elementZoom);
  let { x, y } = box;
  // The event's offset is relative to its target; but if that is an inline box, whose client width is 0, to the block around it.
  if (event.target === element && clientWidth !== 0) {
    const { offsetX, offsetY } = event;
    const isFromBorder = (clientLeft > 0 || clientTop > 0) && offsetModeOf(ownerDocument).fromBorder;
    const zoom = elementZoom !== 1 && offsetModeOf(ownerDocument).zoomed ? elementZoom : 1;
    x = offsetX / zoom - (isFromBorder ? clientLeft : 0);
    y = offsetY / zoom - (isFromBorder ? clientTop : 0);
    // Some events, in WebKit all, have whole pixels. The box is more precise, unless the element is turned.
    const areIntegers = offsetX % 1 === 0 && offsetY % 1 === 0;
    if (areIntegers && Math.abs(x - box.x) < 1 / zoom && Math.abs(y - box.y) < 1 / zoom) ({ x, y } = box);
  }
  return () => {
    if (windowOf(element) !== window) return null;
    const now = positionOnBox(element, event, elementZoom);
    return { x: x + (now.x - box.x), y: y + (now.y - box.y) };
  };
}

/** Returns the window that shows an element: false if the element was removed, null if its iframe was. */
function windowOf({ isConnected, ownerDocument }: Element): Window | null | false {
  return isConnected && ownerDocument.defaultView;
}

/** Returns the CSS zoom of an element, including that of its ancestors. */
function zoomOf(element: Element): number {
  const { currentCSSZoom, parentElement } = element as Partial<Element>;
  if (currentCSSZoom !== undefined) return currentCSSZoom;
  const ownZoom = Number(globalThis.getComputedStyle?.(element).zoom) || 1;
  return parentElement ? ownZoom * zoomOf(parentElement) : ownZoom;
}

/** Does that by the element's box on the page, which may be scaled, but not turned. */
function positionOnBox(element: HTMLElement, { clientX, clientY }: MouseEvent, zoom: number): Position {
  const { left, top, width, height } = element.getBoundingClientRect();
  // A browser without `currentCSSZoom`, for example WebKit 2.50, reports a box in pixels that are zoomed as well.
  const unit = 'currentCSSZoom' in element ? 1 : zoom;
  return {
    x: (clientX / unit - left) / scaleOf(width, element.offsetWidth) - element.clientLeft,
    y: (clientY / unit - top) / scaleOf(height, element.offsetHeight) - element.clientTop,
  };
}

/** Returns the scale of an element. `layoutSize` is rounded: an element that differs only by that is not scaled. */
function scaleOf(displayedSize: number, layoutSize: number): number {
  return displayedSize * layoutSize === 0 || Math.abs(displayedSize - layoutSize) < 1 ? 1 : displayedSize / layoutSize;
}

/**
 * Returns whether the browser measures offsets from the outer edge of a border, as WebKit does, instead of from within it; and on
 * a zoomed element in pixels of the page, as Chromium does, instead of the element's own. Probes once for each document.
 */
function offsetModeOf(document: Document): { fromBorder: boolean; zoomed: boolean } {
  let offsetMode = OFFSET_MODES.get(document);
  if (offsetMode === undefined) {
    const [borderOffset] = measureOffset(document, `border:${PROBE_BORDER}px solid`);
    const [offset, zoom] = measureOffset(document, `zoom:${PROBE_ZOOM}`);
    const zoomed = Math.abs(offset - PROBE_BORDER) < Math.abs(offset * zoom - PROBE_BORDER);
    offsetMode = { fromBorder: borderOffset > PROBE_BORDER / 2, zoomed };
    OFFSET_MODES.set(document, offsetMode);
  }
  return offsetMode;
}

/** Returns the offset of an event on an element with a style, PROBE_BORDER pixels from its corner, and the element's zoom. */
function measureOffset(document: Document, style: string): [offset: number, zoom: number] {
  const probe = document.createElement('div');
  probe.style.cssText = `all:initial; position:fixed; left:0; top:0; ${style}`;
  let measured: [number, number] = [0, 1];
  probe.addEventListener('mousemove', ({ offsetX }) => {
    measured = [offsetX, zoomOf(probe)];
  });
  document.documentElement.append(probe);
  const { left, top } = probe.getBoundingClientRect();
  probe.dispatchEvent(new MouseEvent('mousemove', { clientX: left + PROBE_BORDER, clientY: top + PROBE_BORDER }));
  probe.remove();
  return measured;
}
