import type { Row } from '../harness.js';
import { pageRow } from './page-row.js';

/** Planes and centres in float32 compared with float64: a box may just touch. */
const ROUNDED = { of: { visible: 1e-4 }, because: 'a box that only touches a plane is rounded in or out' };
const FLOAT64 = { of: { distances: 1e-6, 'distances of one side': 1e-6 }, because: 'float64, rounded otherwise' };

export interface BigSizes {
  /** Number of geometries. */
  tracked: number;
  instances: number;
  /** Number of Meshes below one Group. */
  hidden: number;
  /** Triangles of the largest mesh. */
  largeMesh: number;
  /** Number of Meshes of mixed sides. */
  sides: number;
}

/** Scenes as in CAD viewers, city models and forests: in a page of Chromium. */
export function bigSceneRows({ tracked, hidden, largeMesh, instances, sides }: BigSizes): Row[] {
  const many = instances.toLocaleString('en');
  return [
    pageRow('tracking', {
      name: 'track-10k',
      work: `from trackScene of ${tracked.toLocaleString('en')} geometries of 48 triangles to the answer of the first pick, in Chromium`,
      count: tracked,
      rounds: 7,
      ms: 1500,
      peers: { 'three-mesh-bvh': { note: 'builds on the main thread, in one block', tolerance: FLOAT64 } },
    }),
    pageRow('blocks', {
      name: 'blocks-50k',
      work: `update() when ${hidden.toLocaleString('en')} Meshes turn invisible by an ancestor, or visible, in Chromium; and how long the main thread is busy at once while large scenes come and go`,
      count: hidden,
      rounds: 9,
      ms: 8,
      peers: {},
    }),
    pageRow('large mesh', {
      name: 'track-18m',
      work: `from adding one Mesh of ${largeMesh.toLocaleString('en')} triangles to its object in the service, in Chromium; and how long the main thread is busy at once meanwhile`,
      count: largeMesh,
      rounds: 1,
      peers: {},
      isLarge: true,
    }),
    pageRow('million', {
      name: 'million',
      work: `awaiting a frame of ${many} static instances, with the list of those that a turning camera sees, in Chromium`,
      count: instances,
      ms: 4,
      peers: { 'JavaScript loop': { note: 'over centres in one array, on the main thread', tolerance: ROUNDED } },
      atMost: { 'in the core': 350 },
    }),
    pageRow('million picks', {
      name: 'million-pick',
      work: `awaiting a pick among the ${many} instances`,
      count: instances,
      rounds: 9,
      ms: 2,
      peers: { "three's Raycaster": { tolerance: FLOAT64 } },
    }),
    pageRow('sides', {
      name: 'sides-100k',
      work: `awaiting a pick among ${sides.toLocaleString('en')} Meshes of front, back and both sides, in Chromium`,
      count: sides,
      rounds: 9,
      peers: { 'objects of one side': { target: 1 / 1.2 }, "three's Raycaster": { tolerance: FLOAT64 } },
    }),
  ];
}
