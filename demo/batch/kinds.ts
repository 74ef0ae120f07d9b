import {
  type BufferGeometry,
  CatmullRomCurve3,
  ExtrudeGeometry,
  Path,
  Shape,
  TorusGeometry,
  TubeGeometry,
  Vector3,
} from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';
import { Forms } from '../forms.js';

/** Kinds of machine parts, each about 1 unit large, with its name and colour. */
export function createKinds(segments: number): { name: string; color: number; geometry: BufferGeometry }[] {
  const forms = new Forms(segments);
  const bolt = mergeGeometries([
    toBatchGeometry(forms.hexagon(0.36, 0.24).translate(0, 0.4, 0)),
    toBatchGeometry(forms.disc(0.18, 0.9).translate(0, -0.15, 0)),
  ]);
  const piston = mergeGeometries([
    toBatchGeometry(forms.disc(0.42, 0.5)),
    toBatchGeometry(forms.ring(0.36, 0.45, 0.12)),
  ]);
  const valve = mergeGeometries([
    toBatchGeometry(forms.disc(0.07, 0.9)),
    toBatchGeometry(forms.disc(0.34, 0.16, 0.08).translate(0, -0.45, 0)),
  ]);
  return [
    { name: 'bolt', color: 0x9fb0c4, geometry: bolt },
    { name: 'nut', color: 0xd8b23c, geometry: toBatchGeometry(plate(hexagon(0.42), 0.2, 0.28, segments)) },
    { name: 'washer', color: 0x8d97a5, geometry: toBatchGeometry(forms.ring(0.24, 0.46, 0.08)) },
    { name: 'gear', color: 0x6f8fbd, geometry: toBatchGeometry(plate(teeth(12, 0.38, 0.5), 0.16, 0.2, segments)) },
    { name: 'piston', color: 0xaeb6c1, geometry: piston },
    { name: 'valve', color: 0xa56f8f, geometry: valve },
    { name: 'spring', color: 0x5fae97, geometry: toBatchGeometry(spring(4, 0.26, 0.9, segments)) },
    { name: 'o-ring', color: 0x475063, geometry: toBatchGeometry(new TorusGeometry(0.36, 0.08, 8, segments)) },
    { name: 'bushing', color: 0xb5764a, geometry: toBatchGeometry(forms.ring(0.2, 0.34, 0.6)) },
  ];
}

/** Reduces a geometry to the attributes that all geometries of a batch must have. */
function toBatchGeometry(geometry: BufferGeometry): BufferGeometry {
  const result = geometry.index === null ? geometry : geometry.toNonIndexed();
  result.deleteAttribute('uv');
  return result;
}

function hexagon(radius: number): Shape {
  return outline(6, () => radius);
}

function teeth(count: number, inner: number, outer: number): Shape {
  return outline(4 * count, (i) => (i % 4 < 2 ? outer : inner));
}

function outline(corners: number, radiusOf: (corner: number) => number): Shape {
  const shape = new Shape();
  for (let i = 0; i < corners; i++) {
    const angle = (2 * Math.PI * i) / corners;
    const [x, y] = [radiusOf(i) * Math.cos(angle), radiusOf(i) * Math.sin(angle)];
    if (i === 0) shape.moveTo(x, y);
    else shape.lineTo(x, y);
  }
  return shape;
}

/** A flat plate with a hole in the middle. */
function plate(shape: Shape, hole: number, depth: number, segments: number): ExtrudeGeometry {
  shape.holes = [new Path().absarc(0, 0, hole, 0, 2 * Math.PI, true)];
  return new ExtrudeGeometry(shape, { depth, bevelEnabled: false, curveSegments: segments / 2 });
}

function spring(turns: number, radius: number, height: number, segments: number): TubeGeometry {
  const corners = Array.from({ length: 8 * turns + 1 }, (_, i) => {
    const angle = (Math.PI / 4) * i;
    return new Vector3(radius * Math.cos(angle), height * (i / (8 * turns) - 0.5), radius * Math.sin(angle));
  });
  return new TubeGeometry(new CatmullRomCurve3(corners), segments * turns, 0.06, Math.max(5, segments / 3));
}
