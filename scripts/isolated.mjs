/** Headers of a cross-origin isolated page: its clock has a resolution of 5 µs instead of 100, and it may share memory. */
export const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
