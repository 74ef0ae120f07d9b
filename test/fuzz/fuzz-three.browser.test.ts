import { useRealm } from './hostile.js';
import { fuzzTracker } from './three-suite.js';

const frame = document.body.appendChild(document.createElement('iframe'));
useRealm(frame.contentWindow as unknown as Parameters<typeof useRealm>[0]);

fuzzTracker({ share: 0.005 });
