// docs/ cannot rot: its diagram is that of the source, and everything that its text names exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import GithubSlugger from 'github-slugger';
import { describe, expect, test } from 'vitest';
import { picture } from '../../scripts/architecture.mjs';
import { root } from '../../scripts/run.mjs';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('the picture of the architecture is that of the source (npm run architecture)', async () => {
  expect(read('docs/architecture.svg')).toBe(await picture());
});

const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

test.each(['README.md', 'CHANGELOG.md', ...pages.map((name) => `docs/${name}`)])(
  '%s leads to pages, pictures and headings that are there',
  (path) => {
    const text = withoutBlocks(read(path)).replace(/`[^`\n]*`/g, '``');
    const links = [...text.matchAll(/\]\((?!https?:)([^)]+)\)|^ +(?:link|src): (.+)$/gm)].map(
      ([, inText, inHead]) => inText ?? inHead,
    );
    expect(links.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
  },
);

function leadsSomewhere(from: string, link: string): boolean {
  const [path, heading] = link.replace(/^\//, './').split('#');
  const file = path === '' ? from : join(dirname(from), path);
  // The site has the pages of docs/ and no others; pictures are copied to it.
  if (from.startsWith('docs/') && file.endsWith('.md') && !file.startsWith('docs/')) return false;
  // Links in the front matter of the site's first page are those of the site, whose API is generated.
  const page = file.startsWith('docs/api') ? 'docs/developing.md' : existsSync(join(root, file)) ? file : `${file}.md`;
  if (!existsSync(join(root, page))) return false;
  return heading === undefined || headingsOf(read(page)).includes(heading);
}

/** The anchors of headings, as GitHub and the site generate them. */
function headingsOf(text: string): string[] {
  const slugger = new GithubSlugger();
  return [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slugger.slug(heading));
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

describe.each(pages)('docs/%s', (name) => {
  const text = read(`docs/${name}`);

  test('names files and folders that are there', () => {
    const named = [...text.matchAll(/`((?:client|worker|core|shared|src|test|demo|scripts)\/[\w./-]*)`/g)];
    const paths = named.map(([, path]) => path);
    if (name === 'architecture.md') expect(paths.length).toBeGreaterThan(0);
    const places = (path: string) => [path, `src/${path}`, `src/worker/${path}`].map((each) => join(root, each));
    expect(paths.filter((path) => !places(path).some(existsSync))).toEqual([]);
  });

  test('shows files that are there', () => {
    const shown = [...text.matchAll(/^<<< (.+)$/gm)].map(([, path]) => path);
    if (name === 'examples.md') expect(shown.length).toBeGreaterThan(8);
    expect(shown.filter((path) => !existsSync(join(root, 'docs', path)))).toEqual([]);
  });

  test('names commands that there are', () => {
    const commands = [...text.matchAll(/`npm run (\w[\w:]*)/g)].map(([, command]) => command);
    expect(commands.filter((command) => !(command in manifest.scripts))).toEqual([]);
  });
});

test('docs/troubles.md and docs/start-up.md quote messages that there are', () => {
  const files = ['src/client', 'src/worker', 'src/shared'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith(`core${sep}`))
      .map((path) => read(join(folder, path))),
  );
  // Values are filled in, and long messages are concatenated from pieces.
  const source = files.join('\n').replace(/['"`] \+\s*['"`]/g, '');
  const quoted = ['troubles', 'start-up'].flatMap((name) => {
    const rows = read(`docs/${name}.md`).matchAll(/^\| (\*.+?\*) \|/gm);
    return [...rows].flatMap(([, cell]) => [...cell.matchAll(/\*([^*]+)\*/g)].map(([, message]) => message));
  });
  expect(quoted.length).toBeGreaterThan(40);
  // Some words come from a value or from the beginning of another message.
  const filledIn = /…|(?<![\w-])(?:is|expected|options|a Float32Array|the worker|of version)(?![\w-])/;
  const isThere = (message: string): boolean =>
    message
      .split(filledIn)
      .map((piece) => piece.replace(/^[\s.,:)\]]+|[\s.,:([]+$/g, ''))
      .every((piece) => source.includes(piece));
  expect(quoted.filter((message) => !isThere(message))).toEqual([]);
});
