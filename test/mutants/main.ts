export { mutateClient } from './client/main.js';
export { mutateCore } from './core/main.js';
