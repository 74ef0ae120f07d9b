// Boxes as an inspection draws them.

/** Colours of boxes, four bytes each: red, green, blue, alpha. */
export interface BoxPalette {
  /** Repeated from level to level. */
  levels: Uint8Array;
  /** One colour per octree. */
  cells: Uint8Array;
  /** One colour per state: moving objects, static ones, sleeping ones. */
  states: Uint8Array;
}

/** Boxes with the colours of their lines, four bytes for each end. */
export interface ColouredLines {
  lines?: Float32Array;
  colours?: Uint8Array;
}
