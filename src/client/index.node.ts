// The package in Node, by its `exports`: everything of the index, with a service whose worker is a thread.

export { createCollisionService } from './create.node.js';
export * from './index.js';
