// The pictures of docs/pictures: drawn from the trees that the core builds and the contacts that it answers.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { dragon } from '../oracle/dragon.js';
import type { Triangles } from '../oracle/meshes.js';
import { agePicture } from './age.js';
import { boxes, formatNumber, GREY, INK, line, PictureCamera, shadedMesh, svg, text } from './svg.js';
import { boxesAt, type TreeBox, toBox, treeBoxesOf } from './tree-boxes.js';

const LEVEL_COLOURS = ['#c2570c', '#b7791f', '#15803d', '#1d63c4', '#7c3aed', '#be185d', '#0f766e', '#4b5563'];
const colourOf = ({ level }: TreeBox): string => LEVEL_COLOURS[(level - 1) % LEVEL_COLOURS.length];

/** Draws all of them, by the name of the file. */
export async function drawPictures(): Promise<Record<string, string>> {
  const service = await createCollisionService();
  try {
    const mesh = dragon(11102);
    const id = await service.addMesh({ positions: mesh.positions, indices: mesh.indices });
    const tree = treeBoxesOf(await service.bakeMesh(id), mesh);
    return {
      'age.svg': agePicture(),
      'contact-regions.svg': await contactPicture(service, mesh, id),
      'ray.svg': rayPicture(mesh, tree),
      'tree.svg': treePicture(mesh, tree),
    };
  } finally {
    service.dispose();
  }
}

/** The dragon is 0.2 long. */
const MODEL_ROTATION = new Matrix4().makeRotationX(0.3).multiply(new Matrix4().makeRotationY(-0.5));
const MODEL_CENTER = new Vector3(-0.008, 0.125, 0);
const modelMatrix = (): Matrix4 =>
  MODEL_ROTATION.clone().multiply(new Matrix4().makeTranslation(MODEL_CENTER.clone().negate()));

/** Four panels with the boxes of the first four levels. */
function treePicture(mesh: Triangles, tree: TreeBox[]): string {
  const [width, height] = [440, 340];
  const camera = new PictureCamera(modelMatrix(), 1750, width / 2, height / 2 - 4);
  const panels = [1, 2, 3, 4].flatMap((level, i) => {
    const levelBoxes = boxesAt(tree, level);
    const style = (box: TreeBox): string =>
      `fill="${colourOf(box)}" fill-opacity="0.07" stroke="${colourOf(box)}" stroke-width="${level < 4 ? 1.1 : 0.7}" stroke-opacity="0.8"`;
    return [
      `<g transform="translate(${(i % 2) * width + 10} ${Math.floor(i / 2) * height + 10})">`,
      '<use href="#dragon"/>',
      ...boxes(camera, levelBoxes, style),
      text(width / 2, height - 12, `level ${level}: ${levelBoxes.length} boxes`, { anchor: 'middle', colour: GREY }),
      '</g>',
    ];
  });
  const model = ['<defs><g id="dragon">', ...shadedMesh(camera, mesh, width, height), '</g></defs>'];
  const title = 'The oriented boxes of the first four levels of a tree, about the Stanford dragon of 11,102 triangles';
  return svg(2 * width + 20, 2 * height + 20, title, [...model, ...panels]);
}

/** The boxes that a ray comes to, nearest first, until it knows what it hits. */
function rayPicture(mesh: Triangles, tree: TreeBox[]): string {
  const [width, height] = [900, 560];
  const camera = new PictureCamera(modelMatrix(), 3000, width / 2, height / 2);
  const origin = new Vector3(-0.135, 0.16, 0.06);
  // To the middle of a triangle, of those in the middle of the picture.
  const target = centroidOf(mesh, nearestTriangle(mesh, new Vector3(0, 0.12, 0.05)));
  const direction = target.sub(origin).normalize();
  const entered: TreeBox[] = [];
  let tested = 0;
  let blocks = 0;
  let nearest = Infinity;
  const visit = (children: readonly TreeBox[]): void => {
    const childEntries = children.map((box) => ({ box, t: boxEntry(box, origin, direction) }));
    tested += children.length;
    childEntries.sort((a, b) => a.t - b.t);
    for (const { box, t } of childEntries) {
      if (t >= nearest) continue;
      entered.push(box);
      if (box.children.length > 0) visit(box.children);
      else {
        blocks++;
        for (const triangle of box.triangles)
          nearest = Math.min(nearest, triangleHit(mesh, triangle, origin, direction));
      }
    }
  };
  visit(tree);
  if (nearest === Infinity) throw new Error('the ray of the picture misses the dragon');
  const hitPoint = camera.see(origin.clone().addScaledVector(direction, nearest));
  const start = camera.see(origin);
  const maxLevel = Math.max(...entered.map(({ level }) => level));
  const style = (box: TreeBox): string =>
    `fill="${colourOf(box)}" fill-opacity="0.06" stroke="${colourOf(box)}" stroke-width="1.1"`;
  const ordered = [...entered].sort((a, b) => a.level - b.level);
  const total = countOf(tree);
  const caption = `${tested} of ${total.toLocaleString('en')} boxes tested, ${entered.length} entered, ${blocks} block${blocks === 1 ? '' : 's'} of four triangles looked at`;
  const title = `The boxes that a ray enters on its way to the dragon's surface: ${caption}`;
  return svg(width, height + 60, title, [
    ...shadedMesh(camera, mesh, width, height),
    ...ordered.flatMap((box) => boxes(camera, [box], style)),
    line([start, hitPoint], `stroke="${INK}" stroke-width="2.2"`),
    `<circle cx="${formatNumber(hitPoint.x)}" cy="${formatNumber(hitPoint.y)}" r="5" fill="${INK}"/>`,
    text(width / 2, height + 16, caption, { anchor: 'middle', size: 16 }),
    ...Array.from({ length: maxLevel }, (_, i) => {
      const x = width / 2 + (i - (maxLevel - 1) / 2) * 90;
      const swatch = `<rect x="${formatNumber(x - 36)}" y="${height + 30}" width="12" height="12" rx="2" fill="${LEVEL_COLOURS[i % LEVEL_COLOURS.length]}"/>`;
      return swatch + text(x - 18, height + 41, `level ${i + 1}`, { colour: GREY, size: 13 });
    }),
  ]);
}

function centroidOf({ positions, indices }: Triangles, triangle: number): Vector3 {
  const sum = new Vector3();
  for (let k = 0; k < 3; k++) sum.add(new Vector3().fromArray(positions, 3 * indices[3 * triangle + k]));
  return sum.divideScalar(3);
}

function nearestTriangle(mesh: Triangles, point: Vector3): number {
  const distances = Array.from({ length: mesh.indices.length / 3 }, (_, i) => centroidOf(mesh, i).distanceTo(point));
  return distances.indexOf(Math.min(...distances));
}

function countOf(tree: readonly TreeBox[]): number {
  return tree.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
}

/** Where the ray enters a box; Infinity where it passes by. */
function boxEntry(box: TreeBox, origin: Vector3, direction: Vector3): number {
  const localOrigin = toBox(box, origin);
  const localDirection = toBox(box, direction, false);
  let [near, far] = [0, Infinity];
  for (let axis = 0; axis < 3; axis++) {
    const [o, d] = [localOrigin.getComponent(axis), localDirection.getComponent(axis)];
    const [a, b] = [(box.low.getComponent(axis) - o) / d, (box.high.getComponent(axis) - o) / d];
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
  }
  return near <= far ? near : Infinity;
}

/** Möller and Trumbore's test. */
function triangleHit({ positions, indices }: Triangles, triangle: number, origin: Vector3, direction: Vector3): number {
  const [a, b, c] = [0, 1, 2].map((k) => new Vector3().fromArray(positions, 3 * indices[3 * triangle + k]));
  const [e, f] = [b.sub(a), c.sub(a)];
  const p = direction.clone().cross(f);
  const determinant = e.dot(p);
  const s = origin.clone().sub(a);
  const u = s.dot(p) / determinant;
  const q = s.cross(e);
  const v = direction.dot(q) / determinant;
  const t = f.dot(q) / determinant;
  return u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? t : Infinity;
}

/** Two dragons that touch: what `contact` answers about them. */
async function contactPicture(service: CollisionService, mesh: Triangles, id: number): Promise<string> {
  const [width, height] = [900, 560];
  const matrix = new Matrix4().makeTranslation(0.085, -0.012, 0.035).multiply(new Matrix4().makeRotationY(0.9));
  const a = service.addObject({ shape: { type: 'mesh', mesh: id } });
  const b = service.addObject({ shape: { type: 'mesh', mesh: id }, matrix: matrix.elements });
  const contact = await service.contact(a, b, { detail: 'full' });
  if (!contact) throw new Error('the dragons of the picture do not touch');
  const { segments, points, normals, depths } = contact;

  const offset = new Matrix4().makeTranslation(-0.03, -0.115, 0);
  const camera = new PictureCamera(MODEL_ROTATION.clone().multiply(offset), 2600, width / 2, height / 2 - 10);
  const movedPositions = mesh.positions.slice();
  const vertex = new Vector3();
  for (let i = 0; i < movedPositions.length; i += 3)
    vertex.fromArray(movedPositions, i).applyMatrix4(matrix).toArray(movedPositions, i);
  const meshes = [mesh, { positions: movedPositions, indices: mesh.indices }];
  const vectorAt = (numbers: Float32Array, i: number): Vector3 => new Vector3().fromArray(numbers, i);

  // The points of a region follow one another and share normal and depth.
  const regionOf = (i: number): string => [...normals.subarray(3 * i, 3 * i + 3), depths[i]].join();
  const regions = Array.from(depths).filter((_, i) => i === 0 || regionOf(i) !== regionOf(i - 1)).length;
  const segmentPaths: string[] = [];
  for (let i = 0; i < segments.length; i += 6) {
    const [from, to] = [camera.see(vectorAt(segments, i)), camera.see(vectorAt(segments, i + 3))];
    segmentPaths.push(`M${formatNumber(from.x)} ${formatNumber(from.y)}L${formatNumber(to.x)} ${formatNumber(to.y)}`);
  }
  const marks: string[] = [];
  for (let i = 0; i < points.length; i += 3) {
    const point = camera.see(vectorAt(points, i));
    const tip = camera.see(vectorAt(points, i).addScaledVector(vectorAt(normals, i), 0.02));
    marks.push(line([point, tip], 'stroke="#c2570c" stroke-width="1.6"'));
    marks.push(`<circle cx="${formatNumber(point.x)}" cy="${formatNumber(point.y)}" r="3" fill="#c2570c"/>`);
  }
  const caption = `${segments.length / 6} pairs of triangles, ${regions} regions, ${points.length / 3} points`;

  return svg(
    width,
    height + 30,
    `Two dragons that touch, with the segments in which their triangles cut each other: ${caption}`,
    [
      '<g opacity="0.75">',
      ...shadedTogether(camera, meshes, width, height),
      '</g>',
      `<path d="${segmentPaths.join('')}" stroke="#1d63c4" stroke-width="2.2" stroke-linecap="round" fill="none"/>`,
      ...marks,
      text(width / 2, height + 10, `${caption} with a normal each`, {
        anchor: 'middle',
        colour: GREY,
      }),
    ],
  );
}

function shadedTogether(camera: PictureCamera, meshes: readonly Triangles[], width: number, height: number): string[] {
  const count = meshes[0].positions.length / 3;
  const positions = new Float32Array(meshes.flatMap((mesh) => Array.from(mesh.positions)));
  const indices = new Uint32Array(meshes.flatMap((mesh, i) => Array.from(mesh.indices, (index) => index + i * count)));
  return shadedMesh(camera, { positions, indices }, width, height);
}
