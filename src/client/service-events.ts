import type { CollisionError } from '../shared/errors.js';
import { guardRead } from './check/validate.js';

/** Reports that a service's worker was lost or restored. */
export class ServiceEvent extends Event {
  /** Why the worker was lost; null for 'restored'. */
  readonly error: CollisionError | null;
  /** For 'lost', true if the service has ended; false if another worker is being started. */
  readonly final: boolean;

  constructor(type: 'lost' | 'restored', error: CollisionError | null, final = false) {
    super(type);
    this.error = error;
    this.final = final;
  }
}

// DOM's names for these types are missing where Node's types are the only ones.
type ListenOptions = Parameters<EventTarget['addEventListener']>[2];
type UnlistenOptions = Parameters<EventTarget['removeEventListener']>[2];
type Listener = ((event: ServiceEvent) => void) | { handleEvent(event: ServiceEvent): void };

/** An EventTarget of ServiceEvents alone. */
export class ServiceEvents extends EventTarget {
  /**
   * Adds a listener. 'lost': the worker is gone, and pending calls have been rejected, except for queries, which the next
   * worker is asked. That worker is being started, unless the event is `final`. 'restored': it has the state of the lost one.
   */
  override addEventListener(type: 'lost' | 'restored', listener: Listener | null, options?: ListenOptions): void {
    guardRead('addEventListener', 'an argument', () => {
      super.addEventListener(type, listener as EventListener | null, options);
    });
  }

  override removeEventListener(type: 'lost' | 'restored', listener: Listener | null, options?: UnlistenOptions): void {
    guardRead('removeEventListener', 'an argument', () => {
      super.removeEventListener(type, listener as EventListener | null, options);
    });
  }
}
