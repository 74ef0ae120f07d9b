import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';
import { grown } from '../../../shared/typed-arrays.js';

/** An owner of a row of the table. */
export interface GeometryOwner {
  readonly geometry: BufferGeometry;
  /** The number of its row, -1 for none. Only the table writes it. */
  line: number;
}

/** Numbers per row: the version and the count of the positions, the version of the index, and the draw range. */
const NUMBERS = 5;

/**
 * The state of geometries at their last check, one row each. They are checked in every frame, twenty thousand of them in some
 * scenes, and are far apart in memory: the values to compare with are contiguous here. A geometry with groups or interleaved
 * positions is always reported as changed: that is rare, and the caller compares it.
 */
export class GeometryTable<T extends GeometryOwner> {
  readonly #owners: T[] = [];
  readonly #positions: (BufferAttribute | InterleavedBufferAttribute | undefined)[] = [];
  readonly #indices: (BufferAttribute | null)[] = [];
  /** The first number of a row is NaN if the state of its geometry is unknown. */
  #numbers = new Float64Array(64 * NUMBERS);

  /** Adds a geometry, whose state is unknown until `note`; a geometry that is already in the table stays as it is. */
  add(owner: T): void {
    if (owner.line >= 0) return;
    owner.line = this.#owners.push(owner) - 1;
    this.#positions.push(undefined);
    this.#indices.push(null);
    if (NUMBERS * this.#owners.length > this.#numbers.length) this.#numbers = grown(this.#numbers);
    this.forget(owner);
  }

  remove(owner: T): void {
    const { line } = owner;
    if (line < 0) return;
    const end = this.#owners.length - 1;
    const last = this.#owners[end];
    this.#owners[line] = last;
    this.#positions[line] = this.#positions[end];
    this.#indices[line] = this.#indices[end];
    this.#numbers.copyWithin(NUMBERS * line, NUMBERS * end, NUMBERS * (end + 1));
    last.line = line;
    owner.line = -1;
    this.#owners.length = this.#positions.length = this.#indices.length = end;
  }

  /** Notes the current state of a geometry. */
  note(owner: T): void {
    const { geometry, line } = owner;
    if (line < 0) return;
    const { attributes, index, drawRange, groups } = geometry;
    const { position } = attributes;
    if (position === undefined || 'isInterleavedBufferAttribute' in position || groups.length > 0) return;
    this.#positions[line] = position;
    this.#indices[line] = index;
    const numbers = this.#numbers;
    numbers[NUMBERS * line] = position.version;
    numbers[NUMBERS * line + 1] = position.count;
    numbers[NUMBERS * line + 2] = index?.version ?? 0;
    numbers[NUMBERS * line + 3] = drawRange.start;
    numbers[NUMBERS * line + 4] = drawRange.count;
  }

  /** Forgets the state of a geometry. */
  forget({ line }: T): void {
    if (line >= 0) this.#numbers[NUMBERS * line] = Number.NaN;
  }

  /** Calls `visit` for the geometries whose state is unknown or differs from the noted one. */
  forEachOther(visit: (owner: T) => void): void {
    const owners = this.#owners;
    for (let i = 0; i < owners.length; i++) {
      let isSame = false;
      try {
        isSame = this.#isAsNoted(i);
      } catch {} // `visit` finds out what is wrong
      if (!isSame) visit(owners[i]);
    }
  }

  #isAsNoted(line: number): boolean {
    const numbers = this.#numbers;
    const at = NUMBERS * line;
    const version = numbers[at];
    if (Number.isNaN(version)) return false;
    const { geometry } = this.#owners[line];
    const position = this.#positions[line] as BufferAttribute;
    const index = this.#indices[line];
    if (position.version !== version || position.count !== numbers[at + 1]) return false;
    if (index !== null && index.version !== numbers[at + 2]) return false;
    const { attributes, drawRange, groups } = geometry;
    return (
      geometry.index === index &&
      attributes.position === position &&
      drawRange.start === numbers[at + 3] &&
      drawRange.count === numbers[at + 4] &&
      groups.length === 0
    );
  }
}
