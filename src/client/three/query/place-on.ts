/** A border of this many pixels is measured to learn from where a browser counts. */
const PROBE_BORDER = 8;

/** The zoom of an element that is measured to learn in which pixels a browser counts. No zoom of a page cancels it out. */
const PROBE_ZOOM = 5;

/** How a browser counts offsets, by the document that was asked. */
const COUNTS_FROM_BORDER = new WeakMap<Document, boolean>();
const COUNTS_ZOOMED = new WeakMap<Document, boolean>();

/**
 * Answers where on an element an event is, in its own CSS pixels from the corner within its border, however it is
 * transformed; but where the event is over something in an element that is turned or skewed, in pixels of the page.
 */
export function placeOn(element: HTMLElement, event: MouseEvent): { x: number; y: number } {
  const onBox = placeOnBox(element, event);
  // Its offset is measured from what it is over.
  if (event.target !== element) return onBox;
  const { clientLeft, clientTop, ownerDocument } = element;
  const { offsetX, offsetY } = event;
  const isBeside = (clientLeft > 0 || clientTop > 0) && countsFromBorder(ownerDocument);
  const zoom = zoomOf(element) !== 1 && countsZoomed(ownerDocument) ? zoomOf(element) : 1;
  const x = offsetX / zoom - (isBeside ? clientLeft : 0);
  const y = offsetY / zoom - (isBeside ? clientTop : 0);
  // Some events, in WebKit all, are told in whole pixels. The box knows better, unless the element is turned.
  const isWhole = Number.isInteger(offsetX) && Number.isInteger(offsetY);
  const isNear = Math.abs(x - onBox.x) < 1 / zoom && Math.abs(y - onBox.y) < 1 / zoom;
  return isWhole && isNear ? onBox : { x, y };
}

/** Answers by how much CSS zooms an element, with all that it is in. */
function zoomOf({ currentCSSZoom = 1 }: Partial<Element>): number {
  return currentCSSZoom;
}

/** Does that by the element's box on the page, which may be scaled, but not turned. */
function placeOnBox(element: HTMLElement, { clientX, clientY }: MouseEvent): { x: number; y: number } {
  const { left, top, width, height } = element.getBoundingClientRect();
  return {
    x: (clientX - left) / scaleOf(width, element.offsetWidth) - element.clientLeft,
    y: (clientY - top) / scaleOf(height, element.offsetHeight) - element.clientTop,
  };
}

/** Answers by how much an element is scaled. `own` is rounded: what is as large but for that is not. */
function scaleOf(shown: number, own: number): number {
  return own === 0 || shown === 0 || Math.abs(shown - own) < 1 ? 1 : shown / own;
}

/** Tells whether the browser counts offsets from the outer edge of a border, as WebKit does, and not from within it. */
function countsFromBorder(document: Document): boolean {
  return learn(COUNTS_FROM_BORDER, document, `border:${PROBE_BORDER}px solid`, (offset) => offset > PROBE_BORDER / 2);
}

/** Tells whether the browser counts offsets on a zoomed element in pixels of the page, as Chromium does, and not in its own. */
function countsZoomed(document: Document): boolean {
  return learn(COUNTS_ZOOMED, document, `zoom:${PROBE_ZOOM}`, (offset, zoom) => {
    return Math.abs(offset - PROBE_BORDER) < Math.abs(offset * zoom - PROBE_BORDER);
  });
}

/** Measures once for each document, by an event on an element of a style, PROBE_BORDER pixels from its corner. */
function learn(
  known: WeakMap<Document, boolean>,
  document: Document,
  style: string,
  read: (offset: number, zoom: number) => boolean,
): boolean {
  const before = known.get(document);
  if (before !== undefined) return before;
  const probe = document.createElement('div');
  probe.style.cssText = `all:initial; position:fixed; left:0; top:0; visibility:hidden; ${style}`;
  let answer = false;
  probe.addEventListener('mousemove', ({ offsetX }) => {
    answer = read(offsetX, zoomOf(probe));
  });
  document.documentElement.append(probe);
  const { left, top } = probe.getBoundingClientRect();
  probe.dispatchEvent(new MouseEvent('mousemove', { clientX: left + PROBE_BORDER, clientY: top + PROBE_BORDER }));
  probe.remove();
  known.set(document, answer);
  return answer;
}
