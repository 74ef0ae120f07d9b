import { Group } from 'three';
import { Forms } from '../forms.js';
import { nextTurn } from '../next-turn.js';
import { addCrankcase, addPropeller } from './crankcase.js';
import { addCylinders } from './cylinder.js';

/**
 * A radial aircraft engine of about 500 named parts, with the propeller along +z. Pistons, rods, valves and the crankshaft are in
 * their real places, inside. It is built step by step, and yields to the page in between.
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
