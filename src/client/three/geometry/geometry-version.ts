import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';

const NO_GROUPS: readonly number[] = [];

/** Detects that the triangles of a geometry have changed, by the versions that three keeps. */
export class GeometryVersion {
  #position: unknown = null;
  #positionVersion = 0;
  #count = 0;
  #index: unknown = null;
  #indexVersion = 0;
  /** The start and the count of the draw range. */
  #first = 0;
  #length = 0;
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
    const noted = this.#groups;
    if (
      noted.length !== 3 * groups.length ||
      this.#index !== index ||
      this.#count !== (attributes.position?.count ?? 0) ||
      this.#indexVersion !== (index?.version ?? 0) ||
      this.#first !== drawRange.start ||
      this.#length !== drawRange.count
    ) {
      return false;
    }
    for (let i = 0; i < groups.length; i++) {
      const { start, count, materialIndex } = groups[i];
      if (noted[3 * i] !== start || noted[3 * i + 1] !== count || noted[3 * i + 2] !== (materialIndex ?? 0)) {
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
    this.#count = position?.count ?? 0;
    this.#index = index;
    this.#indexVersion = index?.version ?? 0;
    this.#first = drawRange.start;
    this.#length = drawRange.count;
    const isPlain = groups.length === 0;
    this.#groups = isPlain ? NO_GROUPS : groups.flatMap((each) => [each.start, each.count, each.materialIndex ?? 0]);
  }
}

/** Returns how often an attribute was changed; 0 if there is none. */
export function versionOf(attribute: BufferAttribute | InterleavedBufferAttribute | undefined): number {
  if (attribute === undefined) return 0;
  return 'isInterleavedBufferAttribute' in attribute ? attribute.data.version : attribute.version;
}
