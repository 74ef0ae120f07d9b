import type { CollisionError } from '../shared/errors.js';
import { reading } from './check/validate.js';

/** What happened to a service's worker. */
export class ServiceEvent extends Event {
  /** Why the worker was lost; null for 'restored'. */
  readonly error: CollisionError | null;

  constructor(type: 'lost' | 'restored', error: CollisionError | null) {
    super(type);
    this.error = error;
  }
}

type Listener = ((event: ServiceEvent) => void) | { handleEvent(event: ServiceEvent): void };

/** An EventTarget of these alone. */
export class ServiceEvents extends EventTarget {
  /**
   * Listens. 'lost': the worker is gone, and what was pending has been rejected; where `restart` allows it another one
   * is on its way. 'restored': that one knows all that the one before it did.
   */
  override addEventListener(
    type: 'lost' | 'restored',
    listener: Listener | null,
    options?: AddEventListenerOptions | boolean,
  ): void {
    reading('addEventListener', 'an argument', () => {
      super.addEventListener(type, listener as EventListener | null, options);
    });
  }

  override removeEventListener(
    type: 'lost' | 'restored',
    listener: Listener | null,
    options?: EventListenerOptions | boolean,
  ): void {
    reading('removeEventListener', 'an argument', () => {
      super.removeEventListener(type, listener as EventListener | null, options);
    });
  }
}
