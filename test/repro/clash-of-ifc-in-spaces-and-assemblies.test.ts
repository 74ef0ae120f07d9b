// A rule that chose by storey missed what is part of an assembly, as flights of a stair or panels of a curtain wall are,
// and furniture in a room had the room for its storey. Property sets of a product's type were not read at all.
import { writeFileSync } from 'node:fs';
import type { Part } from 'collision-worker/clash';
import { readModel } from 'collision-worker/clash/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const NAMES = ['wall', 'flight', 'chair', 'loose', 'circular'];
const parts = new Map<string, Part>();

beforeAll(async () => {
  const boxes = NAMES.map((name, i): IfcBox => {
    return { guid: String(i + 1).padStart(22, '1'), type: 'IFCWALL', name, at: [2 * i, 0, 0], size: [1, 1, 1] };
  });
  const text = ifcOf(boxes);
  const lineOf = (pattern: RegExp): string => pattern.exec(text)![1];
  const storey = lineOf(/(#\d+)=IFCBUILDINGSTOREY/);
  const [wall, flight, chair, loose, circular] = NAMES.map((name) => lineOf(RegExp(`(#\\d+)=IFCWALL.*'${name}'`)));
  const aggregate = (whole: string, part: string) => `IFCRELAGGREGATES('${part}',$,$,$,${whole},(${part}))`;
  const value = (name: string, label: string) => `IFCPROPERTYSINGLEVALUE('${name}',$,IFCLABEL('${label}'),$)`;
  const more = [
    "#9001=IFCSTAIR('stair',$,'stair',$,$,$,$,$,.NOTDEFINED.)",
    "#9002=IFCSPACE('space',$,'Room 101',$,$,$,$,$,.ELEMENT.,.INTERNAL.,$)",
    "#9003=IFCBUILDING('building',$,'Building',$,$,$,$,$,.ELEMENT.,$,$,$)",
    `#9004=${aggregate('#9003', storey)}`,
    `#9005=${aggregate(storey, '#9002')}`,
    `#9006=${aggregate('#9001', flight)}`,
    `#9007=${aggregate(circular, circular)}`,
    `#9008=IFCRELCONTAINEDINSPATIALSTRUCTURE('in storey',$,$,$,(${wall},#9001),${storey})`,
    `#9009=IFCRELCONTAINEDINSPATIALSTRUCTURE('in space',$,$,$,(${chair}),#9002)`,
    `#9010=IFCRELCONTAINEDINSPATIALSTRUCTURE('in building',$,$,$,(${loose}),#9003)`,
    `#9011=${value('FireRating', 'EI 30')}`,
    `#9012=${value('Status', 'NEW')}`,
    "#9013=IFCPROPERTYSET('set',$,'Pset_Common',$,(#9011,#9012))",
    "#9014=IFCWALLTYPE('type',$,'Basic wall',$,$,(#9013),$,$,$,.STANDARD.)",
    "#9015=IFCWALLTYPE('bare type',$,'Bare wall',$,$,$,$,$,$,.STANDARD.)",
    `#9016=IFCRELDEFINESBYTYPE('of type',$,$,$,(${wall},${flight}),#9014)`,
    `#9017=IFCRELDEFINESBYTYPE('of bare type',$,$,$,(${chair}),#9015)`,
  ];
  // All of the fixture's boxes are on its storey: here each is where the lines above say.
  const withoutStorey = text.replace(/#\d+=IFCRELCONTAINEDINSPATIALSTRUCTURE.*\n/, '');
  const end = withoutStorey.lastIndexOf('ENDSEC');
  const path = folder.file('storeys.ifc');
  writeFileSync(path, `${withoutStorey.slice(0, end)}${more.join(';\n')};\n${withoutStorey.slice(end)}`);
  for await (const item of readModel(path)) if ('part' in item) parts.set(item.part.name!, item.part);
});

test('a part is on the storey of its assembly, or of its room', () => {
  expect(NAMES.map((name) => [name, parts.get(name)?.properties?.storey])).toEqual([
    ['wall', 'Ground floor'],
    ['flight', 'Ground floor'],
    ['chair', 'Ground floor'],
    ['loose', undefined],
    ['circular', undefined],
  ]);
});

test("a part has the property sets of its type, and its own values in place of the type's", () => {
  expect(parts.get('wall')!.properties).toMatchObject({
    'Pset_Common.FireRating': 'EI 90',
    'Pset_Common.Status': 'NEW',
  });
  expect(parts.get('flight')!.properties).toMatchObject({ 'Pset_Common.Status': 'NEW' });
  expect(parts.get('chair')!.properties).toMatchObject({ 'Pset_Common.FireRating': 'EI 90' });
  expect(parts.get('loose')!.properties).not.toHaveProperty('Pset_Common.Status');
});
