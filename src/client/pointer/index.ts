export { type ForwardPointerOptions, forwardPointerEvents } from './forward.js';
