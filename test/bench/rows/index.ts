import { dragon } from '../../oracle/dragon.js';
import type { Row } from '../harness.js';
import { type AnywhereSizes, FULL_ANYWHERE, rowsAnywhere } from './anywhere.js';
import { type BigSizes, bigSceneRows } from './big-scenes.js';
import { buildRow, fastBuildRow, twoBuildersRow } from './build.js';
import { charactersRow } from './characters.js';
import { clashCoresCpuRow, clashCoresRow, clashMeetRow, clashRow } from './clash.js';
import { elementsRows } from './elements.js';
import { largeBuildRow } from './large-build.js';
import { loadRow } from './load.js';
import { closestRow, spheresRow } from './nearness.js';
import { drawnCityRow, occlusionRow } from './occlusion.js';
import { cameraRaysRow, raysRow } from './rays.js';
import { sectionRow } from './section.js';
import { type SkinSizes, skinRows } from './skin.js';
import { snapRow } from './snap.js';

export interface Sizes extends AnywhereSizes, BigSizes, SkinSizes {
  /** Triangle counts of the two dragons. */
  dragon: Parameters<typeof dragon>[0];
  largeDragon: Parameters<typeof dragon>[0];
  /** Width and height of a picture in pixels. */
  picture: [width: number, height: number];
  /** Number of points of a scan; and of lines. */
  scan: number;
  lines: number;
  /** Number of parts that planes cut. */
  parts: number;
  planes: number;
  /** Number of the building's parts for clashes. */
  clashParts: number;
  /** Number of walkers, and of the triangles that they walk on. */
  characters: number;
  level: number;
}

export const FULL: Sizes = {
  ...FULL_ANYWHERE,
  dragon: 47794,
  largeDragon: 871414,
  picture: [640, 480],
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
  const { picture, points, objects } = sizes;
  const small = () => dragon(sizes.dragon);
  const large = () => dragon(sizes.largeDragon);
  return [
    ...rowsAnywhere(small, sizes),
    raysRow({
      name: 'rays-871k',
      what: 'the full dragon',
      mesh: large,
      rays: sizes.rays,
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
    buildRow(large),
    fastBuildRow(large),
    twoBuildersRow(large),
    largeBuildRow(sizes.largeMesh, sizes.largeMesh / 20),
    loadRow(large),
    closestRow(small, points),
    spheresRow(small, points),
    occlusionRow(objects),
    drawnCityRow(objects),
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
