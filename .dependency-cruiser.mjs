// The layers of the source: each stands above what it imports, and nothing imports in a circle, types included.

/** Folders of one parent, the lowest first. */
export const LAYERS = {
  src: ['shared', 'worker', 'client', 'clash'],
  'src/clash': ['rules', 'plan', 'tile', 'report', 'output', 'node'],
  'src/client': [
    'check',
    'transforms',
    'skin',
    'link',
    'frame',
    'scene',
    'query',
    'character',
    'three',
    'pointer',
    'react',
  ],
  'src/client/three': ['geometry', 'track', 'view', 'query'],
  'src/worker/core': [
    'math',
    'mesh',
    'point-line',
    'skin',
    'shape',
    'occlusion',
    'contact',
    'distance',
    'section',
    'character',
    'sweep',
    'scene',
  ],
  'src/worker/core/mesh': ['tree', 'query', 'topology'],
};

const layered = Object.entries(LAYERS).flatMap(([parent, folders]) =>
  folders.slice(0, -1).map((folder, i) => ({
    name: `${folder}-is-below`,
    comment: `${parent}/${folder} stands below ${folders.slice(i + 1).join(', ')}.`,
    severity: 'error',
    from: { path: `^${parent}/${folder}/` },
    to: { path: `^${parent}/(${folders.slice(i + 1).join('|')})/` },
  })),
);

export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Who reads one file of a circle has to read them all.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'sides-meet-in-shared',
      comment: 'The main thread and the worker share no code but what src/shared says.',
      severity: 'error',
      from: { path: '^src/(client|worker)/' },
      to: { path: '^src/(client|worker)/', pathNot: '^src/$1/' },
    },
    {
      name: 'core-is-wasm',
      comment: 'What is compiled to wasm imports nothing else but the layout of the buffers.',
      severity: 'error',
      from: { path: '^src/worker/core/' },
      to: { pathNot: ['^src/worker/core/', '^src/shared/layout\\.ts$'] },
    },
    {
      name: 'core-is-behind-its-binding',
      comment: 'JavaScript reaches the core through its exports.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/worker/core/' },
      to: { path: '^src/worker/core/' },
    },
    {
      name: 'three-in-its-adapter',
      comment: 'Everything but the adapters works without three.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/client/(three|pointer|react)/' },
      to: { path: '^(node_modules/(@types/)?three/|src/client/three/)' },
    },
    {
      name: 'ships-alone',
      comment: 'What ships needs nothing of the tests, the demo or the scripts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|demo|scripts)/' },
    },
    ...layered,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|build)/' },
  },
};
