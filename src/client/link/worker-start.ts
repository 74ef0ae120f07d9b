/** Observes a starting worker for what blocks it: browsers report this to the page, but not with the worker's own error. */
export class WorkerStart {
  #violation: SecurityPolicyViolationEvent | undefined;

  constructor() {
    // Windows have it, and so have workers, which may start workers, too; Node has neither.
    globalThis.addEventListener?.('securitypolicyviolation', this.#recordViolation);
  }

  /** Ends the watch: the worker has started, or never will. */
  end(): void {
    globalThis.removeEventListener?.('securitypolicyviolation', this.#recordViolation);
  }

  /**
   * Returns why the worker did not start, and what to do about it, after an error with that message; browsers often give
   * none.
   */
  obstacle(message: string | undefined): string {
    if (message && !message.includes('SyntaxError')) return message;
    if (this.#violation) {
      const script = this.#violation.blockedURI;
      const allowedSource = script.startsWith('blob') ? 'blob:' : "'self' for one of the page's origin";
      return `a content security policy forbids its script (${script}): its worker-src must allow it, ${allowedSource}`;
    }
    const reason = message || 'its script could not be loaded, or is none';
    const isolation = globalThis.crossOriginIsolated
      ? ', or has no header Cross-Origin-Embedder-Policy, which it must have for a page that is cross-origin isolated'
      : '';
    return (
      `${reason}. See the network panel: the bundler did not emit it where it is missing (404, or HTML in its place; then ` +
      `hand in createWorker, with a copy of dist/worker.js of the package)${isolation}`
    );
  }

  readonly #recordViolation = (event: SecurityPolicyViolationEvent): void => {
    if (event.disposition === 'enforce' && event.effectiveDirective === 'worker-src') this.#violation = event;
  };
}
