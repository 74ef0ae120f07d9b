import { testPaces } from '../oracle/pace-suite.js';

testPaces(() => new Promise(requestAnimationFrame));
