// Calls that are aborted before the worker begins with them cost it nothing.
import { test } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';
import { abortInLongFrame } from '../suites/aborted.js';

test('a mesh and picks that are aborted in a long frame cost the worker nothing', () =>
  abortInLongFrame(() => new HeldWorker()));
