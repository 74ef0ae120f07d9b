import { Group } from 'three';
import { Forms } from '../forms.js';
import { addCrankcase, addPropeller } from './crankcase.js';
import { addCylinders } from './cylinder.js';

/**
 * A radial aircraft engine of some 500 named parts, the propeller along +z. Pistons, rods, valves and the crankshaft
 * are where they belong: inside.
 */
export function createRadialEngine(segments: number): Group {
  const root = new Group();
  const forms = new Forms(segments);
  addCylinders(root, 9, forms);
  addCrankcase(root, forms);
  addPropeller(root, forms);
  root.updateMatrixWorld(true);
  return root;
}
