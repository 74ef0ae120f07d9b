import type { ContactSet } from 'collision-worker';
import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DynamicDrawUsage,
  Group,
  LineBasicMaterial,
  LineSegments,
  Points,
  PointsMaterial,
} from 'three';

/** Length of the line of a mere touch, so that its normal is visible, too. */
const MIN_LENGTH = 0.16;
/** Scale of the lines: depths are small. */
const LENGTH_SCALE = 1.5;
/** Depth from which on contacts have the colour of deep ones. */
const DEEP_DEPTH = 0.15;
const SLIGHT_COLOR = new Color(0xffe14d);
const DEEP_COLOR = new Color(0xff4326);
const POINT_SIZE = 7;
// Drawn on top of everything: contacts are inside the objects that touch.
const ON_TOP = { depthTest: false, transparent: true, fog: false, vertexColors: true } as const;

/** Draws contact points, each with a line along its normal that grows with the depth. */
export class ContactMarks {
  readonly root = new Group();
  /** Points drawn. */
  count = 0;
  readonly #points: Points;
  readonly #lines: LineSegments;
  /** Two vertices per point: the point itself, and the end of its line. */
  #positions!: BufferAttribute;
  #colors!: BufferAttribute;

  constructor() {
    const pointOptions = { ...ON_TOP, map: disc(), size: POINT_SIZE, sizeAttenuation: false };
    this.#points = new Points(new BufferGeometry(), new PointsMaterial(pointOptions));
    this.#lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial(ON_TOP));
    this.#points.renderOrder = 2;
    this.#lines.renderOrder = 1;
    for (const object of [this.#lines, this.#points]) {
      object.frustumCulled = false;
      this.root.add(object);
    }
    this.#allocate(1024);
  }

  /** Removes all points and makes room for `capacity` new ones. */
  clear(capacity: number): void {
    this.count = 0;
    if (2 * capacity > this.#positions.count) this.#allocate(2 * capacity);
  }

  /** Adds the points of a pair; `show` displays them. */
  add({ start, points, normals, depths }: ContactSet, pair: number): void {
    const positions = this.#positions.array;
    const colors = this.#colors.array;
    for (let i = start[pair]; i < start[pair + 1]; i++) {
      const length = MIN_LENGTH + LENGTH_SCALE * depths[i];
      const at = 6 * this.count++;
      for (let k = 0; k < 3; k++) {
        positions[at + k] = points[3 * i + k];
        positions[at + 3 + k] = points[3 * i + k] + length * normals[3 * i + k];
      }
      COLOR.lerpColors(SLIGHT_COLOR, DEEP_COLOR, Math.min(1, depths[i] / DEEP_DEPTH));
      COLOR.toArray(colors, at);
      COLOR.toArray(colors, at + 3);
    }
  }

  show(): void {
    this.#points.geometry.setDrawRange(0, this.count);
    this.#lines.geometry.setDrawRange(0, 2 * this.count);
    for (const attribute of [this.#positions, this.#colors]) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 6 * this.count);
      attribute.needsUpdate = true;
    }
  }

  #allocate(points: number): void {
    this.#positions = new BufferAttribute(new Float32Array(6 * points), 3).setUsage(DynamicDrawUsage);
    this.#colors = new BufferAttribute(new Float32Array(6 * points), 3).setUsage(DynamicDrawUsage);
    for (const object of [this.#points, this.#lines]) {
      object.geometry.dispose();
      object.geometry = new BufferGeometry()
        .setAttribute('position', this.#positions)
        .setAttribute('color', this.#colors);
    }
    const everySecond = new BufferAttribute(
      Uint32Array.from({ length: points }, (_, i) => 2 * i),
      1,
    );
    this.#points.geometry.setIndex(everySecond);
  }
}

const COLOR = new Color();

/** A texture of a disc; without it, points are squares. */
function disc(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.arc(16, 16, 15, 0, 2 * Math.PI);
  context.fill();
  return new CanvasTexture(canvas);
}
