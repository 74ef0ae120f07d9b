import { testAhead } from '../suites/ahead.js';

testAhead();
