/** Handle of static triangle data and its OBB tree. Slot and generation: never reused for another mesh. */
export type MeshId = number;

/** Handle of a placed shape. Slot and generation: a stale id is an error, never another object. */
export type ObjectId = number;

export type Vec3 = readonly [number, number, number];
