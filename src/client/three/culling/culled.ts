/** What was left out of a picture, beside what three itself leaves out. */
export interface Culled {
  /** Meshes of which nothing was drawn, an InstancedMesh as one. */
  readonly objects: number;
  readonly instances: number;
  /** Those of these objects and instances, and what coarser levels of detail have less. */
  readonly triangles: number;
  /** How many of these objects and instances were left out as nearer objects hide them. */
  readonly occluded: number;
}

export const NOTHING_CULLED: Culled = { objects: 0, instances: 0, triangles: 0, occluded: 0 };
