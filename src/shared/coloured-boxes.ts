// Boxes as a picture of an inspection has them.

/** Colours of boxes, four bytes each: red, green, blue, alpha. */
export interface BoxPalette {
  /** By level, over and over. */
  levels: Uint8Array;
  /** By octree. */
  cells: Uint8Array;
  /** By state, of moving objects, then of static ones, then of those that sleep. */
  states: Uint8Array;
}

/** Boxes with the colours of their lines, four bytes for each end. */
export interface ColouredLines {
  lines?: Float32Array;
  colours?: Uint8Array;
}
