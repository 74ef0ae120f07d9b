/**
 * The package's version: a copy of the worker's script that is served from elsewhere must be replaced with each
 * version.
 */
export const VERSION = '0.1.0';
