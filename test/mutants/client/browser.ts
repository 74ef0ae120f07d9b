// The exports of vitest/browser where there is no browser: tests that need its mouse skip themselves.
export const server = { provider: 'none' };
export const page = {};
export const userEvent = {};
