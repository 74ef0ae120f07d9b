import type { MeshData } from 'collision-worker';

/** Further properties of a part, besides its name and its layer. */
export type Properties = Readonly<Record<string, string | number | boolean>>;

/** A part of a model: a mesh in its place. */
export interface Part {
  /** Unique within its set. Clashes are identified by it in the next report: use an id that stays, such as an IFC GUID. */
  id: string;
  name?: string;
  layer?: string;
  properties?: Properties;
  /** Triangles, or the result of `bakeMesh`; no pose moves them. Parts that share a mesh share its tree, too. */
  mesh: MeshData | ArrayBuffer;
  /** 16, column-major, affine and invertible. Default the identity. A part farther than 7e11 from the origin is unread. */
  matrix?: ArrayLike<number>;
}

/** A pattern for a text: `*` stands for any characters, `?` for one. In a list, any may match. Case matters. */
export type Pattern = string | readonly string[];

/** Selects parts that match all the given criteria. An empty selector selects all. */
export interface Selector {
  id?: Pattern;
  name?: Pattern;
  layer?: Pattern;
  /** The value of each property, or a pattern for it as a text. A part without the property is not selected. */
  properties?: Readonly<Record<string, Pattern | number | boolean>>;
  /** Excludes the parts that this selects. */
  not?: Selector;
}

interface AnyRule {
  /** Unique among the rules. Clashes are identified by it in the next report. */
  name: string;
  /** Selects parts of the first set; default all. */
  a?: Selector;
  /** Selects parts of the second set; default all. In one set, either part of a pair may be `a`. */
  b?: Selector;
  /** Pairs with the same value of this property, or the same 'name' or 'layer', are left out. */
  unlessSame?: string;
}

/**
 * Parts that penetrate each other deeper than the tolerance. A closed mesh is solid: a part wholly inside it penetrates it,
 * too. The depth is how far one must be moved until both are apart: the shortest way if both are convex, else that of the
 * deepest region of contact.
 */
export interface HardRule extends AnyRule {
  kind: 'hard';
  /** The depth that is allowed, in world units, at least 0. Default 0.001: a millimetre in metres. */
  tolerance?: number;
}

/** Parts that are nearer to each other than the distance; 0 apart if they meet. */
export interface ClearanceRule extends AnyRule {
  kind: 'clearance';
  /** The distance that is required, in world units, more than 0. */
  distance: number;
}

/**
 * The same geometry twice in the same place: each vertex of one lies within the tolerance of one of the other's, both ways,
 * and their surfaces have the same area, to the tolerance times the edges' length. Meshes need not have the same triangles.
 */
export interface DuplicatesRule extends AnyRule {
  kind: 'duplicates';
  /** The distance within which vertices are the same, in world units, at least 0. Default 0.001. */
  tolerance?: number;
}

export type Rule = HardRule | ClearanceRule | DuplicatesRule;

/** A part as a report names it. All clashes and groups of a part share the object. */
export interface PartName {
  /** 'a' for the first set, 'b' for the second; always 'a' in clashes within one set. */
  set: 'a' | 'b';
  id: string;
  name: string;
  layer: string;
}

/** 'new': not in the earlier report; 'active': in the earlier report; 'accepted': accepted there. */
export type ClashStatus = 'new' | 'active' | 'accepted';

export interface Clash {
  /** A UUID of the rule and the two parts, and nothing else. */
  id: string;
  rule: string;
  kind: Rule['kind'];
  status: ClashStatus;
  /** The id of its group. */
  group: string;
  a: PartName;
  b: PartName;
  /** The point of the clash, world. */
  point: [number, number, number];
  /** How far one part of a hard clash must be moved until both are apart, in world units. */
  depth?: number;
  /** How far the two parts of a clash of clearance are apart, in world units. */
  distance?: number;
  /** The part of a hard clash that lies wholly inside the other. */
  inside?: 'a' | 'b';
}

/** Clashes of a rule at one place with a common part. */
export interface ClashGroup {
  id: string;
  rule: string;
  kind: Rule['kind'];
  /** The part that all of its clashes share. */
  part: PartName;
  /** 'accepted' if all of its clashes are, 'new' if any is new, else 'active'. */
  status: ClashStatus;
  /** The ids of its clashes. */
  clashes: string[];
  /** The bounding box of the points, world: low, then high. */
  bounds: [number, number, number, number, number, number];
}

/** A part, or a part of a pair, that could not be checked. */
export interface Unread {
  set: 'a' | 'b';
  id: string;
  name: string;
  reason: string;
}

export interface ClashReport {
  /** The version of this format. */
  version: 1;
  /** How many parts were checked. */
  parts: { a: number; b: number };
  rules: { name: string; kind: Rule['kind']; clashes: number }[];
  /** Sorted by group; in a group by the parts' ids. */
  clashes: Clash[];
  /** Sorted by the order of the rules, then by the part's id. */
  groups: ClashGroup[];
  unread: Unread[];
  /** Rules that match nothing, and similar problems. */
  warnings: string[];
  /** Ids of clashes of the earlier report that were not found again. */
  resolved: string[];
}

export interface ClashProgress {
  /** 'read': files are read, and trees built; 'clash': tiles are checked. */
  phase: 'read' | 'clash';
  /** The finished fraction of the phase, rising from 0 to 1. */
  fraction: number;
  /** Estimated milliseconds to the end of the phase; null until there is an estimate. */
  left: number | null;
}

export interface ReportOptions {
  /** An earlier report: clashes that were accepted there stay accepted. */
  accepted?: Pick<ClashReport, 'clashes'>;
  /** How near to each other clashes of a group are, in world units. Default 1. */
  groupDistance?: number;
}

export interface ClashOptions extends ReportOptions {
  /** How many services check tiles at the same time. Default 1. */
  workers?: number;
  onProgress?: (progress: ClashProgress) => void;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}
