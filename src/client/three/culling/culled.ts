/** What was left out of a picture, in addition to what three itself leaves out. */
export interface Culled {
  /** Meshes of which nothing was drawn; an InstancedMesh counts as one. */
  readonly objects: number;
  readonly instances: number;
  /** Triangles of these objects and instances, and those that coarser levels of detail save. */
  readonly triangles: number;
  /** How many of these objects and instances were left out because nearer objects hide them. */
  readonly occluded: number;
}

export const NOTHING_CULLED: Culled = { objects: 0, instances: 0, triangles: 0, occluded: 0 };
