import { CollisionError } from 'collision-worker';

/** Loads an optional package. Throws UNSUPPORTED with the command to install it. */
export async function loadPeer<T>(name: string, purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = (cause as { code?: string }).code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    const message = `clash: ${purpose} needs ${name}, which is not installed; install it by npm install ${name}`;
    throw new CollisionError('UNSUPPORTED', message, { cause });
  }
}
