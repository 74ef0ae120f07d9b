// Breaks the lines of minified code, of which Node prints one, whole, above an error that nobody caught.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import remapping from '@jridgewell/remapping';
import MagicString from 'magic-string';
import { parseAst } from 'rolldown/parseAst';

/** Characters; the first boundary after so many ends the line. */
const LINE = 200;

/** Begins a line now and then before a statement of a module or a member of a class, in scripts of a folder. */
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

/** Returns where members of classes and statements of the module begin, in order. */
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
