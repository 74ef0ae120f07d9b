// Measures the benefit of oriented boxes: the number of tests for rays and pairs in trees with rotations and without.
import { readFileSync } from 'node:fs';
import { CatmullRomCurve3, TubeGeometry, Vector3 } from 'three';
import { instantiateCore } from '../../src/worker/binding/exports.js';
import { bake, coreOf, intersectingTriangles, meshesIntersect } from '../fixtures/core.js';
import { dragon } from '../oracle/dragon.js';
import { type Triangles, welded } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';
import { addMeshObject, filterOf } from './inner.js';
import { formatDigits } from './report/table.js';
import { posesOf } from './work/poses.js';
import { raysAround } from './work/rays.js';
import { rodsAndPlates } from './work/rods.js';

const RAYS = 20_000;
const POSES = 50;

/** Per ray, or per pose: nodes or pairs of nodes, blocks of four triangles or pairs of blocks, and float64 tests. */
type Counts = [nodes: number, blocks: number, triangles: number];

const MESHES: [name: string, make: () => Triangles][] = [
  ['dragon, 47,794 triangles', () => dragon(47794)],
  ['20,000 rods and plates, 500,000 triangles', () => rodsAndPlates(new Random(1), 20_000)],
  ['spring of wire, 48,000 triangles', spring],
];

/** Prints the counts, given the paths of two cores with counters. */
export async function countTests(cores: { fitted: string; plain: string }): Promise<void> {
  for (const [name, make] of MESHES) {
    const mesh = make();
    const [fitted, plain] = [await countsOf(cores.fitted, mesh), await countsOf(cores.plain, mesh)];
    console.log(`\n${name}${' '.repeat(42 - name.length)}with rotations   without`);
    printCounts('a ray', ['nodes', 'blocks of four triangles', 'exact tests'], fitted.ray, plain.ray);
    printCounts('all pairs', ['pairs of nodes', 'pairs of blocks', 'exact tests'], fitted.all, plain.all);
    printCounts('first pair', ['pairs of nodes', 'pairs of blocks', 'exact tests'], fitted.first, plain.first);
  }
}

function printCounts(work: string, kinds: string[], fitted: Counts, plain: Counts): void {
  for (const [i, kind] of kinds.entries()) {
    console.log(
      `  ${`${work}: ${kind}`.padEnd(38)}${formatDigits(fitted[i]).padStart(14)}${formatDigits(plain[i]).padStart(10)}` +
        `   ${(plain[i] / fitted[i]).toFixed(2)}×`,
    );
  }
}

async function countsOf(path: string, mesh: Triangles) {
  const exports = await instantiateCore(readFileSync(path));
  const core = coreOf(exports);
  const { takeCount } = exports as unknown as { takeCount(counter: number): number };
  const takeCounts = (times: number): Counts => [takeCount(0) / times, takeCount(1) / times, takeCount(2) / times];
  const address = core.loadMesh(bake(core, mesh));
  addMeshObject(core, address);
  takeCounts(1);

  core.rays.raycastMany(raysAround(new Random(1), mesh.positions, RAYS), filterOf());
  const ray = takeCounts(RAYS);
  const poses = posesOf(new Random(1), mesh.positions, POSES);
  const countPerPose = (work: (matrix: Float64Array) => void): Counts => {
    for (let i = 0; i < POSES; i++) work(poses.subarray(16 * i, 16 * i + 16));
    return takeCounts(POSES);
  };
  const all = countPerPose((matrix) => intersectingTriangles(core, address, address, matrix));
  const first = countPerPose((matrix) => meshesIntersect(core, address, address, matrix));
  return { ray, all, first };
}

/** A helical spring: twelve turns of a wire with twelve sides. */
function spring(): Triangles {
  const points = Array.from({ length: 1001 }, (_, i) => {
    const angle = (24 * Math.PI * i) / 1000;
    return new Vector3(Math.cos(angle), Math.sin(angle), (4 * i) / 1000 - 2);
  });
  return welded(new TubeGeometry(new CatmullRomCurve3(points), 2000, 0.04, 12));
}
