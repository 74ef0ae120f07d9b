import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, type Vector3 } from 'three';
import type { ColouredLines } from '../../../shared/coloured-boxes.js';
import type { Vec3 } from '../../../shared/types.js';

/** Lines of several colours, relative to an origin. They are drawn over everything, and nothing hits them. */
export class LineSet extends LineSegments<BufferGeometry, LineBasicMaterial> {
  constructor() {
    super(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.frustumCulled = false; // its bounds would be computed in every frame
    this.visible = false;
    this.renderOrder = 1000;
  }

  override raycast(): void {}

  /** Shows lines as the worker made them. */
  show({ lines, colours }: ColouredLines, origin: Vec3): void {
    this.geometry.dispose();
    this.geometry = new BufferGeometry();
    this.visible = lines !== undefined && lines.length > 0;
    if (!this.visible) return;
    this.geometry.setAttribute('position', new BufferAttribute(lines!, 3));
    this.geometry.setAttribute('color', new BufferAttribute(colours!, 4, true));
    this.position.set(...origin);
  }

  /** Shows lines of one colour between pairs of ends. */
  showEnds(ends: readonly Vector3[], colour: readonly number[]): void {
    const areFinite = ends.every(({ x, y, z }) => Number.isFinite(x + y + z));
    const { x, y, z } = ends[0] ?? this.position;
    const lines = new Float32Array(areFinite ? 3 * ends.length : 0);
    const colours = new Uint8Array((4 * lines.length) / 3);
    for (let i = 0; i < lines.length / 3; i++) {
      lines.set([ends[i].x - x, ends[i].y - y, ends[i].z - z], 3 * i);
      colours.set(colour, 4 * i);
    }
    this.show({ lines, colours }, areFinite ? [x, y, z] : [0, 0, 0]);
  }

  override dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
