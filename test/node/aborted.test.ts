// Calls that are aborted before the worker begins with them cost it nothing.
import { test } from 'vitest';
import { abortInLongFrame } from '../oracle/aborted.js';
import { HeldWorker } from './held-worker.js';

test('a mesh and picks that are aborted in a long frame cost the worker nothing', () =>
  abortInLongFrame(() => new HeldWorker()));
