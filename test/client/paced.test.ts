import { testPaces } from '../suites/pace-suite.js';

testPaces(() => new Promise((resolve) => setTimeout(resolve, 16)));
