// The package with a service whose worker needs no file: everything else is that of the index.

export { createCollisionService } from './create.inline.js';
export * from './index.js';
