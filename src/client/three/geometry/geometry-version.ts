import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';

const NO_GROUPS: readonly number[] = [];

/** Notices that a geometry's triangles are others than before, by the versions that three keeps. */
export class GeometryVersion {
  #position: unknown = null;
  #positionVersion = 0;
  #count = 0;
  #index: unknown = null;
  #indexVersion = 0;
  /** They are the first and the length of the draw range. */
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

  /** Answers whether nothing but the positions of the vertices can be another. */
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

/** Answers how often an attribute was changed; 0 where there is none. */
export function versionOf(attribute: BufferAttribute | InterleavedBufferAttribute | undefined): number {
  if (attribute === undefined) return 0;
  return 'isInterleavedBufferAttribute' in attribute ? attribute.data.version : attribute.version;
}
