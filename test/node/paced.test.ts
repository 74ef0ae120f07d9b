import { testPaces } from '../oracle/pace-suite.js';

testPaces(() => new Promise((resolve) => setTimeout(resolve, 16)));
