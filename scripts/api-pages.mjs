// Generates the API pages of the documentation site, docs/api, from the doc comments of the source: one page per class, function
// and type, and the site's index of them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { Application, LogLevel } from 'typedoc';
import { root } from './run.mjs';

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Excluded entries: the first exports the same as the package, the others export nothing to call. */
const WITHOUT_API = ['./inline', './worker', './package.json'];

/** Source files of the package's entries, by import specifier. */
const ENTRIES = Object.fromEntries(
  Object.keys(exports)
    .filter((key) => !WITHOUT_API.includes(key))
    .map((key) => [key.replace('.', 'collision-worker'), sourceOf(key.slice('./'.length))]),
);

function sourceOf(entry) {
  const places = ['src/client', 'src'].map((folder) => join(root, folder, entry, 'index.ts'));
  const source = places.find(existsSync);
  if (!source) throw new Error(`the source of collision-worker/${entry} is in none of ${places.join(', ')}`);
  return source;
}

/** Reads the doc comments; `faults` lists broken links in them, and all other warnings of typedoc. */
export async function readApi() {
  const app = await Application.bootstrapWithPlugins({
    entryPoints: Object.values(ENTRIES),
    tsconfig: join(root, 'tsconfig.build.json'),
    plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
    // Types are already checked wherever the site is built.
    skipErrorChecking: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    disableSources: true,
    disableGit: true,
    readme: 'none',
    name: 'API',
    out: join(root, 'docs/api'),
    docsRoot: join(root, 'docs'),
    entryFileName: 'index.md',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    expandObjects: false,
    useCodeBlocks: true,
    // Options and properties keep the order of the source.
    sort: ['source-order'],
    sidebar: { autoConfiguration: true, format: 'vitepress', pretty: false, collapsed: true },
    logLevel: 'Warn',
    validation: { notExported: false, invalidLink: true, notDocumented: false },
  });
  const faults = [];
  const { logger } = app;
  const log = logger.log.bind(logger);
  logger.log = (text, level) => {
    if (level >= LogLevel.Warn) faults.push(text);
    log(text, level);
  };
  const project = await app.convert();
  if (!project) throw new Error('the API could not be read; the message is above');
  // typedoc names each module by its path below src, their common folder.
  for (const [name, source] of Object.entries(ENTRIES)) {
    const folder = relative(join(root, 'src'), dirname(source)).split(sep).join('/');
    const module = project.children.find((child) => child.name === folder);
    if (!module) throw new Error(`${name} is missing among ${project.children.map((child) => child.name).join(', ')}`);
    module.name = name;
  }
  app.validate(project);
  return { app, project, faults };
}

export async function writeApiPages() {
  const { app, project } = await readApi();
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('the API has the faults above');
}
