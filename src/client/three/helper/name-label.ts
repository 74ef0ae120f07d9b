import { CanvasTexture, Sprite, SpriteMaterial, SRGBColorSpace, type Vector3 } from 'three';
import type { ViewOptions } from '../../../shared/types.js';

/** CSS pixels. */
const HEIGHT = 24;
/** Longer names are cut. */
const MAX_LETTERS = 80;
const PADDING = 8;
const FONT = '14px system-ui, sans-serif';
/** Pixels of the texture per CSS pixel, so that it is sharp on screens of high density. */
const PIXEL_RATIO = 2;
/** Offset of its lower left corner from the place, in its own heights. */
const OFFSET = 0.4;
const COLORS = { ground: 'rgba(16, 20, 27, 0.85)', text: '#ffffff' };

/** A name beside a place: equally large on the screen wherever the place is, over everything, and not hit by anything. */
export class NameLabel extends Sprite {
  #name = '';
  #texture: CanvasTexture | null = null;
  /** CSS pixels. */
  #width = 0;

  constructor() {
    super(new SpriteMaterial({ depthTest: false, sizeAttenuation: false, toneMapped: false, fog: false }));
    this.frustumCulled = false;
    this.visible = false;
    this.renderOrder = 1001; // over the lines
  }

  override raycast(): void {}

  /** Shows a name, '' for none, in a view whose viewport is in CSS pixels. */
  show(name: string, position: Vector3, { projection, viewport }: ViewOptions): void {
    if (name !== this.#name) this.#drawTexture(name);
    this.visible = this.#texture !== null && viewport.height > 0;
    if (!this.visible) return;
    const unit = 2 / (viewport.height * projection[5]); // size of a pixel at a distance of 1
    this.scale.set(this.#width * unit, HEIGHT * unit, 1);
    this.center.set((-OFFSET * HEIGHT) / this.#width, -OFFSET);
    this.position.copy(position);
  }

  override dispose(): void {
    this.#texture?.dispose();
    this.material.dispose();
  }

  #drawTexture(name: string): void {
    this.#name = name;
    this.#texture?.dispose();
    this.#texture = null;
    if (name === '' || typeof document === 'undefined') return;
    const text = name.length > MAX_LETTERS ? `${name.slice(0, MAX_LETTERS)}…` : name;
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d')!;
    context.font = FONT;
    this.#width = Math.ceil(context.measureText(text).width) + 2 * PADDING;
    canvas.width = PIXEL_RATIO * this.#width;
    canvas.height = PIXEL_RATIO * HEIGHT;
    context.scale(PIXEL_RATIO, PIXEL_RATIO); // reset by the change of size
    context.font = FONT;
    context.textBaseline = 'middle';
    context.fillStyle = COLORS.ground;
    context.fillRect(0, 0, this.#width, HEIGHT);
    context.fillStyle = COLORS.text;
    context.fillText(text, PADDING, HEIGHT / 2);
    this.#texture = new CanvasTexture(canvas);
    this.#texture.colorSpace = SRGBColorSpace;
    this.material.map = this.#texture;
    this.material.needsUpdate = true;
  }
}
