import { dragon } from '../../oracle/dragon.js';
import { Random } from '../../oracle/random.js';
import type { Row } from '../harness.js';
import { SMALL_LEAVES } from '../peers/three-mesh-bvh.js';
import { rodsAndPlates } from '../work/rods.js';
import { type BigSizes, bigSceneRows } from './big-scenes.js';
import { boxManifoldsRow, boxPairsRow, boxRaysRow } from './boxes.js';
import { buildRow, fastBuildRow } from './build.js';
import { charactersRow } from './characters.js';
import { clashCoresCpuRow, clashCoresRow, clashMeetRow, clashRow } from './clash.js';
import { elementsRows } from './elements.js';
import { frustumRows } from './frustum.js';
import { dragonHeapRow, sphereHeapRow } from './heap.js';
import { largeBuildRow } from './large-build.js';
import { loadRow } from './load.js';
import { closestRow, spheresRow } from './nearness.js';
import { drawnCityRow, occlusionRow } from './occlusion.js';
import { allPairsRow, distanceRow, firstPairRow, manifoldPairsRow } from './pairs.js';
import { regionRow, screenRow } from './pointing.js';
import { cameraRaysRow, frontRaysRow, raysRow } from './rays.js';
import { clearanceRow, continuousRow } from './reaching.js';
import { sectionRow } from './section.js';
import { type SkinSizes, skinRows } from './skin.js';
import { snapRow } from './snap.js';
import { stillRow } from './still.js';
import { streamRows } from './stream.js';
import { boxSweepsRow, meshSweepsRow } from './sweeps.js';

export interface Sizes extends BigSizes, SkinSizes {
  /** Triangles of the two dragons. */
  dragon: Parameters<typeof dragon>[0];
  largeDragon: Parameters<typeof dragon>[0];
  rods: number;
  rays: number;
  /** The pixels of a picture: width and height. */
  picture: [width: number, height: number];
  poses: number;
  /** In the rows of nearness. */
  points: number;
  boxes: number;
  boxRays: number;
  /** Moving meshes. */
  spheres: number;
  dragons: number;
  /** In the rows of frusta and of still objects. */
  objects: number;
  /** In the rows of the stream. */
  streamed: number;
  /** Points of a scan; and lines. */
  scan: number;
  lines: number;
  /** Parts that planes cut. */
  parts: number;
  planes: number;
  /** Parts of the building that clash. */
  clashParts: number;
  /** Who walks, and the triangles that they walk on. */
  characters: number;
  level: number;
}

export const FULL: Sizes = {
  dragon: 47794,
  largeDragon: 871414,
  rods: 20_000,
  rays: 100_000,
  picture: [640, 480],
  poses: 200,
  points: 10_000,
  boxes: 10_000,
  boxRays: 10_000,
  spheres: 2000,
  dragons: 64,
  objects: 100_000,
  streamed: 10_000,
  tracked: 10_000,
  hidden: 50_000,
  largeMesh: 18_000_000,
  instances: 1_000_000,
  sides: 100_000,
  scan: 10_000_000,
  lines: 1_000_000,
  figures: 100,
  rings: 100,
  bones: 60,
  crowd: 50,
  parts: 1000,
  planes: 30,
  clashParts: 20_000,
  characters: 500,
  level: 500_000,
};

export function rowsOf(sizes: Sizes): Row[] {
  const { rods, rays, picture, poses, points, boxes, boxRays, spheres, dragons, objects } = sizes;
  const small = () => dragon(sizes.dragon);
  const large = () => dragon(sizes.largeDragon);
  return [
    raysRow({
      name: 'rays-48k',
      what: 'the dragon',
      mesh: small,
      rays,
      fewRays: 20,
      target: 10,
      nativeTarget: 0.6,
      treeOptions: SMALL_LEAVES,
    }),
    raysRow({
      name: 'rays-871k',
      what: 'the full dragon',
      mesh: large,
      rays,
      fewRays: 3,
      target: 10,
      nativeTarget: 0.8,
    }),
    cameraRaysRow(
      {
        name: 'rays-coherent',
        what: 'the full dragon',
        mesh: large,
        fewRays: 3,
        target: 5,
        nativeTarget: 0.6,
        rounds: 7,
      },
      ...picture,
    ),
    raysRow({
      name: 'rays-rods',
      areThin: true,
      what: `${rods.toLocaleString('en')} thin rods and plates`,
      mesh: () => rodsAndPlates(new Random(1), rods),
      rays,
      fewRays: 3,
      target: 8,
      rounds: 5,
    }),
    frontRaysRow(small, rays),
    buildRow(large),
    fastBuildRow(large),
    largeBuildRow(sizes.largeMesh, sizes.largeMesh / 20),
    loadRow(large),
    firstPairRow(small, poses),
    allPairsRow(small, poses),
    manifoldPairsRow(small, poses),
    distanceRow(small, poses),
    closestRow(small, points),
    spheresRow(small, points),
    boxPairsRow(boxes),
    boxManifoldsRow(boxes),
    boxRaysRow(boxes, boxRays),
    meshSweepsRow(small, points),
    boxSweepsRow(boxes, points),
    clearanceRow(spheres),
    continuousRow(boxes),
    sphereHeapRow(spheres),
    dragonHeapRow(small, dragons),
    ...frustumRows(objects),
    occlusionRow(objects),
    drawnCityRow(objects),
    screenRow(objects),
    regionRow(objects),
    stillRow(objects),
    ...streamRows(sizes.streamed),
    ...bigSceneRows(sizes),
    ...elementsRows({
      ...{ name: 'points-10m', topology: 'points', count: sizes.scan, rays: points },
      ...{ target: 3, bytesAtMost: 20 },
    }),
    ...elementsRows({
      ...{ name: 'lines-1m', topology: 'lines', count: sizes.lines, rays: points },
      ...{ target: 4, bytesAtMost: 32 },
    }),
    ...skinRows(sizes),
    sectionRow(sizes.parts, sizes.planes),
    clashRow(sizes.clashParts),
    clashMeetRow(sizes.clashParts),
    clashCoresRow(sizes.clashParts),
    clashCoresCpuRow(sizes.clashParts),
    snapRow(sizes.parts),
    charactersRow(sizes.characters, sizes.level),
  ];
}
