import { runInNewContext } from 'node:vm';
import { useRealm } from './hostile.js';
import { fuzzTracker } from './three-suite.js';

useRealm(runInNewContext('globalThis'));

const { SHARE = '0.02', TALLY } = process.env;
fuzzTracker({ share: Number(SHARE), isLoud: TALLY !== undefined });
