import type { PickOptions } from 'collision-worker';

/** A picking method, with its name and colour on the page. */
export interface Method {
  id: string;
  title: string;
  color: number;
  options: PickOptions;
}

// #region code
export const METHODS: readonly Method[] = [
  { id: 'mesh', title: 'ray, mesh', color: 0xffe14d, options: { precision: 'mesh' } },
  { id: 'obb', title: 'ray, oriented box', color: 0x4fd1ff, options: { precision: 'obb' } },
  { id: 'aabb', title: 'ray, box along axes', color: 0xff7ab6, options: { precision: 'aabb' } },
  { id: 'sphere', title: 'ray, sphere', color: 0x8cff9e, options: { precision: 'sphere' } },
  { id: 'screen', title: 'screen distance', color: 0xff9a4a, options: { method: 'screen' } },
];
// #endregion

export const cssColor = (color: number): string => `#${color.toString(16).padStart(6, '0')}`;
