import {
  BoxGeometry,
  BufferAttribute,
  type BufferGeometry,
  Color,
  type ColorRepresentation,
  CylinderGeometry,
  ExtrudeGeometry,
  Path,
  Shape,
} from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';

const SEGMENTS = 28;
const BEVEL = 0.022;

/** Merges several geometries into one, each with its own colour. */
export function mergeColored(...pieces: readonly [BufferGeometry, ColorRepresentation][]): BufferGeometry {
  return mergeGeometries(
    pieces.map(([piece, color]) => {
      const nonIndexed = piece.index === null ? piece : piece.toNonIndexed();
      const { r, g, b } = new Color(color);
      const colors = new Float32Array(nonIndexed.getAttribute('position').array.length);
      for (let i = 0; i < colors.length; i += 3) colors.set([r, g, b], i);
      return nonIndexed.deleteAttribute('uv').setAttribute('color', new BufferAttribute(colors, 3));
    }),
  );
}

/** A cylinder about y that stands at y = `from`. */
export function pillar(radius: number, top: number, from: number, height: number): BufferGeometry {
  return new CylinderGeometry(top, radius, height, SEGMENTS).translate(0, from + height / 2, 0);
}

/** A cylinder about z, centred. */
export function drum(radius: number, length: number): BufferGeometry {
  return new CylinderGeometry(radius, radius, length, SEGMENTS).rotateX(Math.PI / 2);
}

/** A cylinder about x that begins at `from`. */
export function shaft(radius: number, from: number, length: number): BufferGeometry {
  return new CylinderGeometry(radius, radius, length, SEGMENTS).rotateZ(Math.PI / 2).translate(from + length / 2, 0, 0);
}

export function box(width: number, height: number, depth: number, x: number, y: number, z: number): BufferGeometry {
  return new BoxGeometry(width, height, depth).translate(x, y, z);
}

export function roundedBox(width: number, height: number, depth: number, x: number): BufferGeometry {
  return new RoundedBoxGeometry(width, height, depth, 2, 0.04).translate(x, 0, 0);
}

/** A link of an arm, from the joint at the origin to the one at `length` on x: rounded about both, with a window in between. */
export function link(length: number, startRadius: number, endRadius: number, thickness: number): BufferGeometry {
  const outline = drawBelt(new Shape(), 0, length, startRadius - BEVEL, endRadius - BEVEL) as Shape;
  outline.holes.push(
    drawBelt(new Path(), 1.7 * startRadius, length - 1.9 * endRadius, 0.42 * startRadius, 0.42 * endRadius),
  );
  const depth = thickness - 2 * BEVEL;
  return new ExtrudeGeometry(outline, {
    depth,
    curveSegments: 12,
    bevelSegments: 2,
    bevelSize: BEVEL,
    bevelThickness: BEVEL,
  }).translate(0, 0, -depth / 2);
}

/** Draws the line of a belt around two wheels on x. */
function drawBelt(path: Path, from: number, to: number, startRadius: number, endRadius: number): Path {
  const angle = Math.acos((startRadius - endRadius) / (to - from));
  path.absarc(from, 0, startRadius, angle, 2 * Math.PI - angle);
  path.absarc(to, 0, endRadius, -angle, angle);
  path.closePath();
  return path;
}
