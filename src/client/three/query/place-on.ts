/** Border width, in pixels, of the probe element, which shows where a browser measures offsets from. */
const PROBE_BORDER = 8;

/** CSS zoom of the probe element, which shows in which pixels a browser measures. No zoom of a page cancels it out. */
const PROBE_ZOOM = 5;

/** How a browser measures offsets, by the document that was probed. */
const COUNTS = new WeakMap<Document, { fromBorder: boolean; zoomed: boolean }>();

/**
 * Returns the position of an event on an element, in the element's own CSS pixels from the corner within its border, however it
 * is transformed. If the event is over a child of an element that is turned or skewed, the position is in pixels of the page.
 */
export function placeOn(element: HTMLElement, event: MouseEvent): { x: number; y: number } {
  const own = zoomOf(element);
  const onBox = placeOnBox(element, event, own);
  // The event's offset is relative to its target.
  if (event.target !== element) return onBox;
  const { clientLeft, clientTop, ownerDocument } = element;
  const { offsetX, offsetY } = event;
  const isBeside = (clientLeft > 0 || clientTop > 0) && countsOf(ownerDocument).fromBorder;
  const zoom = own !== 1 && countsOf(ownerDocument).zoomed ? own : 1;
  const x = offsetX / zoom - (isBeside ? clientLeft : 0);
  const y = offsetY / zoom - (isBeside ? clientTop : 0);
  // Some events, in WebKit all, have whole pixels. The box is more precise, unless the element is turned.
  const isWhole = Number.isInteger(offsetX) && Number.isInteger(offsetY);
  const isNear = Math.abs(x - onBox.x) < 1 / zoom && Math.abs(y - onBox.y) < 1 / zoom;
  return isWhole && isNear ? onBox : { x, y };
}

/** Returns the CSS zoom of an element, including that of its ancestors. */
function zoomOf(element: Element): number {
  const { currentCSSZoom, parentElement } = element as Partial<Element>;
  if (currentCSSZoom !== undefined) return currentCSSZoom;
  const own = Number(globalThis.getComputedStyle?.(element).zoom) || 1;
  return parentElement ? own * zoomOf(parentElement) : own;
}

/** Does that by the element's box on the page, which may be scaled, but not turned. */
function placeOnBox(element: HTMLElement, { clientX, clientY }: MouseEvent, zoom: number): { x: number; y: number } {
  const { left, top, width, height } = element.getBoundingClientRect();
  // A browser without `currentCSSZoom`, for example WebKit 2.50, reports a box in pixels that are zoomed as well.
  const unit = 'currentCSSZoom' in element ? 1 : zoom;
  return {
    x: (clientX / unit - left) / scaleOf(width, element.offsetWidth) - element.clientLeft,
    y: (clientY / unit - top) / scaleOf(height, element.offsetHeight) - element.clientTop,
  };
}

/** Returns the scale of an element. `own` is rounded: an element that differs only by that is not scaled. */
function scaleOf(shown: number, own: number): number {
  return own === 0 || shown === 0 || Math.abs(shown - own) < 1 ? 1 : shown / own;
}

/**
 * Returns whether the browser measures offsets from the outer edge of a border, as WebKit does, instead of from within it; and on
 * a zoomed element in pixels of the page, as Chromium does, instead of the element's own. Probes once for each document.
 */
function countsOf(document: Document): { fromBorder: boolean; zoomed: boolean } {
  let counts = COUNTS.get(document);
  if (counts === undefined) {
    const [beside] = offsetOn(document, `border:${PROBE_BORDER}px solid`);
    const [offset, zoom] = offsetOn(document, `zoom:${PROBE_ZOOM}`);
    const zoomed = Math.abs(offset - PROBE_BORDER) < Math.abs(offset * zoom - PROBE_BORDER);
    counts = { fromBorder: beside > PROBE_BORDER / 2, zoomed };
    COUNTS.set(document, counts);
  }
  return counts;
}

/** Returns the offset of an event on an element with a style, PROBE_BORDER pixels from its corner, and the element's zoom. */
function offsetOn(document: Document, style: string): [offset: number, zoom: number] {
  const probe = document.createElement('div');
  probe.style.cssText = `all:initial; position:fixed; left:0; top:0; visibility:hidden; ${style}`;
  let answer: [number, number] = [0, 1];
  probe.addEventListener('mousemove', ({ offsetX }) => {
    answer = [offsetX, zoomOf(probe)];
  });
  document.documentElement.append(probe);
  const { left, top } = probe.getBoundingClientRect();
  probe.dispatchEvent(new MouseEvent('mousemove', { clientX: left + PROBE_BORDER, clientY: top + PROBE_BORDER }));
  probe.remove();
  return answer;
}
