// Vite plugin: pages show the relevant lines of their own source. `<section id="code" data-files="a.ts b.ts">` is filled with the
// lines between `// #region code` and `// #endregion` in these files, so that the code shown is always the code that runs. Whole
// files are served as `source/a.ts.txt`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHighlighter } from 'shiki';

const SECTION = /<section id="code" data-files="([^"]*)"><\/section>/;
const REGION = /^ *\/\/ #region code\n(.*?)^ *\/\/ #endregion$/gms;
const THEMES = { light: 'github-light', dark: 'github-dark' };

/** Returns the shown lines of a file without their common indentation; an empty line separates regions. */
export function shownCode(text) {
  return [...text.matchAll(REGION)].map(([, region]) => dedent(region)).join('\n\n');
}

/** `root` is the folder of the pages, and `name` its name in links. */
export function shownCodeOfPages(root, name) {
  const files = new Set();
  let highlighter;

  async function figure(file) {
    files.add(file);
    const code = shownCode(readFileSync(join(root, file), 'utf8'));
    if (code === '') throw new Error(`${file} has no "// #region code"`);
    highlighter ??= createHighlighter({ langs: ['tsx'], themes: Object.values(THEMES) });
    // The colours of both themes are CSS variables, from which style.css selects.
    const html = (await highlighter).codeToHtml(code, { lang: 'tsx', themes: THEMES, defaultColor: false });
    const lines = code.split('\n').filter((line) => line.trim() !== '').length;
    const link = `<a href="./source/${file}.txt" target="_blank">${name}/${file}</a>`;
    return { lines, html: `<figure><figcaption>${link}</figcaption>${html}</figure>` };
  }

  async function section(list) {
    const figures = await Promise.all(list.split(' ').map(figure));
    const lines = figures.reduce((sum, each) => sum + each.lines, 0);
    return `<section id="code" aria-label="Code"><details>
      <summary>The ${lines} lines that do it</summary>
      <div>${figures.map(({ html }) => html).join('')}<button type="button" id="copy">Copy</button></div>
    </details></section>`;
  }

  return {
    name: 'shown-code',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const found = SECTION.exec(html);
        if (found === null) return html;
        const made = await section(found[1]);
        return html.replace(SECTION, () => made);
      },
    },
    configureServer({ middlewares }) {
      middlewares.use('/source', ({ url = '' }, response, next) => {
        const file = url.slice(1).replace(/\.txt$/, '');
        if (!files.has(file)) return next();
        response.setHeader('Content-Type', 'text/plain; charset=utf-8');
        response.end(readFileSync(join(root, file)));
      });
    },
    generateBundle() {
      for (const file of files) {
        this.emitFile({ type: 'asset', fileName: `source/${file}.txt`, source: readFileSync(join(root, file)) });
      }
    },
  };
}

function dedent(region) {
  const lines = region.trimEnd().split('\n');
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join('\n');
}
