import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';
import { grown } from '../../../shared/typed-arrays.js';

/** An owner of a row of the table. */
export interface GeometryOwner {
  readonly geometry: BufferGeometry;
  /** The number of its row, -1 for none. Only the table writes it. */
  line: number;
}

/** Numbers per row: the version and the count of the positions, the version of the index, and the draw range. */
const ROW_LENGTH = 5;

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
  #rows = new Float64Array(64 * ROW_LENGTH);

  /** Adds a geometry, whose state is unknown until `note`; a geometry that is already in the table stays as it is. */
  add(owner: T): void {
    if (owner.line >= 0) return;
    owner.line = this.#owners.push(owner) - 1;
    this.#positions.push(undefined);
    this.#indices.push(null);
    if (ROW_LENGTH * this.#owners.length > this.#rows.length) this.#rows = grown(this.#rows);
    this.forget(owner);
  }

  remove(owner: T): void {
    const { line } = owner;
    if (line < 0) return;
    const lastLine = this.#owners.length - 1;
    const last = this.#owners[lastLine];
    this.#owners[line] = last;
    this.#positions[line] = this.#positions[lastLine];
    this.#indices[line] = this.#indices[lastLine];
    this.#rows.copyWithin(ROW_LENGTH * line, ROW_LENGTH * lastLine, ROW_LENGTH * (lastLine + 1));
    last.line = line;
    owner.line = -1;
    this.#owners.length = this.#positions.length = this.#indices.length = lastLine;
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
    const rows = this.#rows;
    rows[ROW_LENGTH * line] = position.version;
    rows[ROW_LENGTH * line + 1] = position.count;
    rows[ROW_LENGTH * line + 2] = index?.version ?? 0;
    rows[ROW_LENGTH * line + 3] = drawRange.start;
    rows[ROW_LENGTH * line + 4] = drawRange.count;
  }

  /** Forgets the state of a geometry. */
  forget({ line }: T): void {
    if (line >= 0) this.#rows[ROW_LENGTH * line] = Number.NaN;
  }

  /** Calls `visit` for the geometries whose state is unknown or differs from the noted one. */
  forEachOther(visit: (owner: T) => void): void {
    const owners = this.#owners;
    for (let i = 0; i < owners.length; i++) {
      let isSame = false;
      try {
        isSame = this.#isUnchanged(i);
      } catch {} // `visit` finds out what is wrong
      if (!isSame) visit(owners[i]);
    }
  }

  #isUnchanged(line: number): boolean {
    const rows = this.#rows;
    const at = ROW_LENGTH * line;
    const version = rows[at];
    if (Number.isNaN(version)) return false;
    const { geometry } = this.#owners[line];
    const position = this.#positions[line] as BufferAttribute;
    const index = this.#indices[line];
    if (position.version !== version || position.count !== rows[at + 1]) return false;
    if (index !== null && index.version !== rows[at + 2]) return false;
    const { attributes, drawRange, groups } = geometry;
    return (
      geometry.index === index &&
      attributes.position === position &&
      drawRange.start === rows[at + 3] &&
      drawRange.count === rows[at + 4] &&
      groups.length === 0
    );
  }
}
