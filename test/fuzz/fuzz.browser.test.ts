import { useRealm } from './hostile.js';
import { fuzzService } from './suite.js';

// Arrays and objects of an iframe have different classes.
const frame = document.body.appendChild(document.createElement('iframe'));
useRealm(frame.contentWindow as unknown as Parameters<typeof useRealm>[0]);

fuzzService({ share: 0.005, steps: 300 });
