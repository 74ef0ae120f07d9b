// What vitest/browser exports, where there is no browser: tests that want its mouse leave themselves out.
export const server = { provider: 'none' };
export const page = {};
export const userEvent = {};
