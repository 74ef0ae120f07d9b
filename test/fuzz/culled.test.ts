import { runInNewContext } from 'node:vm';
import { ListPainter } from '../fixtures/list-painter.js';
import { fuzzCulling } from './culled-suite.js';
import { useRealm } from './hostile.js';

useRealm(runInNewContext('globalThis'));

const { SHARE = '0.002' } = process.env;
fuzzCulling({ share: Number(SHARE), painter: () => new ListPainter() });
