import { runInNewContext } from 'node:vm';
import { useRealm } from '../fuzz/hostile.js';
import { fuzzTracker } from '../fuzz/three-suite.js';

useRealm(runInNewContext('globalThis'));

const { SHARE = '0.02', TALLY } = process.env;
fuzzTracker({ share: Number(SHARE), isLoud: TALLY !== undefined });
