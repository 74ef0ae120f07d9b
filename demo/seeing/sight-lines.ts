import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  Color,
  LineBasicMaterial,
  LineSegments,
  type Mesh,
  Vector3,
} from 'three';
import { STATES, type State } from './states.js';

/** Lines from the guard's eye to the visible visitors. */
export class SightLines {
  readonly root: LineSegments;
  readonly #positions: BufferAttribute;
  readonly #colors: BufferAttribute;

  constructor(maxLines: number) {
    this.#positions = new BufferAttribute(new Float32Array(6 * maxLines), 3);
    this.#colors = new BufferAttribute(new Float32Array(6 * maxLines), 3);
    const geometry = new BufferGeometry().setAttribute('position', this.#positions).setAttribute('color', this.#colors);
    this.root = new LineSegments(
      geometry,
      new LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.6 }),
    );
    this.root.frustumCulled = false;
  }

  draw(camera: Camera, targets: readonly Mesh[], states: readonly State[]): void {
    const eyePosition = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    const color = new Color();
    let count = 0;
    targets.forEach(({ position }, i) => {
      const state = states[i];
      if (state !== 'inside' && state !== 'crossing') return;
      color.set(STATES[state].color);
      for (const { x, y, z } of [eyePosition, position]) {
        this.#positions.setXYZ(count, x, y, z);
        this.#colors.setXYZ(count, color.r, color.g, color.b);
        count++;
      }
    });
    this.root.geometry.setDrawRange(0, count);
    this.#positions.needsUpdate = true;
    this.#colors.needsUpdate = true;
  }
}
