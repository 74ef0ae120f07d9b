import { BoxGeometry, Mesh, MeshLambertMaterial } from 'three';

/** Half of the courtyard's size along x and z. */
export const HALF_WIDTH = 11;
export const HALF_DEPTH = 8;
const HEIGHT = 1.9;
const THICKNESS = 0.35;

/** From x, z to x, z; each wall is parallel to one of the axes. */
const WALLS: readonly [fromX: number, fromZ: number, toX: number, toZ: number][] = [
  [-HALF_WIDTH, -HALF_DEPTH, HALF_WIDTH, -HALF_DEPTH],
  [-HALF_WIDTH, HALF_DEPTH, HALF_WIDTH, HALF_DEPTH],
  [-HALF_WIDTH, -HALF_DEPTH, -HALF_WIDTH, HALF_DEPTH],
  [HALF_WIDTH, -HALF_DEPTH, HALF_WIDTH, HALF_DEPTH],
  [-7, -4.5, -3, -4.5],
  [-7, -4.5, -7, -1],
  [3.5, -5.5, 3.5, -2],
  [3.5, -2, 7.5, -2],
  [-4.5, 3, -1.5, 3],
  [-4.5, 3, -4.5, 5.5],
  [4, 2.5, 4, 5],
  [6.5, 3.5, 9, 3.5],
  [-1, -4.5, 1, -4.5],
];

/** Creates the walls as boxes that stand on the ground. */
export function createWalls(): Mesh<BoxGeometry>[] {
  const material = new MeshLambertMaterial({ color: 0x65728a });
  return WALLS.map(([fromX, fromZ, toX, toZ], i) => {
    // The outer walls are low, so that the camera can look over them.
    const height = i < 4 ? HEIGHT / 3 : HEIGHT;
    const geometry = new BoxGeometry(toX - fromX + THICKNESS, height, toZ - fromZ + THICKNESS);
    const wall = new Mesh(geometry, material);
    wall.name = `wall ${i + 1}`;
    wall.position.set((fromX + toX) / 2, height / 2, (fromZ + toZ) / 2);
    return wall;
  });
}

/** Returns the axis along which a disc on the ground penetrates a wall the least; null if it touches none. */
export function wallAt(walls: readonly Mesh<BoxGeometry>[], x: number, z: number, radius: number): 'x' | 'z' | null {
  for (const { position, geometry } of walls) {
    const { width, depth } = geometry.parameters;
    const insideX = width / 2 + radius - Math.abs(x - position.x);
    const insideZ = depth / 2 + radius - Math.abs(z - position.z);
    if (insideX > 0 && insideZ > 0) return insideX < insideZ ? 'x' : 'z';
  }
  return null;
}
