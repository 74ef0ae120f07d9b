import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';

/** Notices that a geometry's triangles are others than before, by the versions that three keeps. */
export class GeometryVersion {
  #position: unknown = null;
  #positionVersion = 0;
  #index: unknown = null;
  /** These are the vertices' count, the index's version, the draw range, and three numbers for each group. */
  #numbers: number[] = [];

  equals(geometry: BufferGeometry): boolean {
    const { position } = geometry.attributes;
    return (
      this.#position === position && this.#positionVersion === versionOf(position) && this.hasSameTriangles(geometry)
    );
  }

  /** Answers whether nothing but the positions of the vertices can be another. */
  hasSameTriangles(geometry: BufferGeometry): boolean {
    const { attributes, index, drawRange, groups } = geometry;
    const numbers = this.#numbers;
    if (
      numbers.length !== 4 + 3 * groups.length ||
      this.#index !== index ||
      numbers[0] !== (attributes.position?.count ?? 0) ||
      numbers[1] !== (index?.version ?? 0) ||
      numbers[2] !== drawRange.start ||
      numbers[3] !== drawRange.count
    ) {
      return false;
    }
    for (let i = 0; i < groups.length; i++) {
      const { start, count, materialIndex } = groups[i];
      if (numbers[4 + 3 * i] !== start || numbers[5 + 3 * i] !== count || numbers[6 + 3 * i] !== (materialIndex ?? 0)) {
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
    this.#index = index;
    this.#numbers = [position?.count ?? 0, index?.version ?? 0, drawRange.start, drawRange.count];
    for (const { start, count, materialIndex } of groups) this.#numbers.push(start, count, materialIndex ?? 0);
  }
}

/** Answers how often an attribute was changed; 0 where there is none. */
export function versionOf(attribute: BufferAttribute | InterleavedBufferAttribute | undefined): number {
  if (attribute === undefined) return 0;
  return 'isInterleavedBufferAttribute' in attribute ? attribute.data.version : attribute.version;
}
