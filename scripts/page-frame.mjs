// Vite plugin: the common frame of all demo pages. A page's file has its title, its body, its loading text, and its script; the
// plugin adds the head, the links to the other pages, the progress bar and the place for errors.
import { dirname, relative } from 'node:path';

const PARTS =
  /^<title>(?<title>.+)<\/title>\n(?<body>.*)^(?<said><p id="progress-text">.+<\/p>)\n(?<script><script .+)\n$/ms;
const LINKS = '<nav id="pages" aria-label="Pages"></nav>';

/** Frames the pages directly in the folder `root`. */
export function framePages(root) {
  return {
    name: 'page-frame',
    transformIndexHtml: {
      order: 'pre',
      handler(text, { filename }) {
        if (relative(root, dirname(filename)) !== '') return text;
        const found = PARTS.exec(text);
        if (found === null) throw new Error(`${filename} has no title, no progress-text or no script, in this order`);
        return frame(found.groups);
      },
    },
  };
}

function frame({ title, body, said, script }) {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="./style.css" />
  </head>
  <body>
    ${body.replace('<header>', `<header>${LINKS}`)}
    <div id="progress" role="status">
      ${said}
      <progress id="progress-bar" max="1" value="0"></progress>
      <button id="cancel" type="button" hidden>Cancel</button>
    </div>
    <div id="error" role="alert" hidden></div>
    ${script}
  </body>
</html>
`;
}
