import { Line, LineBasicMaterial, PerspectiveCamera, type Scene, Vector3 } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { FrustumVolume } from '../frustum-volume.js';
import { Pointer } from '../pointer.js';
import { FRUSTUM_COLOR } from '../scenery.js';

/** In CSS pixels from the canvas' upper left corner. */
export interface PaneRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * One of the views that share the canvas: an element over its part of the canvas receives the mouse events. The frustum of its
 * camera and its pick ray, from the near to the far plane, are drawn in the other views, which have `layer` enabled.
 */
export class Pane {
  readonly name: string;
  readonly camera = new PerspectiveCamera(36, 1, 3, 26);
  readonly controls: OrbitControls;
  readonly pointer: Pointer;
  rect: PaneRect = { x: 0, y: 0, width: 1, height: 1 };
  readonly #element: HTMLElement;
  readonly #frustum = new FrustumVolume(FRUSTUM_COLOR, 0.04);
  readonly #ray = new Line(undefined, new LineBasicMaterial({ color: 0xffffff }));

  constructor(name: string, element: HTMLElement, layer: number, onClick: (x: number, y: number) => void) {
    this.name = name;
    this.#element = element;
    this.pointer = new Pointer(element, (x, y) => onClick(x + this.rect.x, y + this.rect.y));
    this.controls = new OrbitControls(this.camera, element);
    this.#ray.geometry.setFromPoints([new Vector3(), new Vector3()]);
    this.#ray.frustumCulled = false;
    this.#ray.visible = false;
    for (const part of [...this.#frustum.root.children, this.#ray]) part.layers.set(layer);
  }

  addHelpers(scene: Scene): void {
    scene.add(this.#frustum.root, this.#ray);
  }

  showFrustum(isShown: boolean): void {
    this.#frustum.root.visible = isShown;
  }

  /** Position of the mouse over this pane, in pixels of the canvas. */
  get cursor(): { x: number; y: number } | null {
    const { position } = this.pointer;
    return position && { x: position.x + this.rect.x, y: position.y + this.rect.y };
  }

  place(rect: PaneRect): void {
    this.rect = rect;
    const { style } = this.#element;
    style.left = `${rect.x}px`;
    style.top = `${rect.y}px`;
    style.width = `${rect.width}px`;
    style.height = `${rect.height}px`;
    this.camera.aspect = rect.width / rect.height;
    this.camera.updateProjectionMatrix();
  }

  /** Draws the current frustum, and the ray under the cursor, if any. */
  updateHelpers(): void {
    this.#frustum.update(this.camera, 0);
    const cursor = this.cursor;
    this.#ray.visible = cursor !== null;
    if (cursor === null) return;
    const { x, y, width, height } = this.rect;
    const right = ((cursor.x - x) / width) * 2 - 1;
    const up = 1 - ((cursor.y - y) / height) * 2;
    const positions = this.#ray.geometry.attributes.position;
    [-1, 1].forEach((depth, i) => {
      const { x, y, z } = new Vector3(right, up, depth).unproject(this.camera);
      positions.setXYZ(i, x, y, z);
    });
    positions.needsUpdate = true;
  }
}
