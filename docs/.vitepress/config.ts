import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { BASE, relativeBase, relativePage } from './relative-base.js';

/** VitePress sets the variable before it builds. With `--watch` the server is ours, and so is the path. */
const base = process.env.NODE_ENV === 'production' ? BASE : '/';
const apiSidebar = new URL('../api/typedoc-sidebar.json', import.meta.url);

const page = (text: string, name: string): DefaultTheme.SidebarItem => ({ text, link: `/${name}` });

const guide: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [page('First steps', 'start'), page('Concepts', 'concepts'), page('Conventions', 'conventions')],
  },
  {
    text: 'Use it',
    items: [
      page('With three.js', 'three'),
      page('Recipes', 'recipes'),
      page('Examples', 'examples'),
      page('React Three Fiber', 'react'),
      page('Pointer events', 'pointer'),
      page('Without three.js', 'plain'),
      page('In Node', 'node'),
      page('Clashes', 'clash'),
    ],
  },
  {
    text: 'Understand it',
    items: [
      page('The age of an answer', 'age'),
      page('Culling one frame late', 'culling'),
      page('Contacts', 'contacts'),
      page('Memory', 'memory'),
      page('Look inside', 'debugging'),
      page('When something fails', 'failures'),
    ],
  },
  {
    text: 'Troubles',
    items: [page('By their message', 'troubles'), page('When it does not start', 'start-up')],
  },
  {
    text: 'Move to it',
    items: [
      page('From three-mesh-bvh', 'from-three-mesh-bvh'),
      page('From three’s Raycaster', 'from-raycaster'),
      page('From a physics engine', 'from-physics'),
    ],
  },
  {
    text: 'Inside',
    items: [
      page('How it works', 'how-it-works'),
      page('Performance', 'performance'),
      page('Architecture', 'architecture'),
      page('Changing it', 'developing'),
    ],
  },
];

export default defineConfig({
  title: 'collision-worker',
  description: 'Collision detection, picking and frustum culling for three.js and plain WebGL/WebGPU, in a Web Worker.',
  lang: 'en',
  base,
  outDir: '../build/docs',
  cacheDir: '../build/docs-cache',
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Guide', link: '/start', activeMatch: '^/(?!api/|performance|how-it-works|$)' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Performance', link: '/performance' },
      { text: 'How it works', link: '/how-it-works' },
    ],
    sidebar: {
      '/api/': JSON.parse(readFileSync(fileURLToPath(apiSidebar), 'utf8')),
      '/': guide,
    },
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
  markdown: {
    // Links to headings are the same here and where GitHub shows the file.
    anchor: { slugify: (heading) => new GithubSlugger().slug(heading) },
    config(md) {
      // Code is text: `{{` in it is nothing of Vue's.
      const codeOf = md.renderer.rules.code_inline!;
      md.renderer.rules.code_inline = (...args) => codeOf(...args).replace('<code', '<code v-pre');
    },
  },
  // The first page's own picture is named in its head, of which Vite knows nothing.
  buildEnd: ({ srcDir, outDir }) => copyFileSync(join(srcDir, 'demo.webp'), join(outDir, 'demo.webp')),
  transformHtml: (html, _file, { page: name }) => relativePage(html, name),
  vite: {
    plugins: [relativeBase()],
    // The pictures of the bench stand beside its results.
    server: { fs: { allow: ['../..'] } },
  },
});
