import { type Matrix4, Vector3 } from 'three';
import type { Triangles } from '../oracle/meshes.js';
import { cornersOf, type TreeBox } from './tree-boxes.js';

export const FONT = 'ui-sans-serif, system-ui, sans-serif';
export const INK = '#111827';
export const GREY = '#667085';

/** Looks along -z after the model is turned; x to the right, y up. */
export class PictureCamera {
  readonly #rotation: Matrix4;
  readonly #scale: number;
  readonly #x: number;
  readonly #y: number;

  constructor(rotation: Matrix4, scale: number, x: number, y: number) {
    this.#rotation = rotation;
    this.#scale = scale;
    this.#x = x;
    this.#y = y;
  }

  /** In the picture, y down; z is how near. */
  see(point: Vector3): Vector3 {
    const { x, y, z } = point.clone().applyMatrix4(this.#rotation);
    return new Vector3(this.#x + this.#scale * x, this.#y - this.#scale * y, this.#scale * z);
  }
}

export function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${FONT}" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

interface TextStyle {
  size?: number;
  weight?: number;
  colour?: string;
  anchor?: 'start' | 'middle' | 'end';
}

export function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { size = 14, weight = 400, colour = INK, anchor = 'start' } = style;
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${colour}" text-anchor="${anchor}">${content}</text>`;
}

export function polygon(points: readonly Vector3[], style: string): string {
  return `<path d="M${points.map(({ x, y }) => `${formatNumber(x)} ${formatNumber(y)}`).join('L')}Z" ${style}/>`;
}

export function line(points: readonly Vector3[], style: string): string {
  return `<path d="M${points.map(({ x, y }) => `${formatNumber(x)} ${formatNumber(y)}`).join('L')}" fill="none" ${style}/>`;
}

export function formatNumber(value: number): string {
  return String(Math.round(10 * value) / 10);
}

/** The faces of a box, as the indices of their corners; two for each axis, the low one first. */
const FACES = [
  [0, 2, 6, 4],
  [1, 3, 7, 5],
  [0, 1, 5, 4],
  [2, 3, 7, 6],
  [0, 1, 3, 2],
  [4, 5, 7, 6],
];

/** The three faces of each box that look to the eye, the farthest box first. */
export function boxes(
  camera: PictureCamera,
  treeBoxes: readonly TreeBox[],
  styleOf: (box: TreeBox) => string,
): string[] {
  const projected = treeBoxes.map((box) => ({ box, corners: cornersOf(box).map((corner) => camera.see(corner)) }));
  const depthOf = (corners: readonly Vector3[]): number => corners.reduce((sum, { z }) => sum + z, 0) / corners.length;
  projected.sort((a, b) => depthOf(a.corners) - depthOf(b.corners));
  return projected.flatMap(({ box, corners }) => {
    const faces = FACES.map((face) => face.map((corner) => corners[corner]));
    const nearFaces = [0, 2, 4].map((i) => (depthOf(faces[i]) > depthOf(faces[i + 1]) ? faces[i] : faces[i + 1]));
    return nearFaces.map((face) => polygon(face, styleOf(box)));
  });
}

const TONES = ['#98a2b3', '#aab3c2', '#bcc4d0', '#ced5de', '#dfe4ea', '#eef1f5'];
const LIGHT = new Vector3(-0.4, 0.7, 0.6).normalize();

/**
 * A shaded picture of a mesh: rows of the picture in runs of one tone, as a path for each tone. Rows overlap, as gaps would
 * show where the picture is scaled.
 */
export function shadedMesh(
  camera: PictureCamera,
  { positions, indices }: Triangles,
  width: number,
  height: number,
): string[] {
  const depths = new Float64Array(width * height).fill(-Infinity);
  const tones = new Int8Array(width * height).fill(-1);
  const points = Array.from({ length: positions.length / 3 }, (_, i) =>
    camera.see(new Vector3().fromArray(positions, 3 * i)),
  );
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => points[indices[i + corner]]);
    const normal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
    if (normal.z > 0) normal.negate(); // y leads down in the picture
    const light = Math.max(0, new Vector3(-normal.x, normal.y, -normal.z).dot(LIGHT));
    rasterize(a, b, c, (x, y, z) => {
      const pixel = y * width + x;
      if (x < 0 || y < 0 || x >= width || y >= height || z <= depths[pixel]) return;
      depths[pixel] = z;
      tones[pixel] = Math.min(TONES.length - 1, Math.floor(light * TONES.length));
    });
  }
  return TONES.map((colour, tone) => {
    let path = '';
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (tones[y * width + x] !== tone) continue;
        const startX = x;
        while (x < width && tones[y * width + x] === tone) x++;
        path += `M${startX} ${y}.5h${x - startX}`;
      }
    }
    return `<path d="${path}" stroke="${colour}" stroke-width="1.6"/>`;
  });
}

/** Visits the pixels whose centres are in a triangle. */
function rasterize(a: Vector3, b: Vector3, c: Vector3, visit: (x: number, y: number, z: number) => void): void {
  const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area === 0) return;
  for (let y = Math.floor(Math.min(a.y, b.y, c.y)); y <= Math.max(a.y, b.y, c.y); y++) {
    for (let x = Math.floor(Math.min(a.x, b.x, c.x)); x <= Math.max(a.x, b.x, c.x); x++) {
      const v = ((x + 0.5 - a.x) * (c.y - a.y) - (y + 0.5 - a.y) * (c.x - a.x)) / area;
      const w = ((b.x - a.x) * (y + 0.5 - a.y) - (b.y - a.y) * (x + 0.5 - a.x)) / area;
      if (v >= 0 && w >= 0 && v + w <= 1) visit(x, y, a.z + v * (b.z - a.z) + w * (c.z - a.z));
    }
  }
}
