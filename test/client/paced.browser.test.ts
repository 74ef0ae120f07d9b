import { testPaces } from '../suites/pace-suite.js';

testPaces(() => new Promise(requestAnimationFrame));
