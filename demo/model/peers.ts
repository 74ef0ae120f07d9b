import { type BufferGeometry, type Camera, type Intersection, Mesh, type Object3D, Raycaster, Vector2 } from 'three';
import { acceleratedRaycast, MeshBVH } from 'three-mesh-bvh';

/** Hits found on the main thread, with the time that they took. */
export interface PeerHit {
  readonly hit: Intersection | null;
  readonly ms: number;
}

/** Picks in the same model with three's Raycaster and three-mesh-bvh, on the main thread. */
export class Peers {
  readonly #root: Object3D;
  readonly #raycaster = new Raycaster();
  readonly #trees = new Map<BufferGeometry, MeshBVH>();
  /** Build time of three-mesh-bvh's trees, in ms. */
  buildMs = 0;

  constructor(root: Object3D) {
    this.#root = root;
    root.traverse((each) => {
      // The tree of a skinned or morphed mesh would have to be refitted in every frame.
      if (!(each instanceof Mesh) || 'skeleton' in each || each.morphTargetInfluences !== undefined) return;
      const geometry = each.geometry as BufferGeometry;
      if (this.#trees.has(geometry) || geometry.attributes.position === undefined) return;
      const start = performance.now();
      this.#trees.set(geometry, new MeshBVH(geometry, { indirect: true }));
      this.buildMs += performance.now() - start;
    });
  }

  raycaster(x: number, y: number, camera: Camera): PeerHit {
    return this.#cast(x, y, camera, false);
  }

  /** Null if there is no tree at all. */
  meshBvh(x: number, y: number, camera: Camera): PeerHit | null {
    if (this.#trees.size === 0) return null;
    const raycast = Mesh.prototype.raycast;
    for (const [geometry, tree] of this.#trees) geometry.boundsTree = tree;
    Mesh.prototype.raycast = acceleratedRaycast;
    try {
      return this.#cast(x, y, camera, true);
    } finally {
      Mesh.prototype.raycast = raycast;
      for (const geometry of this.#trees.keys()) delete geometry.boundsTree;
    }
  }

  /** `x` and `y` from -1 to 1. */
  #cast(x: number, y: number, camera: Camera, firstHitOnly: boolean): PeerHit {
    this.#raycaster.firstHitOnly = firstHitOnly;
    this.#raycaster.setFromCamera(new Vector2(x, y), camera);
    const start = performance.now();
    const hits = this.#raycaster.intersectObject(this.#root);
    const ms = performance.now() - start;
    return { hit: hits.find(({ object }) => isShown(object)) ?? null, ms };
  }
}

/** three's Raycaster also hits objects that are not drawn. */
function isShown(object: Object3D): boolean {
  for (let each: Object3D | null = object; each !== null; each = each.parent) if (!each.visible) return false;
  return true;
}
