export interface ViewOptions {
  /** 16, column-major: three's `camera.projectionMatrix`. */
  projection: ArrayLike<number>;
  /** 16, column-major, world to camera: three's `camera.matrixWorldInverse`. */
  view: ArrayLike<number>;
  /**
   * In CSS pixels, y down, relative to the same point as `pick`'s x and y. With a width or height of 0, as for a hidden
   * canvas, the view sees nothing, whatever its projection, and picks in it find nothing.
   */
  viewport: { x?: number; y?: number; width: number; height: number };
  /** Clip z in [-1, 1] ('webgl', the default) or [0, 1] ('webgpu'). */
  depth?: 'webgl' | 'webgpu';
  /** Reversed depth: the near plane is at the larger depth. Default false. */
  reversed?: boolean;
  /** Only objects in one of these layers, a bit each, are seen. Default all. */
  layers?: number;
  /**
   * World units by which the frustum grows, each plane outwards: for culling one frame late, the camera's motion in a frame
   * (`frustumMotion`) plus that of the fastest object. Default 0.
   */
  margin?: number;
  /**
   * Leaves out objects whose sphere around the oriented bounds would have fewer pixels across, in the middle of the picture
   * at the depth of its centre. Objects whose centre is behind the eye stay. Default 0.
   */
  minPixels?: number;
  /**
   * Leaves out objects that nearer ones hide entirely, and lists them as `occluded`. Conservative: nothing is left out if a
   * pixel of it shows, judged by its oriented bounds. Default false.
   *
   * The answer is about this view alone. With a `margin` it stays true as long as the visible set does, that is, while the
   * sum of the frustum's and an object's motion stays below the margin; `occlusionMargin` overrides that.
   */
  occlusion?: boolean;
  /**
   * How far the eye may move, and objects relative to one another, while `occluded` stays true: world units. The camera may
   * turn by any angle meanwhile. Occluders are shrunk by it, and open meshes occlude by heights that are lowered by it; if it
   * is above 0, objects that moved or changed in this frame occlude nothing. Only objects wholly in the picture are left out.
   * Default: twice the margin if that is above 0; else the answer is about exactly this view, and objects where they are.
   */
  occlusionMargin?: number;
}

/** In CSS pixels, y down, relative to the same point as the viewport. A negative size reaches left, or up. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Each part is sorted by id. */
export interface VisibleSet {
  /** ids[0..inside) are wholly inside the frustum, the rest cross it. */
  ids: Uint32Array;
  inside: number;
  /** Relative to the previous frame. */
  entered: Uint32Array;
  left: Uint32Array;
  /** Objects that nearer ones hide, sorted; they are not in `ids`. Empty unless the view's `occlusion` is true. */
  occluded: Uint32Array;
  /** Objects that were tested as hiding others, sorted: `occluded` is true while these are where they were. */
  occluders: Uint32Array;
  frame: number;
}
