import { Group } from 'three';
import { Forms } from '../forms.js';
import { nextTurn } from '../next-turn.js';
import { addCrankcase, addPropeller } from './crankcase.js';
import { addCylinders } from './cylinder.js';

/**
 * A radial aircraft engine of some 500 named parts, the propeller along +z. Pistons, rods, valves and the crankshaft
 * are where they belong: inside. It is made bit by bit; in between the page has its turn.
 */
export async function createRadialEngine(segments: number): Promise<Group> {
  const root = new Group();
  const forms = new Forms(segments);
  for (const _ of addCylinders(root, 9, forms)) await nextTurn();
  addCrankcase(root, forms);
  await nextTurn();
  addPropeller(root, forms);
  root.updateMatrixWorld(true);
  return root;
}
