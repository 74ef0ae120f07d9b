// `npm run architecture`: draws docs/architecture.svg from the source: its folders, layered by their imports, and the paths of a
// frame and of a pick through the files. It fails if a path names a file that does not exist, or one that the previous file does
// not lead to.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import config, { LAYERS } from '../.dependency-cruiser.mjs';
import { root } from './run.mjs';

const PICTURE = 'docs/architecture.svg';

/** Files in the order in which a frame and a pick pass through them. `MESSAGE` marks a step that no import connects. */
const MESSAGE = 'a message';
const WAYS = {
  frame: [
    'src/client/service.ts',
    'src/client/transforms/single-writer.ts',
    'src/client/frame/frame-builder.ts',
    'src/client/frame/frame-pump.ts',
    MESSAGE,
    'src/worker/worker.ts',
    'src/worker/inbox.ts',
    'src/worker/service.ts',
    'src/worker/binding/core.ts',
    MESSAGE,
    'src/worker/core/scene/frame/frame.ts',
    'src/worker/core/scene/view/cull.ts',
    'src/worker/core/scene/pairs/broad-phase.ts',
    'src/worker/core/scene/pairs/narrow-phase.ts',
    'src/worker/core/contact/manifold/dispatch.ts',
    'src/worker/core/scene/frame/out-pairs.ts',
    MESSAGE,
    'src/client/frame/frame-result.ts',
  ],
  pick: [
    'src/client/service-queries.ts',
    'src/client/query/queries.ts',
    'src/client/query/pick-ray.ts',
    'src/client/frame/frame-pump.ts',
    MESSAGE,
    'src/worker/worker.ts',
    'src/worker/inbox.ts',
    'src/worker/query-service.ts',
    'src/worker/binding/rays.ts',
    MESSAGE,
    'src/worker/core/scene/query/ray.ts',
    'src/worker/core/scene/query/ray-hit.ts',
    'src/worker/core/mesh/query/ray.ts',
  ],
};

const COLOURS = { frame: '#c2570c', pick: '#1d63c4' };

/** Columns of the picture: a title, and a pattern of their files; the first match counts. */
const COLUMNS = [
  { title: 'Main thread', sub: 'src/client', pattern: /^src\/client\/((?:three\/)?[^/]+)\// },
  { title: 'Worker', sub: 'src/worker', pattern: /^src\/worker\/(?!core\/)([^/]+)\// },
  {
    title: 'Core, compiled to wasm',
    sub: 'src/worker/core',
    pattern: /^src\/worker\/core\/((?:scene|contact|mesh)\/[^/]+|[^/]+)\//,
  },
];

/** Returns the name and the column of a folder's box; files next to folders get a box of their own. */
function boxOf(file) {
  if (file.startsWith('src/shared/')) return { key: 'shared', name: 'src/shared', column: 1 };
  for (const [column, { pattern, sub }] of COLUMNS.entries()) {
    const folder = pattern.exec(file)?.[1];
    if (folder && !folder.endsWith('.ts')) return { key: `${column} ${folder}`, name: folder, column };
    if (dirname(file) === sub) return { key: `${column} .`, name: `${sub}/*.ts`, column };
    if (dirname(file) === `${sub}/three`) return { key: `${column} three`, name: 'three/*.ts', column };
    if (/^src\/worker\/core\/(scene|contact|mesh)$/.test(dirname(file)) && column === 2) {
      const parent = dirname(file).slice(sub.length + 1);
      return { key: `${column} ${parent}`, name: `${parent}/*.ts`, column };
    }
  }
  throw new Error(`architecture: ${file} has no place in the picture`);
}

/** Returns every file of src with the files of src that it imports, except for src/clash, which uses the package as apps do. */
async function importsOf() {
  const { output } = await cruise(['src'], { ...config.options, tsConfig: undefined, includeOnly: '^src/(?!clash/)' });
  return new Map(
    output.modules.map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => resolved)]),
  );
}

/**
 * Checks that each file of a path is imported, directly or indirectly, by a previous file on the same side of a message, or
 * imports it.
 */
function check(imports) {
  for (const [name, way] of Object.entries(WAYS)) {
    let before = [];
    for (const file of way) {
      if (file === MESSAGE) {
        before = [];
        continue;
      }
      if (!imports.has(file)) throw new Error(`architecture: the way of a ${name} names ${file}, which is not there`);
      if (
        before.length > 0 &&
        !before.some((other) => leadsTo(imports, other, file) || leadsTo(imports, file, other))
      ) {
        throw new Error(`architecture: on the way of a ${name}, nothing leads to ${file}`);
      }
      before.push(file);
    }
  }
}

function leadsTo(imports, from, to, seen = new Set()) {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return (imports.get(from) ?? []).some((next) => leadsTo(imports, next, to, seen));
}

/**
 * Returns the level of each box in its column: one more than the highest box that it imports. Folders may import each other,
 * files may not: folders in a cycle are on one level.
 */
function levelsOf(boxes, edges) {
  const below = new Map(
    [...boxes].map(([key, { column }]) => [
      key,
      [...edges.get(key)].filter((other) => boxes.get(other).column === column),
    ]),
  );
  const reached = new Map([...boxes.keys()].map((key) => [key, reachedFrom(below, key)]));
  const levels = new Map();
  const levelOf = (key) => {
    if (!levels.has(key)) {
      const others = [...reached.get(key)].filter((other) => !reached.get(other).has(key));
      levels.set(key, others.length === 0 ? 0 : 1 + Math.max(...others.map(levelOf)));
    }
    return levels.get(key);
  };
  for (const key of boxes.keys()) levelOf(key);
  return levels;
}

function reachedFrom(below, key, seen = new Set()) {
  for (const next of below.get(key)) {
    if (seen.has(next)) continue;
    seen.add(next);
    reachedFrom(below, next, seen);
  }
  return seen;
}

/** Returns the number of a box's layer, as in `npm run lint`; files next to the folders are above these. */
function rankOf({ name, column }) {
  const layers = LAYERS[COLUMNS[column].sub] ?? [];
  const rank = layers.indexOf(name.split('/')[0]);
  return rank < 0 ? layers.length - 1.5 * Number(column === 0) : rank;
}

const WIDTH = 1180;
const COLUMN = 360;
const GAP = 30;
const LEFT = 20;
const TOP = 96;
const LINE = 22;
const FONT = 'ui-sans-serif, system-ui, sans-serif';

function draw(imports) {
  const boxes = new Map();
  const edges = new Map();
  for (const file of imports.keys()) {
    const { key, name, column } = boxOf(file);
    if (!boxes.has(key)) {
      boxes.set(key, { name, column, files: 0, steps: [] });
      edges.set(key, new Set());
    }
    boxes.get(key).files++;
  }
  for (const [file, others] of imports) {
    for (const other of others) {
      const [from, to] = [boxOf(file).key, boxOf(other).key];
      if (from !== to) edges.get(from).add(to);
    }
  }
  for (const [kind, way] of Object.entries(WAYS)) {
    let number = 0;
    for (const file of way) {
      if (file === MESSAGE) continue;
      boxes.get(boxOf(file).key).steps.push({ kind, number: ++number, file: file.slice(file.lastIndexOf('/') + 1) });
    }
  }
  const shared = boxes.get('shared');
  boxes.delete('shared');
  for (const set of edges.values()) set.delete('shared');
  const levels = levelsOf(boxes, edges);

  const parts = [];
  let bottom = 0;
  for (const [column, { title, sub }] of COLUMNS.entries()) {
    const x = LEFT + column * (COLUMN + GAP);
    parts.push(
      text(x, TOP - 30, title, { size: 17, weight: 600 }),
      text(x, TOP - 11, sub, { size: 12, colour: '#667085' }),
    );
    let y = TOP;
    const own = [...boxes].filter(([, box]) => box.column === column);
    own.sort(([a, one], [b, other]) => {
      return rankOf(other) - rankOf(one) || levels.get(b) - levels.get(a) || (a < b ? -1 : 1);
    });
    for (const [, box] of own) {
      const files = filesOf(box);
      const height = 30 + LINE * files.length + (files.length > 0 ? 6 : 0);
      parts.push(rect(x, y, COLUMN, height), text(x + 12, y + 20, box.name, { size: 13, weight: 600 }));
      const count = box.files === 1 ? '1 file' : `${box.files} files`;
      parts.push(text(x + COLUMN - 12, y + 20, count, { size: 11, colour: '#667085', anchor: 'end' }));
      for (const [i, { file, badges }] of files.entries()) {
        const line = y + 40 + LINE * i;
        parts.push(...badges.map((badge, k) => drawBadge(x + 22 + 24 * k, line - 4, badge)));
        parts.push(text(x + 22 + 24 * badges.length, line, file, { size: 12.5 }));
      }
      y += height + 8;
    }
    bottom = Math.max(bottom, y);
  }
  parts.push(rect(LEFT, bottom + 8, WIDTH - 2 * LEFT, 32));
  const what = `${shared.name}: types, the layout of the buffers, the protocol, errors and ids (${shared.files} files), below all three`;
  parts.push(text(LEFT + 12, bottom + 29, what, { size: 12.5 }));
  parts.push(...legend());
  return svg(bottom + 60, parts);
}

/** Returns the files of a box that are on a path, each once. */
function filesOf({ steps }) {
  const files = new Map();
  for (const step of steps) files.set(step.file, [...(files.get(step.file) ?? []), step]);
  return [...files].map(([file, badges]) => ({ file, badges }));
}

function legend() {
  const entries = [
    ['frame', 'the way of a frame: transforms and cameras in, visible sets and contacts out'],
    ['pick', 'the way of a pick: from a pixel to the hit'],
  ];
  return entries.flatMap(([kind, label], i) => {
    const x = LEFT + 12 + 560 * i;
    return [drawBadge(x, 24, { kind, number: 1 }), text(x + 18, 28.5, label, { size: 13 })];
  });
}

function drawBadge(x, y, { kind, number }) {
  return (
    `<circle cx="${x}" cy="${y}" r="9.5" fill="${COLOURS[kind]}"/>` +
    text(x, y + 4, String(number), { size: 11, weight: 600, colour: '#fff', anchor: 'middle' })
  );
}

function rect(x, y, width, height) {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="#f8fafc" stroke="#cbd5e1"/>`;
}

function text(x, y, content, { size, weight = 400, colour = '#111827', anchor = 'start' }) {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${colour}" text-anchor="${anchor}">${safe}</text>`;
}

function svg(height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="${FONT}" role="img">`,
    '<title>The folders of the source, those above importing those below, and the ways of a frame and of a pick</title>',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/** Draws the current source. */
export async function picture() {
  const imports = await importsOf();
  check(imports);
  return draw(imports);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, PICTURE), await picture());
  console.log(`Drawn: ${PICTURE}`);
}
