// Writes the pages of the API for the documentation site, docs/api, from the docstrings of the source: one page for each
// class, function and type, and the site's list of them.
import { join } from 'node:path';
import { Application } from 'typedoc';
import { root } from './run.mjs';

/** What an app imports, by the name that the entry has in `src/client`; `collision-worker/inline` exports what the first does. */
const ENTRIES = {
  index: 'collision-worker',
  three: 'collision-worker/three',
  react: 'collision-worker/react',
  pointer: 'collision-worker/pointer',
};

export async function writeApiPages() {
  const app = await Application.bootstrapWithPlugins({
    entryPoints: Object.keys(ENTRIES).map((name) =>
      join(root, 'src/client', name === 'index' ? 'index.ts' : `${name}/index.ts`),
    ),
    tsconfig: join(root, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
    // The site is built where types are checked anyway.
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
    // Options and answers read as they stand in the source.
    sort: ['source-order'],
    sidebar: { autoConfiguration: true, format: 'vitepress', pretty: false, collapsed: true },
    logLevel: 'Warn',
    validation: { notExported: false, invalidLink: true, notDocumented: false },
  });
  const project = await app.convert();
  if (!project) throw new Error('the API could not be read; the message is above');
  for (const module of project.children) module.name = ENTRIES[module.name];
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('the API has the faults above');
}
