// BIM Collaboration Format 2.1 (buildingSMART): a zip with a folder for each topic, here a group of clashes, in which
// markup.bcf describes it and viewpoint.bcfv has a camera for it.

import { strToU8, type Zippable, zipSync } from 'fflate';
import { checkObject, invalid } from '../check.js';
import { NameUuids } from '../name-uuid.js';
import type { Clash, ClashGroup, ClashReport } from '../types.js';

export interface BcfOptions {
  /** When the report was made; the date of all topics. Default the first of January 1980, so that reports can be compared. */
  date?: Date;
  /** The author of the report. Default 'collision-worker'. */
  author?: string;
  /** The up axis of the parts' world. That of BCF is z, and coordinates are rotated to it. Default 'y', as in glTF. */
  up?: 'y' | 'z';
}

const KEYS = ['date', 'author', 'up'];
const VERSION = '<Version VersionId="2.1"><DetailedVersion>2.1</DetailedVersion></Version>\n';
const DEFAULT_DATE = new Date(Date.UTC(1980, 0, 1));
/** BCF 2.1 allows 45 … 60 degrees. */
const FIELD_OF_VIEW = 60;
/** The least distance of the camera from a group, in world units. */
const MIN_EYE_DISTANCE = 2;
/** The most clashes of a topic that its description lists. */
const MAX_LISTED = 20;

/** The directory of a zip counts its files in 16 bits: two for each topic, and one more. */
const MAX_FILES = 0xffff;

type Vec = readonly [number, number, number];

/** The direction from the eye to the centre of a group, in BCF's axes: from the side, and from above. */
const DIRECTION: Vec = normalized([0.6, 0.8, -0.6]);

/**
 * Writes the groups of a report that are not accepted as topics of BCF 2.1, the bytes of a .bcf or .bcfzip file. Of a report
 * that was filtered, a topic lists the clashes that are left, and a group without any has none. Throws INVALID_ARGUMENT for more
 * than 32,767 topics.
 */
export function toBcf({ clashes: allClashes, groups }: ClashReport, options: BcfOptions = {}): Uint8Array {
  const {
    date = DEFAULT_DATE,
    author = 'collision-worker',
    up = 'y',
  } = checkObject<BcfOptions>('options', options, KEYS);
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) invalid('date', date, 'a date');
  if (up !== 'y' && up !== 'z') invalid('up', up, "'y' or 'z'");
  const clashes = new Map(allClashes.map((clash) => [clash.id, clash]));
  const files: Zippable = { 'bcf.version': xml(VERSION) };
  groups.forEach((group, index) => {
    const members = group.clashes.flatMap((id) => clashes.get(id) ?? []);
    if (!members.length || group.status === 'accepted') return;
    files[`${group.id}/markup.bcf`] = xml(markupXml(group, members, index, date, author));
    files[`${group.id}/viewpoint.bcfv`] = xml(viewpointXml(group, members, up));
  });
  if (Object.keys(files).length > MAX_FILES) invalid('report.groups', groups, 'at most 32767');
  // A zip has local times: with these fields the bytes are the same in every time zone.
  return zipSync(files, { mtime: new Date(1980, 0, 1), level: 6 });
}

function xml(element: string): Uint8Array {
  return strToU8(`<?xml version="1.0" encoding="UTF-8"?>\n${element}`);
}

function markupXml(group: ClashGroup, members: readonly Clash[], index: number, date: Date, author: string): string {
  const { id, rule, kind, part, status } = group;
  const title = `${rule}: ${titleOf(part)}${members.length > 1 ? `, ${members.length} clashes` : ` and ${titleOf(otherPart(group, members[0]))}`}`;
  const lines = members.slice(0, MAX_LISTED).map(sentenceOf);
  if (members.length > MAX_LISTED) lines.push(`… and ${members.length - MAX_LISTED} more`);
  return (
    `<Markup>\n  <Topic Guid="${id}" TopicType="Clash" TopicStatus="${status === 'new' ? 'Open' : 'Active'}">\n` +
    `    <Title>${escaped(title)}</Title>\n    <Index>${index}</Index>\n    <Labels>${escaped(kind)}</Labels>\n` +
    `    <CreationDate>${date.toISOString()}</CreationDate>\n    <CreationAuthor>${escaped(author)}</CreationAuthor>\n` +
    `    <Description>${escaped(lines.join('\n'))}</Description>\n  </Topic>\n` +
    `  <Viewpoints Guid="${viewpointId(group)}">\n    <Viewpoint>viewpoint.bcfv</Viewpoint>\n  </Viewpoints>\n</Markup>\n`
  );
}

function otherPart({ part }: ClashGroup, { a, b }: Clash): Clash['a'] {
  return a.id === part.id && a.set === part.set ? b : a;
}

function titleOf({ id, name }: Clash['a']): string {
  return name || id;
}

function sentenceOf({ a, b, depth, distance, kind }: Clash): string {
  const relation =
    kind === 'duplicates' ? 'the same' : `${(depth ?? distance!).toPrecision(4)} ${kind === 'hard' ? 'deep' : 'apart'}`;
  return `${titleOf(a)} (${a.id}) and ${titleOf(b)} (${b.id}): ${relation}`;
}

function viewpointId({ id }: ClashGroup): string {
  return new NameUuids(id).of('viewpoint');
}

function viewpointXml(group: ClashGroup, members: readonly Clash[], up: 'y' | 'z'): string {
  const [x, y, z, x2, y2, z2] = group.bounds;
  const target = toZUp([0.5 * (x + x2), 0.5 * (y + y2), 0.5 * (z + z2)], up);
  const eyeDistance = MIN_EYE_DISTANCE + Math.hypot(x2 - x, y2 - y, z2 - z);
  const eye = target.map((each, axis) => each - eyeDistance * DIRECTION[axis]);
  // The vertical, minus its component along the direction.
  const [u, v, w] = DIRECTION;
  const upVector = normalized([-w * u, -w * v, 1 - w * w]);
  const components = [
    ...new Map(members.flatMap(({ a, b }) => [a, b]).map((part) => [`${part.set}${part.id}`, part])).values(),
  ];
  return (
    `<VisualizationInfo Guid="${viewpointId(group)}">\n  <Components>\n    <Selection>\n` +
    components.map((part) => `      ${componentXml(part)}\n`).join('') +
    `    </Selection>\n    <Visibility DefaultVisibility="true" />\n  </Components>\n  <PerspectiveCamera>\n` +
    `    ${vectorXml('CameraViewPoint', eye)}\n    ${vectorXml('CameraDirection', DIRECTION)}\n` +
    `    ${vectorXml('CameraUpVector', upVector)}\n    <FieldOfView>${FIELD_OF_VIEW}</FieldOfView>\n` +
    `  </PerspectiveCamera>\n</VisualizationInfo>\n`
  );
}

/** Viewers identify components by their IFC GUIDs; other components are given by their ids here. */
function componentXml({ id }: Clash['a']): string {
  if (/^[0-9A-Za-z_$]{22}$/.test(id)) return `<Component IfcGuid="${id}" />`;
  return (
    `<Component><OriginatingSystem>collision-worker</OriginatingSystem>` +
    `<AuthoringToolId>${escaped(id)}</AuthoringToolId></Component>`
  );
}

function vectorXml(name: string, [x, y, z]: readonly number[]): string {
  return `<${name}><X>${x}</X><Y>${y}</Y><Z>${z}</Z></${name}>`;
}

/** Rotates a point to z up. */
function toZUp([x, y, z]: Vec, up: 'y' | 'z'): Vec {
  return up === 'z' ? [x, y, z] : [x, -z, y];
}

function normalized([x, y, z]: Vec): Vec {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}

/** Escapes a text for XML, and removes characters that XML does not allow. */
function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '').replace(/[&<>"]/g, (each) => entities[each]);
}
