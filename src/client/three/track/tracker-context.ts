import type { LOD } from 'three';
import { type ClippingRenderer, ClipSetTable } from './clip-sets.js';
import { MeshTable } from './mesh-table.js';
import { MovedTransforms } from './moved-transforms.js';
import type { CameraFacing, CullableObject, ThinObject, TrackerContext, Updatable } from './stand-in.js';

type SharedParts = Pick<TrackerContext, 'service' | 'meshes' | 'objects' | 'layers' | 'skeletons'>;

/** Lines of moving Meshes that are moved at once when holes are closed: all of 50,000 took 5 ms. */
const MAX_MOVED_LINES = 4096;

/** Returns what all tracked objects of a tracker share, without any object yet. */
export function trackerContext(parts: SharedParts, renderer: ClippingRenderer | undefined): TrackerContext {
  return {
    ...parts,
    moving: new MeshTable(MAX_MOVED_LINES),
    still: new MeshTable(),
    always: new Set<Updatable>(),
    sprites: new Set<CameraFacing>(),
    thin: new Set<ThinObject>(),
    instanced: new Set<CullableObject>(),
    lods: new Set<LOD>(),
    fat: new Set<{ refresh(): void }>(),
    stale: new Set<Updatable>(),
    moved: new MovedTransforms(),
    isInSlice: false,
    clips: new ClipSetTable(renderer),
  };
}
