// A minimal DOM in Node for the tests of pointers and React: elements with event bubbling, whose boxes come from the pixel sizes
// in their styles. Real mouse input, pictures and rotated elements can only be tested in a browser. No other test gets it: the
// library tells a page from Node by its globals.
import { expect } from 'vitest';

const FRAME_MS = 8;

class PageElement extends EventTarget {
  readonly nodeType = 1;
  readonly children: PageElement[] = [];
  readonly style = new PageStyle();
  readonly ownerDocument = globalThis.document;
  className = '';
  parentElement: PageElement | null = null;

  append(child: PageElement): void {
    child.parentElement = this;
    this.children.push(child);
  }

  remove(): void {
    const { parentElement } = this;
    parentElement?.children.splice(parentElement.children.indexOf(this), 1);
    this.parentElement = null;
  }

  get isConnected(): boolean {
    return this.parentElement !== null;
  }

  get clientLeft(): number {
    return this.style.border;
  }

  get clientTop(): number {
    return this.style.border;
  }

  get offsetWidth(): number {
    return this.style.width + 2 * this.style.border;
  }

  get offsetHeight(): number {
    return this.style.height + 2 * this.style.border;
  }

  getBoundingClientRect(): object {
    const { offsetWidth: width, offsetHeight: height } = this;
    let [left, top] = [0, 0];
    for (let each: PageElement | null = this; each !== null; each = each.parentElement) {
      left += each.style.left;
      top += each.style.top;
    }
    return { left, top, x: left, y: top, width, height, right: left + width, bottom: top + height };
  }

  setPointerCapture(_id: number): void {
    throw new DOMException('there is no such pointer', 'NotFoundError');
  }

  releasePointerCapture(_id: number): void {
    throw new DOMException('there is no such pointer', 'NotFoundError');
  }

  hasPointerCapture(_id: number): boolean {
    return false;
  }

  override dispatchEvent(event: Event): boolean {
    if (event instanceof PageEvent) event.onto = this;
    super.dispatchEvent(event);
    return !event.defaultPrevented;
  }
}

/** The style of an element; sizes are in pixels. */
class PageStyle {
  border = 0;
  width = 0;
  height = 0;
  touchAction = '';
  #left = 0;
  #top = 0;

  set cssText(text: string) {
    for (const [, name, size] of text.matchAll(/(left|top|width|height|border): ?(\d+)px/g)) {
      Object.assign(this, { [name!]: Number(size) });
    }
  }

  get left(): number {
    return this.#left;
  }

  set left(size: number | string) {
    this.#left = Number.parseFloat(String(size));
  }

  get top(): number {
    return this.#top;
  }

  set top(size: number | string) {
    this.#top = Number.parseFloat(String(size));
  }
}

const NUMBERS = ['button', 'buttons', 'clientX', 'clientY', 'deltaX', 'deltaY', 'deltaZ', 'deltaMode', 'pointerId'];
const FLAGS = ['shiftKey', 'ctrlKey', 'altKey', 'metaKey', 'isPrimary'];

class PageEvent extends Event {
  /** The element on which it is dispatched. */
  onto: PageElement | null = null;
  declare readonly clientX: number;
  declare readonly clientY: number;

  constructor(type: string, init: Record<string, unknown> & EventInit = {}) {
    super(type, init);
    this.#define('offsetX', { get: () => this.clientX - this.#edge('left') });
    this.#define('offsetY', { get: () => this.clientY - this.#edge('top') });
    const values: Record<string, unknown> = { pointerType: '', relatedTarget: null, pressure: 0, detail: 0 };
    for (const name of NUMBERS) values[name] = 0;
    for (const name of FLAGS) values[name] = false;
    for (const [name, value] of Object.entries({ ...values, ...init })) {
      if (!['bubbles', 'cancelable', 'composed'].includes(name)) this.#define(name, { value });
    }
  }

  getModifierState(): boolean {
    return false;
  }

  /** Enumerable, because fiber copies events by `for in`. */
  #define(name: string, property: PropertyDescriptor): void {
    Object.defineProperty(this, name, { ...property, enumerable: true, configurable: true });
  }

  #edge(name: 'left' | 'top'): number {
    if (this.onto === null) return 0;
    return (this.onto.getBoundingClientRect() as Record<string, number>)[name]! + this.onto.style.border;
  }
}

class PageMouseEvent extends PageEvent {}

class PagePointerEvent extends PageMouseEvent {}

class PageWheelEvent extends PageMouseEvent {}

if (/test[\\/](pointer|react)[\\/]|hover\.browser/.test(expect.getState().testPath ?? '')) createPage();

/** Creates the globals of a page. */
function createPage(): void {
  const page = Object.assign(new EventTarget(), { devicePixelRatio: 1 });
  const html = new PageElement();
  const body = new PageElement();
  html.append(body);
  const document = Object.assign(new EventTarget(), {
    body,
    documentElement: html,
    createElement: () => new PageElement(),
    querySelectorAll: (selector: string) => body.children.filter(({ className }) => `.${className}` === selector),
  });
  const events = { MouseEvent: PageMouseEvent, PointerEvent: PagePointerEvent, WheelEvent: PageWheelEvent };
  Object.assign(page, events);
  Object.assign(globalThis, events, {
    window: page,
    document,
    Element: PageElement,
    HTMLElement: PageElement,
    requestAnimationFrame: (draw: (now: number) => void) => setTimeout(() => draw(performance.now()), FRAME_MS),
    cancelAnimationFrame: clearTimeout,
    reportError: (error: unknown) => {
      const told = Object.assign(new Event('error', { cancelable: true }), { error, message: String(error) });
      page.dispatchEvent(told);
    },
  });
}
