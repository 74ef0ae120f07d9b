import type { TestProject } from 'vitest/node';
import { serveDemo } from '../../scripts/demo-page.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    demoUrl: string;
  }
}

/** One build and one server for all tests of the demo's pages. */
export default async function serve(project: TestProject): Promise<() => Promise<void>> {
  const { url, close } = await serveDemo();
  project.provide('demoUrl', url);
  return close;
}
