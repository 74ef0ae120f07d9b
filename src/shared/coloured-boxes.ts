// Boxes as a picture of an inspection has them.

/** Colours of boxes, four bytes each: red, green, blue, alpha. */
export interface BoxPalette {
  /** They repeat from level to level. */
  levels: Uint8Array;
  /** Each octree has one. */
  cells: Uint8Array;
  /** Each state has one: moving objects, then static ones, then those that sleep. */
  states: Uint8Array;
}

/** Boxes with the colours of their lines, four bytes for each end. */
export interface ColouredLines {
  lines?: Float32Array;
  colours?: Uint8Array;
}
