// How far Meshes in a row are followed without another look at each of them.
import { BackSide, BoxGeometry, Mesh, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { MovedTransforms } from '../../src/client/three/track/moved-transforms.js';
import { UnchangedRuns } from '../../src/client/three/track/unchanged-runs.js';

const FIRST_NUMBER = 3;
const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];

/** Remembers Meshes as a walk does, whose first has that number. */
function remembered(meshes: readonly Mesh<BoxGeometry, MeshBasicMaterial>[]): UnchangedRuns {
  const runs = new UnchangedRuns();
  for (let number = 0; number < FIRST_NUMBER; number++) runs.remember(number, null, null, 0);
  meshes.forEach((mesh, i) => {
    const { side, visible } = mesh.material;
    const kind = { geometry: mesh.geometry, material: mesh.material, side, isDrawn: visible };
    runs.remember(FIRST_NUMBER + i, mesh, { ...kind, layers: mesh.layers.mask, givenLayers: -1 }, 100 + i);
  });
  runs.beginWalk();
  return runs;
}

function followed(runs: UnchangedRuns, meshes: Mesh[], isSeen = true): number[] {
  const moved = new MovedTransforms();
  const count = runs.follow(meshes, 0, FIRST_NUMBER, isSeen, moved);
  expect(moved.count).toBe(count);
  for (let i = 0; i < count; i++) expect(moved.matrices[i]).toBe(meshes[i].matrixWorld.elements);
  return [...moved.ids.subarray(0, count)];
}

const some = () => Array.from({ length: 5 }, () => new Mesh(geometry, material.clone()));

test('all of them, of one kind or of many', () => {
  const alike = Array.from({ length: 5 }, () => new Mesh(geometry, material));
  const others = [...some(), new Mesh(new BoxGeometry(), material), ...alike];
  for (const meshes of [alike, others]) {
    const runs = remembered(meshes);
    for (let walk = 0; walk < 2; walk++) {
      expect(followed(runs, meshes)).toEqual(meshes.map((_, i) => 100 + i));
      runs.beginWalk();
    }
  }
});

test.each<[string, (mesh: Mesh<BoxGeometry, MeshBasicMaterial>, meshes: Mesh[]) => unknown]>([
  ['has another geometry', (mesh) => Object.assign(mesh, { geometry: new BoxGeometry() })],
  ['has another material', (mesh) => Object.assign(mesh, { material: material.clone() })],
  ['is shown from another side', (mesh) => Object.assign(mesh.material, { side: BackSide })],
  ['has a material that is not drawn', (mesh) => Object.assign(mesh.material, { visible: false })],
  ['is invisible', (mesh) => Object.assign(mesh, { visible: false })],
  ['is in other layers', (mesh) => mesh.layers.set(3)],
  ['has got a child', (mesh) => mesh.add(new Mesh())],
  ['is another one', (mesh, meshes) => meshes.splice(meshes.indexOf(mesh), 1, mesh.clone())],
  ['has left', (mesh, meshes) => meshes.splice(meshes.indexOf(mesh))],
])('up to the one that %s', (_, change) => {
  const meshes = some();
  const runs = remembered(meshes);
  change(meshes[2], meshes);
  expect(followed(runs, meshes)).toEqual([100, 101]);
});

test('none where all of them are hidden, or forgotten', () => {
  const meshes = some();
  const runs = remembered(meshes);
  expect(followed(runs, meshes, false)).toEqual([]);
  runs.forgetOne(meshes[3]);
  expect(followed(runs, meshes)).toHaveLength(5); // from the next walk on
  runs.beginWalk();
  expect(followed(runs, meshes)).toHaveLength(3);
  runs.forget();
  runs.beginWalk();
  expect(followed(runs, meshes)).toEqual([]);
});
