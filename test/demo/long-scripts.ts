import type { Page } from 'playwright';

interface LongScript {
  duration: number;
  invoker: string;
  sourceFunctionName: string;
}

/** Notes the scripts that keep the main thread longer than 50 ms, by the browser's own account. */
export function noteLongScripts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const found: string[] = [];
    Object.assign(window, { longScripts: found });
    new PerformanceObserver((list) => {
      for (const { scripts = [] } of list.getEntries() as unknown as { scripts?: LongScript[] }[]) {
        for (const { duration, invoker, sourceFunctionName } of scripts) {
          if (duration > 50) found.push(`${Math.round(duration)} ms ${invoker} ${sourceFunctionName}`);
        }
      }
    }).observe({ type: 'long-animation-frame', buffered: true });
  });
}

export const longScripts = (page: Page): Promise<string[]> =>
  page.evaluate(() => (window as { longScripts?: string[] }).longScripts ?? []);
