import { BatchedMesh, REVISION } from 'three';

/** Before this there was three that did not say when an instance got another geometry. */
const FIRST_THAT_SAYS = 187;
/** It tells whether three writes true to `_visibilityChanged` whenever an instance comes, goes or is another. */
export const SAYS_ALL = Number.parseInt(REVISION, 10) >= FIRST_THAT_SAYS;

const known = new WeakMap<BatchedMesh, BatchChanges>();

/**
 * Counts how often three has said that instances of a BatchedMesh are others: to look at fifty thousand takes 0.2 ms between
 * two pictures, which is a quarter of all that is done for their frame. three takes back what it has said when it draws,
 * so the property is an accessor while somebody listens; to three and to all others it reads as before.
 */
export class BatchChanges {
  count = 0;
  readonly #batch: BatchedMesh;
  #listeners = 0;

  private constructor(batch: BatchedMesh) {
    this.#batch = batch;
  }

  /** Answers those of a BatchedMesh, to be released again; null where three does not say all. */
  static listenTo(batch: BatchedMesh): BatchChanges | null {
    // Another copy of three may be an older one.
    if (!SAYS_ALL || !(batch instanceof BatchedMesh)) return null;
    let changes = known.get(batch);
    if (changes === undefined) {
      changes = new BatchChanges(batch);
      if (!changes.#listen()) return null;
      known.set(batch, changes);
    }
    changes.#listeners++;
    return changes;
  }

  /** Leaves the property as it was, when all have released it. */
  release(): void {
    if (--this.#listeners > 0) return;
    known.delete(this.#batch);
    const { _visibilityChanged: value } = this.#batch as unknown as { _visibilityChanged: unknown };
    Object.defineProperty(this.#batch, '_visibilityChanged', { value, writable: true });
  }

  #listen(): boolean {
    const own = Object.getOwnPropertyDescriptor(this.#batch, '_visibilityChanged');
    if (own?.configurable !== true || !('value' in own)) return false;
    let { value } = own;
    Object.defineProperty(this.#batch, '_visibilityChanged', {
      get: (): unknown => value,
      set: (next: unknown) => {
        value = next;
        if (next === true) this.count++;
      },
    });
    return true;
  }
}
