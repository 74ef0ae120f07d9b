import type { CollisionError } from '../shared/errors.js';
import { reading } from './check/validate.js';

/** It tells what happened to a service's worker. */
export class ServiceEvent extends Event {
  /** It says why the worker was lost; null for 'restored'. */
  readonly error: CollisionError | null;
  /** Where the worker was lost, it tells whether the service has ended; else another worker is on its way. */
  readonly final: boolean;

  constructor(type: 'lost' | 'restored', error: CollisionError | null, final = false) {
    super(type);
    this.error = error;
    this.final = final;
  }
}

type Listener = ((event: ServiceEvent) => void) | { handleEvent(event: ServiceEvent): void };

/** An EventTarget of these alone. */
export class ServiceEvents extends EventTarget {
  /**
   * Listens. 'lost': the worker is gone, and what was pending has been rejected, but for questions, which the next worker
   * is asked. That one is on its way, unless the event is `final`. 'restored': it knows all that the one before it did.
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
