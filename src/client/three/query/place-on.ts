/** A border of this many pixels is measured to learn from where a browser counts. */
const PROBE_BORDER = 8;

/** The zoom of an element that is measured to learn in which pixels a browser counts. No zoom of a page cancels it out. */
const PROBE_ZOOM = 5;

/** How a browser counts offsets, by the document that was asked. */
const COUNTS = new WeakMap<Document, { fromBorder: boolean; zoomed: boolean }>();

/**
 * Answers where on an element an event is, in its own CSS pixels from the corner within its border, however it is
 * transformed; but where the event is over something in an element that is turned or skewed, in pixels of the page.
 */
export function placeOn(element: HTMLElement, event: MouseEvent): { x: number; y: number } {
  const own = zoomOf(element);
  const onBox = placeOnBox(element, event, own);
  // Its offset is measured from what it is over.
  if (event.target !== element) return onBox;
  const { clientLeft, clientTop, ownerDocument } = element;
  const { offsetX, offsetY } = event;
  const isBeside = (clientLeft > 0 || clientTop > 0) && countsOf(ownerDocument).fromBorder;
  const zoom = own !== 1 && countsOf(ownerDocument).zoomed ? own : 1;
  const x = offsetX / zoom - (isBeside ? clientLeft : 0);
  const y = offsetY / zoom - (isBeside ? clientTop : 0);
  // Some events, in WebKit all, are told in whole pixels. The box knows better, unless the element is turned.
  const isWhole = Number.isInteger(offsetX) && Number.isInteger(offsetY);
  const isNear = Math.abs(x - onBox.x) < 1 / zoom && Math.abs(y - onBox.y) < 1 / zoom;
  return isWhole && isNear ? onBox : { x, y };
}

/** Answers by how much CSS zooms an element, with all that it is in. */
function zoomOf(element: Element): number {
  const { currentCSSZoom, parentElement } = element as Partial<Element>;
  if (currentCSSZoom !== undefined) return currentCSSZoom;
  const own = Number(globalThis.getComputedStyle?.(element).zoom) || 1;
  return parentElement ? own * zoomOf(parentElement) : own;
}

/** Does that by the element's box on the page, which may be scaled, but not turned. */
function placeOnBox(element: HTMLElement, { clientX, clientY }: MouseEvent, zoom: number): { x: number; y: number } {
  const { left, top, width, height } = element.getBoundingClientRect();
  // A browser that does not know `currentCSSZoom`, such as WebKit 2.50, tells a box in pixels that are zoomed as well.
  const unit = 'currentCSSZoom' in element ? 1 : zoom;
  return {
    x: (clientX / unit - left) / scaleOf(width, element.offsetWidth) - element.clientLeft,
    y: (clientY / unit - top) / scaleOf(height, element.offsetHeight) - element.clientTop,
  };
}

/** Answers by how much an element is scaled. `own` is rounded: what is as large but for that is not. */
function scaleOf(shown: number, own: number): number {
  return own === 0 || shown === 0 || Math.abs(shown - own) < 1 ? 1 : shown / own;
}

/**
 * Tells whether the browser counts offsets from the outer edge of a border, as WebKit does, and not from within it; and on a zoomed
 * element in pixels of the page, as Chromium does, and not in its own. Measures once for each document.
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

/** Answers the offset of an event on an element of a style, PROBE_BORDER pixels from its corner, and by how much it is zoomed. */
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
