import type { SceneContact, SceneFrame } from 'collision-worker/three';
import type { Hall } from './hall.js';

/** A query about the contacts of a frame. */
export interface Filter {
  readonly name: string;
  readonly title: string;
  find(frame: SceneFrame): SceneContact[];
}

export function filtersOf({ root, cell, heap }: Hall): readonly Filter[] {
  const { robots, crate } = cell;
  const [a, b, c] = robots.map((robot) => robot.root);
  return [
    { name: 'all', title: 'all', find: (frame) => frame.contactsBetween(root) },
    // #region code
    {
      name: 'robots',
      title: 'robots against each other',
      find: (frame) => [...frame.contactsBetween(a, b), ...frame.contactsBetween(a, c), ...frame.contactsBetween(b, c)],
    },
    {
      name: 'grippers',
      title: 'gripper against the crate',
      find: (frame) => robots.flatMap(({ gripper }) => frame.contactsBetween(gripper, crate)),
    },
    // #endregion
    { name: 'dragons', title: 'dragons', find: (frame) => frame.contactsBetween(heap.dragons) },
  ];
}
