// Breaks the long lines of minified code: above an uncaught error, Node prints the whole line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import remapping from '@jridgewell/remapping';
import MagicString from 'magic-string';
import { parseAst } from 'rolldown/parseAst';

/** Minimum length in characters; a line ends at the first boundary after it. */
const LINE = 200;

/** In scripts of a folder, inserts line breaks before statements of a module or members of a class. */
export function shortenLines(dir, names) {
  for (const name of names) {
    const [script, map] = [join(dir, name), join(dir, `${name}.map`)];
    const code = readFileSync(script, 'utf8');
    const text = withLines(code);
    writeFileSync(script, text.toString());
    const maps = [text.generateMap({ hires: true }), readFileSync(map, 'utf8')];
    writeFileSync(map, remapping(maps, () => null, { excludeContent: true }).toString());
  }
}

function withLines(code) {
  const text = new MagicString(code);
  let begin = 0;
  for (const at of boundariesOf(parseAst(code))) {
    begin = Math.max(begin, code.lastIndexOf('\n', at) + 1);
    if (at - begin < LINE) continue;
    text.appendLeft(at, '\n');
    begin = at;
  }
  return text;
}

/** Returns the start positions of class members and of module statements, in order. */
function boundariesOf(node) {
  const found = new Set();
  visit(node, (each) => {
    if (each.type === 'Program' || each.type === 'ClassBody') for (const { start } of each.body) found.add(start);
  });
  return [...found].sort((a, b) => a - b);
}

function visit(node, tell) {
  tell(node);
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) if (typeof each?.type === 'string') visit(each, tell);
  }
}
