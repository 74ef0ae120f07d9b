// The rules of BCF 2.1 (buildingSMART) for a file, from its schemas markup.xsd, visinfo.xsd and version.xsd and its
// documentation: the files and their paths, the order of elements, attributes, and the formats of values.

import { strFromU8, unzipSync } from 'fflate';
import { readXml, type XmlElement } from './xml.js';

type TextRule = (text: string) => boolean;

interface ElementRule {
  /** Names in order; the suffix ? means optional, * any number, + at least one. */
  children?: readonly string[];
  /** The suffix ? means that the attribute is optional. */
  attributes?: Record<string, TextRule>;
  text?: TextRule;
}

const isAnyText: TextRule = () => true;
const oneOf =
  (...texts: string[]): TextRule =>
  (text) =>
    texts.includes(text);
const matching =
  (pattern: RegExp): TextRule =>
  (text) =>
    pattern.test(text);
const guid = matching(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}$/);
const ifcGuid = matching(/^[0-9A-Za-z_$]{22}$/);
const integer = matching(/^[+-]?\d{1,10}$/);
const double = matching(/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/);
const dateTime = matching(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/);
const boolean = oneOf('true', 'false', '1', '0');

const vector: ElementRule = { children: ['X', 'Y', 'Z'] };

const RULES: Record<string, ElementRule> = {
  Version: { children: ['DetailedVersion?'], attributes: { VersionId: oneOf('2.1') } },
  DetailedVersion: { text: isAnyText },
  Markup: { children: ['Topic', 'Viewpoints*'] },
  Topic: {
    children: ['Title', 'Priority?', 'Index?', 'Labels*', 'CreationDate', 'CreationAuthor', 'Description?'],
    attributes: { Guid: guid, 'TopicType?': isAnyText, 'TopicStatus?': isAnyText },
  },
  Title: { text: (text) => text !== '' },
  Priority: { text: isAnyText },
  Index: { text: integer },
  Labels: { text: isAnyText },
  CreationDate: { text: dateTime },
  CreationAuthor: { text: (text) => text !== '' },
  Description: { text: isAnyText },
  Viewpoints: { children: ['Viewpoint?', 'Snapshot?', 'Index?'], attributes: { Guid: guid } },
  Viewpoint: { text: matching(/\.bcfv$/) },
  VisualizationInfo: { children: ['Components?', 'PerspectiveCamera?'], attributes: { Guid: guid } },
  Components: { children: ['ViewSetupHints?', 'Selection?', 'Visibility', 'Coloring?'] },
  Selection: { children: ['Component+'] },
  Visibility: { attributes: { 'DefaultVisibility?': boolean } },
  Component: { children: ['OriginatingSystem?', 'AuthoringToolId?'], attributes: { 'IfcGuid?': ifcGuid } },
  OriginatingSystem: { text: isAnyText },
  AuthoringToolId: { text: isAnyText },
  PerspectiveCamera: { children: ['CameraViewPoint', 'CameraDirection', 'CameraUpVector', 'FieldOfView'] },
  CameraViewPoint: vector,
  CameraDirection: vector,
  CameraUpVector: vector,
  X: { text: double },
  Y: { text: double },
  Z: { text: double },
  FieldOfView: { text: (text) => double(text) && Number(text) >= 45 && Number(text) <= 60 },
};

/** Returns the violations in the bytes of a BCF file, one sentence each; empty if there are none. */
export function bcfFaults(bytes: Uint8Array): string[] {
  return bcfFaultsOf(
    Object.fromEntries(Object.entries(unzipSync(bytes)).map(([path, file]) => [path, strFromU8(file)])),
  );
}

/** Does the same for its files, by path. */
export function bcfFaultsOf(files: Readonly<Record<string, string>>): string[] {
  const faults: string[] = [];
  const readRoot = (path: string, root: string): XmlElement | null => {
    if (!(path in files)) {
      faults.push(`${path} is missing`);
      return null;
    }
    try {
      const element = readXml(files[path]);
      if (element.name !== root) faults.push(`${path} has the root ${element.name}, expected ${root}`);
      checkElement(element, `${path}: ${element.name}`, faults);
      return element;
    } catch (error) {
      faults.push(`${path}: ${(error as Error).message}`);
      return null;
    }
  };
  readRoot('bcf.version', 'Version');
  const expected = new Set(['bcf.version']);
  const topics = new Set(Object.keys(files).flatMap((path) => (path.includes('/') ? [path.split('/')[0]] : [])));
  for (const topic of topics) {
    expected.add(`${topic}/markup.bcf`);
    const markup = readRoot(`${topic}/markup.bcf`, 'Markup');
    for (const { name, attributes, children } of markup?.children ?? []) {
      if (name === 'Topic' && attributes.Guid !== topic)
        faults.push(`the folder ${topic} has the topic ${attributes.Guid}`);
      if (name !== 'Viewpoints') continue;
      const path = `${topic}/${children.find((child) => child.name === 'Viewpoint')?.text}`;
      expected.add(path);
      const view = readRoot(path, 'VisualizationInfo');
      if (view && view.attributes.Guid !== attributes.Guid)
        faults.push(`${path} has another Guid than its markup says`);
    }
  }
  for (const path of Object.keys(files)) if (!expected.has(path)) faults.push(`${path} is of no use`);
  return faults;
}

function checkElement({ name, attributes, children, text }: XmlElement, path: string, faults: string[]): void {
  const rule = RULES[name];
  if (!rule) {
    faults.push(`${path} is unknown`);
    return;
  }
  for (const [key, isValid] of Object.entries(rule.attributes ?? {})) {
    const value = attributes[key.replace('?', '')];
    if (value === undefined ? !key.endsWith('?') : !isValid(value)) faults.push(`${path} has ${key} ${value}`);
  }
  for (const key of Object.keys(attributes)) {
    if (!rule.attributes || !(key in rule.attributes || `${key}?` in rule.attributes))
      faults.push(`${path} has the unknown ${key}`);
  }
  const pattern = (rule.children ?? []).map((child) => child.replace(/^(\w+)(.?)$/, '(?:$1 )$2')).join('');
  const childNames = children.map((child) => `${child.name} `).join('');
  if (!new RegExp(`^${pattern}$`).test(childNames))
    faults.push(`${path} has the children ${childNames}, expected ${rule.children}`);
  if (rule.text ? !rule.text(text) : text.trim() !== '') faults.push(`${path} has the text ${JSON.stringify(text)}`);
  for (const child of children) checkElement(child, `${path}/${child.name}`, faults);
}
