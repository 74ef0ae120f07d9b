const CLICK_DISTANCE = 4;

/** Tracks the mouse over the canvas, or over a pane of it, and tells clicks from drags. */
export class Pointer {
  /** In CSS pixels from the upper left corner; null while the mouse is elsewhere or drags. */
  position: { x: number; y: number } | null = null;
  /** Time of the last move: the event's own time stamp, in ms. */
  time = 0;
  /** Called when the position changes. */
  onMove: (() => void) | null = null;

  constructor(canvas: HTMLElement, onClick: (x: number, y: number) => void) {
    let down: { x: number; y: number } | null = null;
    canvas.addEventListener('pointermove', ({ offsetX, offsetY, buttons, timeStamp }) => {
      this.position = buttons === 0 ? { x: offsetX, y: offsetY } : null;
      this.time = timeStamp;
      this.onMove?.();
    });
    canvas.addEventListener('pointerleave', () => {
      this.position = null;
      this.onMove?.();
    });
    canvas.addEventListener('pointerdown', ({ offsetX, offsetY, button }) => {
      down = button === 0 ? { x: offsetX, y: offsetY } : null;
    });
    canvas.addEventListener('pointerup', ({ offsetX, offsetY }) => {
      if (down === null || Math.hypot(offsetX - down.x, offsetY - down.y) > CLICK_DISTANCE) return;
      this.position = { x: offsetX, y: offsetY };
      onClick(offsetX, offsetY);
    });
  }
}
