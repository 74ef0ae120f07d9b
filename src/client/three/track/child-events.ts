import { Object3D } from 'three';

/** Whether three dispatches events when a child is added or removed, as it does from r163 on. */
export const HAS_CHILD_EVENTS = dispatchesChildEvents();

function dispatchesChildEvents(): boolean {
  const parent = new Object3D();
  let isNotified = false;
  parent.addEventListener('childadded', () => {
    isNotified = true;
  });
  parent.add(new Object3D());
  return isNotified;
}
