import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../check.js';
import { removeParts } from './part-store.js';
import { RUN_FILE } from './run.js';
import { TilesOnDisk } from './tiles-on-disk.js';
import { lockWork } from './work-lock.js';

/**
 * Removes the files that this package has written into a work folder, and the folder if nothing else is in it. They stay if
 * another run has the folder by now.
 */
export async function clearWork(work: string): Promise<void> {
  let unlock = async (): Promise<void> => {};
  try {
    unlock = await lockWork(work);
  } catch (error) {
    // A full disk has no room for a lock, until the files are removed.
    if (!hasCode(error, 'OUT_OF_MEMORY')) return;
  }
  for (const name of ['a', 'b']) await removeParts(join(work, name));
  await TilesOnDisk.clear(work);
  await rm(join(work, RUN_FILE), { force: true });
  await unlock();
  await rmdir(work).catch(() => {});
}
