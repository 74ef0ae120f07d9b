import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';

const NO_GROUPS: readonly number[] = [];

/** Detects that the triangles of a geometry have changed, by the versions that three keeps. */
export class GeometryVersion {
  #position: unknown = null;
  #positionVersion = 0;
  #vertexCount = 0;
  #index: unknown = null;
  #indexVersion = 0;
  /** The start and the count of the draw range. */
  #drawStart = 0;
  #drawCount = 0;
  /** Three numbers for each group. */
  #groups = NO_GROUPS;

  equals(geometry: BufferGeometry): boolean {
    const { position } = geometry.attributes;
    return (
      this.#position === position && this.#positionVersion === versionOf(position) && this.hasSameTriangles(geometry)
    );
  }

  /** Returns whether at most the positions of the vertices can have changed. */
  hasSameTriangles(geometry: BufferGeometry): boolean {
    const { attributes, index, drawRange, groups } = geometry;
    const knownGroups = this.#groups;
    if (
      knownGroups.length !== 3 * groups.length ||
      this.#index !== index ||
      this.#vertexCount !== (attributes.position?.count ?? 0) ||
      this.#indexVersion !== (index?.version ?? 0) ||
      this.#drawStart !== drawRange.start ||
      this.#drawCount !== drawRange.count
    ) {
      return false;
    }
    for (let i = 0; i < groups.length; i++) {
      const { start, count, materialIndex } = groups[i];
      if (
        knownGroups[3 * i] !== start ||
        knownGroups[3 * i + 1] !== count ||
        knownGroups[3 * i + 2] !== (materialIndex ?? 0)
      ) {
        return false;
      }
    }
    return true;
  }

  copy(geometry: BufferGeometry): void {
    const { attributes, index, drawRange, groups } = geometry;
    const { position } = attributes;
    this.#position = position;
    this.#positionVersion = versionOf(position);
    this.#vertexCount = position?.count ?? 0;
    this.#index = index;
    this.#indexVersion = index?.version ?? 0;
    this.#drawStart = drawRange.start;
    this.#drawCount = drawRange.count;
    const isUngrouped = groups.length === 0;
    this.#groups = isUngrouped
      ? NO_GROUPS
      : groups.flatMap((each) => [each.start, each.count, each.materialIndex ?? 0]);
  }
}

/** Returns how often an attribute was changed; 0 if there is none. */
export function versionOf(attribute: BufferAttribute | InterleavedBufferAttribute | undefined): number {
  if (attribute === undefined) return 0;
  return 'isInterleavedBufferAttribute' in attribute ? attribute.data.version : attribute.version;
}
