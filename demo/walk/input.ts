import { element } from '../panel.js';

const KEY_DIRECTIONS: Record<string, readonly [aside: number, ahead: number]> = {
  w: [0, 1],
  ArrowUp: [0, 1],
  s: [0, -1],
  ArrowDown: [0, -1],
  a: [-1, 0],
  ArrowLeft: [-1, 0],
  d: [1, 0],
  ArrowRight: [1, 0],
};
/** Dead zone of a gamepad stick. */
const DEAD_ZONE = 0.15;
/** CSS pixels from the middle of the ring to its edge. */
const STICK_RADIUS = 44;
const BUTTONS = { jump: 0, throw: 2, trigger: 7 };

/** Combines input from keys, a gamepad, and touch. */
export class Input {
  /** Called when the user jumps, or throws. */
  onJump = (): void => {};
  onThrow = (): void => {};
  /** Radians per second by which a gamepad turns the view sideways and up. */
  readonly look = { aside: 0, up: 0 };
  readonly #heldKeys = new Set<string>();
  readonly #stick = { aside: 0, ahead: 0 };
  #pressed = { jump: false, throw: false };

  constructor() {
    // Registered before the keyboard's pointer (keyboard.ts), which uses the arrow keys on other pages.
    addEventListener('keydown', (event) => this.#onKeyDown(event), { capture: true });
    addEventListener('keyup', (event) => this.#heldKeys.delete(keyOf(event)), { capture: true });
    addEventListener('blur', () => this.#heldKeys.clear());
    element('keys').textContent = 'W A S D or arrows walk, Space jumps, F throws, + and − zoom';
    element('jump').addEventListener('click', () => this.onJump());
    element('throw').addEventListener('click', () => this.onThrow());
    document.body.classList.toggle('has-touch', navigator.maxTouchPoints > 0);
    this.#addStick();
  }

  /** Returns the movement sideways and ahead, of length 1 at most; polls the gamepad. */
  movement(): { aside: number; ahead: number } {
    let { aside, ahead } = this.#stick;
    for (const key of this.#heldKeys) {
      aside += KEY_DIRECTIONS[key][0];
      ahead += KEY_DIRECTIONS[key][1];
    }
    const pad = navigator.getGamepads?.().find((each) => each?.connected);
    const axis = (i: number): number => (Math.abs(pad?.axes[i] ?? 0) > DEAD_ZONE ? (pad?.axes[i] ?? 0) : 0);
    aside += axis(0);
    ahead -= axis(1);
    this.look.aside = 2.5 * axis(2);
    this.look.up = 1.5 * axis(3);
    const isDown = (button: number): boolean => pad?.buttons[button]?.pressed === true;
    const pressed = { jump: isDown(BUTTONS.jump), throw: isDown(BUTTONS.throw) || isDown(BUTTONS.trigger) };
    if (pressed.jump && !this.#pressed.jump) this.onJump();
    if (pressed.throw && !this.#pressed.throw) this.onThrow();
    this.#pressed = pressed;
    const length = Math.max(1, Math.hypot(aside, ahead));
    return { aside: aside / length, ahead: ahead / length };
  }

  #onKeyDown(event: KeyboardEvent): void {
    const target = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.('#side, #hands') != null) return;
    const key = keyOf(event);
    if (KEY_DIRECTIONS[key] !== undefined) this.#heldKeys.add(key);
    else if (event.repeat) return;
    else if (key === ' ') this.onJump();
    else if (key === 'f' || key === 'Enter') this.onThrow();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Adds an on-screen stick for finger or mouse. */
  #addStick(): void {
    const ring = element('stick');
    const knob = ring.firstElementChild as HTMLElement;
    const moveStick = (x: number, y: number): void => {
      const scale = Math.max(1, Math.hypot(x, y) / STICK_RADIUS);
      Object.assign(this.#stick, { aside: x / scale / STICK_RADIUS, ahead: -y / scale / STICK_RADIUS });
      knob.style.translate = `${x / scale}px ${y / scale}px`;
    };
    const push = ({ clientX, clientY }: PointerEvent): void => {
      const { left, top, width, height } = ring.getBoundingClientRect();
      moveStick(clientX - left - width / 2, clientY - top - height / 2);
    };
    ring.addEventListener('pointerdown', (event) => {
      ring.setPointerCapture(event.pointerId);
      push(event);
    });
    ring.addEventListener('pointermove', (event) => {
      if (ring.hasPointerCapture(event.pointerId)) push(event);
    });
    for (const type of ['pointerup', 'pointercancel'] as const) ring.addEventListener(type, () => moveStick(0, 0));
  }
}

function keyOf({ key }: KeyboardEvent): string {
  return key.length === 1 ? key.toLowerCase() : key;
}
