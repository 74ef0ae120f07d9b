// Removes occluded objects from what a view sees (Hasselgren, Andersson and Akenine-Möller, "Masked Software Occlusion
// Culling", 2016): the objects that are largest on the screen are drawn into a small depth buffer, and the boxes of all
// others are tested against it. Conservative: occluders cover no pixel too many and at no depth too near, tested boxes are
// as large and as near as they may be; no object with a visible pixel is removed.
//
// A lasting answer holds for an eye, and for objects, that move within a margin: occluders are shrunk by it. Each line of
// sight that meets a solid deeper than the margin meets the solid wherever its ends have moved (Wonka, Wimmer and
// Schmalstieg, "Visibility Preprocessing with Occluder Fusion for Urban Walkthroughs", 2000). The camera may turn: only
// objects that are completely in the image are removed then, and the near plane is taken to be as far away as its
// corners.

import { beginTiles } from '../../occlusion/depth-tiles';
import { TREE_COUNT, treeOf } from '../index/octree';
import { hideOccluded } from './occludees';
import { chooseOccluders } from './occluder-candidates';
import { drawOccluders } from './occluders';
import { setOcclusionView } from './occlusion-screen';
import { OcclusionCamera } from './occlusion-camera';
import { View } from './views';

/** Removes occluded objects from what a view sees, as found by `cull`. Throws OUT_OF_MEMORY. */
export function removeOccluded(view: View): void {
  const camera = changetype<OcclusionCamera>(view.camera);
  if (view.words == 0 || !(camera.bias < Infinity)) return;
  beginTiles(camera.width, camera.height, -Infinity);
  setOcclusionView(view);
  chooseOccluders();
  if (drawOccluders() == 0) return;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) hideOccluded(treeOf(treeIndex));
}
