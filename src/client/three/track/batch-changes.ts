import { BatchedMesh, REVISION } from 'three';

/** Older versions of three do not report that an instance got another geometry. */
const FIRST_REPORTING_REVISION = 187;
/** Whether three sets `_visibilityChanged` to true whenever an instance is added, deleted or changed. */
export const REPORTS_ALL_CHANGES = Number.parseInt(REVISION, 10) >= FIRST_REPORTING_REVISION;

const changesByBatch = new WeakMap<BatchedMesh, BatchChanges>();

/**
 * Counts how often three has reported changes of a BatchedMesh's instances: checking fifty thousand between two pictures takes
 * 0.2 ms, a quarter of all the work for their frame. three resets its flag when it draws, so the property is an accessor while
 * somebody listens; to three and to everyone else it reads as before.
 */
export class BatchChanges {
  count = 0;
  readonly #batch: BatchedMesh;
  #listeners = 0;

  private constructor(batch: BatchedMesh) {
    this.#batch = batch;
  }

  /** Returns the changes of a BatchedMesh, which must be released again; null if three does not report all of them. */
  static listenTo(batch: BatchedMesh): BatchChanges | null {
    // Another copy of three may be an older one.
    if (!REPORTS_ALL_CHANGES || !(batch instanceof BatchedMesh)) return null;
    let changes = changesByBatch.get(batch);
    if (changes === undefined) {
      changes = new BatchChanges(batch);
      if (!changes.#listen()) return null;
      changesByBatch.set(batch, changes);
    }
    changes.#listeners++;
    return changes;
  }

  /** Restores the plain property, once all listeners have released it. */
  release(): void {
    if (--this.#listeners > 0) return;
    changesByBatch.delete(this.#batch);
    const { _visibilityChanged: value } = this.#batch as unknown as { _visibilityChanged: unknown };
    Object.defineProperty(this.#batch, '_visibilityChanged', { value, writable: true });
  }

  #listen(): boolean {
    const descriptor = Object.getOwnPropertyDescriptor(this.#batch, '_visibilityChanged');
    if (descriptor?.configurable !== true || !('value' in descriptor)) return false;
    let { value } = descriptor;
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
