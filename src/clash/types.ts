import type { MeshData } from 'collision-worker';

/** What a part may be known by, beside its name and its layer. */
export type Properties = Readonly<Record<string, string | number | boolean>>;

/** A part of a model: a mesh in its place. */
export interface Part {
  /** Unique within its set. Clashes are known by it again in the next report: take what stays, as an IFC GUID. */
  id: string;
  name?: string;
  layer?: string;
  properties?: Properties;
  /** Triangles, or what `bakeMesh` made of them; no pose moves them. Parts that share one share its tree, too. */
  mesh: MeshData | ArrayBuffer;
  /** 16, column-major, affine and invertible. Default the identity. A part farther than 7e11 from the origin is unread. */
  matrix?: ArrayLike<number>;
}

/** What a text must be: `*` stands for any characters, `?` for one. Of a list, any does. Capitals matter. */
export type Pattern = string | readonly string[];

/** Chooses parts: those for which all that is given holds. An empty one chooses all. */
export interface Selector {
  id?: Pattern;
  name?: Pattern;
  layer?: Pattern;
  /** Says each property's value, or a pattern for it as a text. A part without the property is not chosen. */
  properties?: Readonly<Record<string, Pattern | number | boolean>>;
  /** Chooses none of those that it chooses. */
  not?: Selector;
}

interface AnyRule {
  /** Unique among the rules. Clashes are known by it again in the next report. */
  name: string;
  /** Which parts of the first set; default all. */
  a?: Selector;
  /** Which parts of the second set; default all. In one set, either part of a pair may be `a`. */
  b?: Selector;
  /** Pairs with the same value of this property, or the same 'name' or 'layer', are left out. */
  unlessSame?: string;
}

/**
 * Parts that penetrate each other deeper than the tolerance. A closed mesh is solid: what lies wholly inside penetrates,
 * too. The depth is how far one must move until both are apart: the least way where both are convex, else that of the
 * deepest region of contact.
 */
export interface HardRule extends AnyRule {
  kind: 'hard';
  /** In world units, at least 0. Default 0.001: a millimetre in metres. */
  tolerance?: number;
}

/** Parts that are nearer to each other than the distance; 0 apart where they meet. */
export interface ClearanceRule extends AnyRule {
  kind: 'clearance';
  /** In world units, more than 0. */
  distance: number;
}

/**
 * The same geometry twice in the same place: each vertex of one lies within the tolerance of one of the other's, both ways,
 * and their surfaces have the same area, to the tolerance times the edges' length. Meshes need not have the same triangles.
 */
export interface DuplicatesRule extends AnyRule {
  kind: 'duplicates';
  /** In world units, at least 0. Default 0.001. */
  tolerance?: number;
}

export type Rule = HardRule | ClearanceRule | DuplicatesRule;

/** A part as a report names it. All clashes and groups of a part share the object. */
export interface PartName {
  /** Of the first set or the second; of clashes in one set always 'a'. */
  set: 'a' | 'b';
  id: string;
  name: string;
  layer: string;
}

/** 'new': in no earlier report; 'active': in the earlier one; 'accepted': accepted there. */
export type ClashStatus = 'new' | 'active' | 'accepted';

export interface Clash {
  /** A UUID of the rule and the two parts, whatever else there is. */
  id: string;
  rule: string;
  kind: Rule['kind'];
  status: ClashStatus;
  /** The id of the group that it is in. */
  group: string;
  a: PartName;
  b: PartName;
  /** Where it is, world. */
  point: [number, number, number];
  /** Of hard clashes: how far one must move to be apart, in world units. */
  depth?: number;
  /** Of clearance: how far the two are apart, in world units. */
  distance?: number;
  /** Of hard clashes, the one that lies wholly inside of the other. */
  inside?: 'a' | 'b';
}

/** Clashes of a rule at one place with a part in common. */
export interface ClashGroup {
  id: string;
  rule: string;
  kind: Rule['kind'];
  /** The part that all of its clashes have. */
  part: PartName;
  /** 'accepted' if all of its clashes are, 'new' if one is, else 'active'. */
  status: ClashStatus;
  /** The ids of its clashes. */
  clashes: string[];
  /** A box about the points, world: low, then high. */
  bounds: [number, number, number, number, number, number];
}

/** A part, or a pair of parts, that could not be looked at. */
export interface Unread {
  set: 'a' | 'b';
  id: string;
  name: string;
  reason: string;
}

export interface ClashReport {
  /** Of this format. */
  version: 1;
  /** How many parts were looked at. */
  parts: { a: number; b: number };
  rules: { name: string; kind: Rule['kind']; clashes: number }[];
  /** By group; in a group by the parts' ids. */
  clashes: Clash[];
  /** In the order of the rules, then by the part's id. */
  groups: ClashGroup[];
  unread: Unread[];
  /** Rules that match nothing, and the like. */
  warnings: string[];
  /** Ids of clashes of the earlier report that are no more. */
  resolved: string[];
}

export interface ClashProgress {
  /** 'read': files are read, and trees built; 'clash': tiles are looked at. */
  phase: 'read' | 'clash';
  /** The done part of the phase, rising from 0 to 1. */
  fraction: number;
  /** Milliseconds to the end of the phase, as far as one can say; null until one can. */
  left: number | null;
}

export interface ReportOptions {
  /** An earlier report: what was accepted there stays accepted. */
  accepted?: Pick<ClashReport, 'clashes'>;
  /** How near to each other clashes of a group are, in world units. Default 1. */
  groupDistance?: number;
}

export interface ClashOptions extends ReportOptions {
  /** How many services look at tiles at the same time. Default 1. */
  workers?: number;
  onProgress?: (progress: ClashProgress) => void;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}
