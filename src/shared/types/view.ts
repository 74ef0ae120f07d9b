export interface ViewOptions {
  /** 16, column-major: three's `camera.projectionMatrix`. */
  projection: ArrayLike<number>;
  /** 16, column-major, world to camera: three's `camera.matrixWorldInverse`. */
  view: ArrayLike<number>;
  /**
   * In CSS pixels, y down, relative to the point that `pick`'s x and y are relative to. A width or height of 0, as of a
   * hidden canvas, is a view that sees nothing, whatever its projection; picks in it find nothing.
   */
  viewport: { x?: number; y?: number; width: number; height: number };
  /** Clip z in [-1, 1] ('webgl', the default) or [0, 1] ('webgpu'). */
  depth?: 'webgl' | 'webgpu';
  /** The near plane is at the larger depth. Default false. */
  reversed?: boolean;
  /** Only objects in one of these layers are seen. Default all. */
  layers?: number;
  /**
   * World units that the frustum is grown by, each plane outwards: for culling one frame late by the camera's motion in
   * a frame (`frustumMotion`) and that of the fastest object. Default 0.
   */
  margin?: number;
  /**
   * Objects are left out whose sphere about the oriented bounds would have fewer pixels across, in the middle of the
   * picture at the depth of its centre. Default 0. What has its centre behind the eye stays.
   */
  minPixels?: number;
  /**
   * Objects that nearer ones hide as wholes are left out, and listed as `occluded`. Conservative: nothing is left out of which a
   * pixel of the picture shows, by its oriented bounds. Default false.
   *
   * The answer is about this view alone. With a `margin` it lasts as long as what the view sees does, that is, while the sum of
   * the frustum's and an object's motion stays below it; `occlusionMargin` says it otherwise.
   */
  occlusion?: boolean;
  /**
   * How far the eye may move, and objects against one another, while `occluded` is true: world units. The camera may turn by
   * any angle meanwhile. What hides others is shrunk by it, and open meshes hide nothing where it is above 0; nor does what
   * moved or changed in this frame. Only what is in the picture as a whole is left out. Default: twice the margin where that is
   * above 0, else the answer is about the very view, and objects where they are.
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
  /** Against the frame before. */
  entered: Uint32Array;
  left: Uint32Array;
  /** Not in `ids`, as nearer objects hide it: where the view's `occlusion` is true, else empty. Sorted. */
  occluded: Uint32Array;
  /** Those that were looked at as hiding others, sorted: `occluded` is true while these are where they were. */
  occluders: Uint32Array;
  frame: number;
}
