import { dragon } from '../../oracle/dragon.js';
import { Random } from '../../oracle/random.js';
import type { Row } from '../harness.js';
import { rodsAndPlates } from '../work/rods.js';
import { raysRow } from './rays.js';

export interface Sizes {
  /** Triangles of the two dragons. */
  dragon: Parameters<typeof dragon>[0];
  largeDragon: Parameters<typeof dragon>[0];
  rods: number;
  rays: number;
}

export const FULL: Sizes = { dragon: 47794, largeDragon: 871414, rods: 20_000, rays: 100_000 };

export function rowsOf({ dragon: small, largeDragon: large, rods, rays }: Sizes): Row[] {
  return [
    raysRow({ name: 'rays-48k', what: 'the dragon', mesh: () => dragon(small), rays, fewRays: 200, target: 6 }),
    raysRow({ name: 'rays-871k', what: 'the full dragon', mesh: () => dragon(large), rays, fewRays: 20, target: 5 }),
    raysRow({
      name: 'rays-rods',
      what: `${rods} thin rods and plates`,
      mesh: () => rodsAndPlates(new Random(1), rods),
      rays,
      fewRays: 20,
      target: 8,
    }),
  ];
}
