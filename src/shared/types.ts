// The types of the public API, by topic.

export * from './types/character.js';
export * from './types/contact.js';
export * from './types/frame.js';
export * from './types/ids.js';
export * from './types/inspect.js';
export * from './types/mesh.js';
export * from './types/object.js';
export * from './types/proximity.js';
export * from './types/query.js';
export * from './types/section.js';
export * from './types/service.js';
export * from './types/snap.js';
export * from './types/sweep.js';
export * from './types/view.js';
