import { runInNewContext } from 'node:vm';
import { useRealm } from './hostile.js';
import { fuzzService } from './suite.js';

useRealm(runInNewContext('globalThis'));

// SHARE=1 STEPS=20000 tries all of them.
const { SHARE = '0.02', STEPS = '1000', TALLY } = process.env;
fuzzService({ share: Number(SHARE), steps: Number(STEPS), isLoud: TALLY !== undefined });
