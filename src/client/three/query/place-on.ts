/** A border of this many pixels is measured to learn from where a browser counts. */
const PROBE_BORDER = 8;

const COUNTS_FROM_BORDER = new WeakMap<Document, boolean>();

/**
 * Answers where on an element an event is, in its own CSS pixels from the corner within its border, however it is
 * transformed; but where the event is over something in an element that is turned or skewed, in pixels of the page.
 */
export function placeOn(element: HTMLElement, event: MouseEvent): { x: number; y: number } {
  const onBox = placeOnBox(element, event);
  // Its offset is measured from what it is over.
  if (event.target !== element) return onBox;
  const { clientLeft, clientTop, ownerDocument } = element;
  const isBeside = (clientLeft > 0 || clientTop > 0) && countsFromBorder(ownerDocument);
  const x = event.offsetX - (isBeside ? clientLeft : 0);
  const y = event.offsetY - (isBeside ? clientTop : 0);
  // Some events, in WebKit all, are told in whole pixels. The box knows better, unless the element is turned.
  const isWhole = Number.isInteger(x) && Number.isInteger(y);
  return isWhole && Math.abs(x - onBox.x) < 1 && Math.abs(y - onBox.y) < 1 ? onBox : { x, y };
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
  const known = COUNTS_FROM_BORDER.get(document);
  if (known !== undefined) return known;
  const probe = document.createElement('div');
  probe.style.cssText = `all:initial; position:fixed; left:0; top:0; visibility:hidden; border:${PROBE_BORDER}px solid`;
  let isFromBorder = false;
  probe.addEventListener('mousemove', ({ offsetX }) => {
    isFromBorder = offsetX > PROBE_BORDER / 2;
  });
  document.documentElement.append(probe);
  const { left, top } = probe.getBoundingClientRect();
  probe.dispatchEvent(new MouseEvent('mousemove', { clientX: left + PROBE_BORDER, clientY: top + PROBE_BORDER }));
  probe.remove();
  COUNTS_FROM_BORDER.set(document, isFromBorder);
  return isFromBorder;
}
