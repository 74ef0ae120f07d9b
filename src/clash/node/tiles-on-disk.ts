import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TileResult } from '../tile/tile-runner.js';
import { removeMatching, writeAtomically } from './folder.js';

const TILE_FILE = /^\d+\.json$/;

/** The results of tiles: a file for each tile that is done, in a folder named by the run's key. */
export class TilesOnDisk {
  readonly #folder: string;
  readonly #done = new Set<number>();

  constructor(work: string, key: string) {
    this.#folder = join(work, 'tiles', key);
  }

  /** Removes the results of all runs of a work folder. */
  static async clear(work: string): Promise<void> {
    const folder = join(work, 'tiles');
    const runs = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
    for (const key of runs) await removeMatching(join(folder, key), TILE_FILE);
    await rmdir(folder).catch(() => {});
  }

  /** Finds the tiles that are done. */
  async look(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) if (TILE_FILE.test(name)) this.#done.add(Number.parseInt(name, 10));
  }

  /** The numbers of the tiles that are done, ascending. */
  get done(): number[] {
    return [...this.#done].sort((a, b) => a - b);
  }

  has(tile: number): boolean {
    return this.#done.has(tile);
  }

  /** Writes the result of a tile, as JSON, to the disk. */
  async put(tile: number, result: string): Promise<void> {
    await writeAtomically(join(this.#folder, `${tile}.json`), result);
    this.#done.add(tile);
  }

  /** Resolves with the result of a tile; with null, and the tile is not done, if a machine that failed has left half of it. */
  async read(tile: number): Promise<TileResult | null> {
    try {
      return JSON.parse(await readFile(join(this.#folder, `${tile}.json`), 'utf8'));
    } catch {
      this.#done.delete(tile);
      return null;
    }
  }
}
