/** Observes a starting worker for what blocks it: browsers report this to the page, but not with the worker's own error. */
export class WorkerStart {
  #blocked: SecurityPolicyViolationEvent | undefined;

  constructor() {
    // Windows have it, and so have workers, which may start workers, too; Node has neither.
    globalThis.addEventListener?.('securitypolicyviolation', this.#see);
  }

  /** Ends the watch: the worker has started, or never will. */
  end(): void {
    globalThis.removeEventListener?.('securitypolicyviolation', this.#see);
  }

  /**
   * Returns why the worker did not start, and what to do about it, after an error with that message; browsers often give
   * none.
   */
  obstacle(message: string | undefined): string {
    if (message && !message.includes('SyntaxError')) return message;
    if (this.#blocked) {
      const script = this.#blocked.blockedURI;
      const allowed = script.startsWith('blob') ? 'blob:' : "'self' for one of the page's origin";
      return `a content security policy forbids its script (${script}): its worker-src must allow it, ${allowed}`;
    }
    const what = message || 'its script could not be loaded, or is none';
    const isolation = globalThis.crossOriginIsolated
      ? ', or has no header Cross-Origin-Embedder-Policy, which it must have for a page that is cross-origin isolated'
      : '';
    return (
      `${what}. See the network panel: the bundler did not emit it where it is missing (404, or HTML in its place; then ` +
      `hand in createWorker, with a copy of dist/worker.js of the package)${isolation}`
    );
  }

  readonly #see = (event: SecurityPolicyViolationEvent): void => {
    if (event.disposition === 'enforce' && event.effectiveDirective === 'worker-src') this.#blocked = event;
  };
}
