import { test } from 'vitest';
import { abortInLongFrame } from '../suites/aborted.js';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url).href;

test('a mesh and picks that are aborted in a long frame cost the worker nothing', () =>
  abortInLongFrame(() => new Worker(SCRIPT, { type: 'module' })));
