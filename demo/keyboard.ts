import { element } from './panel.js';

/** Id of the keyboard's pointer; no browser assigns this number. */
const POINTER_ID = 0x7b0a;
/** CSS pixels that an arrow key moves the pointer. */
const STEP = 12;
const ARROWS: Record<string, readonly [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Keys that press a button and hold it until they are pressed again: its number, and its bit. */
const BUTTONS: Record<string, { button: number; bit: number }> = {
  ' ': { button: 0, bit: 1 },
  r: { button: 2, bit: 2 },
};
const ZOOM_DELTAS: Record<string, number> = { '+': -100, '=': -100, '-': 100 };

/**
 * A pointer for keyboard users: while the picture has the focus, arrow keys move it, Enter clicks, Space holds the left button, R
 * the right button, + and − zoom. Pages receive the same events as from a mouse.
 */
export class KeyboardPointer {
  readonly #view = element('view');
  readonly #cursor = document.createElement('div');
  #x = 0;
  #y = 0;
  #buttons = 0;

  constructor() {
    ignoreCapture();
    this.#view.tabIndex = 0;
    this.#cursor.id = 'keyboard-pointer';
    this.#cursor.hidden = true;
    this.#cursor.ariaHidden = 'true';
    const hint = document.createElement('p');
    hint.id = 'keys';
    hint.textContent = 'Arrows point, Enter clicks, Space holds down, R the right button, + and − zoom';
    this.#view.setAttribute('aria-describedby', hint.id);
    this.#view.after(this.#cursor, hint);
    this.#view.addEventListener('keydown', (event) => this.#press(event));
    this.#view.addEventListener('blur', () => {
      this.#cursor.hidden = true;
    });
  }

  #press(event: KeyboardEvent): void {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const heldButton = BUTTONS[key];
    if (ARROWS[key] !== undefined) this.#move(ARROWS[key], event);
    else if (key === 'Enter') this.#click(event);
    else if (heldButton !== undefined) this.#hold(heldButton, event);
    else if (ZOOM_DELTAS[key] !== undefined)
      this.#target().dispatchEvent(new WheelEvent('wheel', { ...this.#eventInit(event), deltaY: ZOOM_DELTAS[key] }));
    else return;
    event.preventDefault();
  }

  #move([x, y]: readonly [number, number], event: KeyboardEvent): void {
    this.#show();
    this.#x = Math.min(innerWidth - 1, Math.max(0, this.#x + STEP * x));
    this.#y = Math.min(innerHeight - 1, Math.max(0, this.#y + STEP * y));
    this.#cursor.style.translate = `${this.#x}px ${this.#y}px`;
    this.#send('pointermove', -1, event);
  }

  #click(event: KeyboardEvent): void {
    this.#show();
    if (this.#buttons !== 0) return;
    this.#hold(BUTTONS[' '], event);
    this.#hold(BUTTONS[' '], event);
    this.#target().dispatchEvent(new MouseEvent('click', this.#eventInit(event)));
  }

  #hold({ button, bit }: { button: number; bit: number }, event: KeyboardEvent): void {
    this.#show();
    this.#buttons ^= bit;
    const isDown = (this.#buttons & bit) !== 0;
    this.#cursor.classList.toggle('down', this.#buttons !== 0);
    this.#send(isDown ? 'pointerdown' : 'pointerup', button, event);
  }

  /** The pointer starts in the middle of the picture. */
  #show(): void {
    if (!this.#cursor.hidden) return;
    this.#cursor.hidden = false;
    if (this.#x !== 0) return;
    const side = element('side').getBoundingClientRect();
    const isBelow = side.width > innerWidth / 2;
    this.#x = isBelow ? innerWidth / 2 : (side.right + innerWidth) / 2;
    this.#y = isBelow ? side.top / 2 : innerHeight / 2;
    this.#cursor.style.translate = `${this.#x}px ${this.#y}px`;
  }

  #send(type: string, button: number, event: KeyboardEvent): void {
    const pointer = { pointerId: POINTER_ID, pointerType: 'mouse', isPrimary: true, button, buttons: this.#buttons };
    this.#target().dispatchEvent(new PointerEvent(type, { ...this.#eventInit(event), ...pointer }));
  }

  /** Returns the element of the picture at the pointer: the picture may have several panes. */
  #target(): Element {
    const target = document.elementFromPoint(this.#x, this.#y);
    return target === null || target.closest('#side') !== null ? this.#view : target;
  }

  #eventInit({ shiftKey, ctrlKey, altKey, metaKey }: KeyboardEvent): MouseEventInit {
    const keys = { shiftKey, ctrlKey, altKey, metaKey };
    return { bubbles: true, cancelable: true, view: window, clientX: this.#x, clientY: this.#y, ...keys };
  }
}

/** A browser throws when code captures a pointer that it does not know. */
function ignoreCapture(): void {
  for (const name of ['setPointerCapture', 'releasePointerCapture'] as const) {
    const nativeMethod = Element.prototype[name];
    Element.prototype[name] = function (this: Element, id: number): void {
      if (id !== POINTER_ID) nativeMethod.call(this, id);
    };
  }
}
