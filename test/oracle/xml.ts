// A small strict parser of XML 1.0 without namespaces, doctypes, comments and CDATA: input that is not well-formed throws.

export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  /** Its own text, without that of its children. */
  text: string;
}

const NAME = '[A-Za-z_][\\w.-]*';
const TOKEN = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|([^<]+)`, 'y');
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function readXml(text: string): XmlElement {
  const declaration = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(text);
  if (!declaration) throw new Error('there is no declaration of XML in UTF-8');
  const openElements: XmlElement[] = [{ name: '', attributes: {}, children: [], text: '' }];
  TOKEN.lastIndex = declaration[0].length;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`it is not well-formed at ${JSON.stringify(text.slice(start, start + 40))}`);
    const [, isEnd, name, attributes, isEmpty, characters] = match;
    const parent = openElements.at(-1)!;
    if (characters !== undefined) parent.text += resolveEntities(characters);
    else if (isEnd) {
      if (parent.name !== name) throw new Error(`</${name}> ends <${parent.name}>`);
      openElements.pop();
    } else {
      const element: XmlElement = { name, attributes: {}, children: [], text: '' };
      for (const [, key, value] of attributes.matchAll(new RegExp(`(${NAME})="([^"]*)"`, 'g'))) {
        if (key in element.attributes) throw new Error(`<${name}> has ${key} twice`);
        element.attributes[key] = resolveEntities(value);
      }
      parent.children.push(element);
      if (!isEmpty) openElements.push(element);
    }
  }
  const [{ children, text: outside }] = openElements;
  if (openElements.length > 1) throw new Error(`<${openElements.at(-1)!.name}> has no end`);
  if (children.length !== 1 || outside.trim() !== '') throw new Error('there is not one root alone');
  return children[0];
}

function resolveEntities(text: string): string {
  // The characters that XML 1.0 forbids.
  const illegal = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (illegal) throw new Error(`the character ${JSON.stringify(illegal[0])} is none of XML`);
  return text.replace(/&([^;]*);?/g, (match, entity) => {
    if (!match.endsWith(';') || !Object.hasOwn(ENTITIES, entity)) throw new Error(`${match} is no entity`);
    return ENTITIES[entity];
  });
}
