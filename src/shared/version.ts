/**
 * The package's version: whoever copies the worker's script to a place of their own must do so again for another
 * version.
 */
export const VERSION = '0.1.0';
