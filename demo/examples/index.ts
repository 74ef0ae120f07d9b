// Runs the example that the address names, as in `examples/?hover`; without a name it lists them all.

const files = import.meta.glob(['./*.ts', '!./index.ts']);
const texts = import.meta.glob('./*.ts', { query: '?raw', import: 'default' }) as Record<string, () => Promise<string>>;
const name = location.search.slice(1);
const load = files[`./${name}.ts`];

if (load) {
  document.querySelector('strong')!.textContent = name;
  document.title = `${name} · collision-worker`;
  // For inspection from the console.
  Object.assign(window, { example: await load() });
} else {
  document.querySelector('main')!.hidden = false;
  for (const path of Object.keys(files)) {
    const example = path.slice('./'.length, -'.ts'.length);
    const [comment] = (await texts[path]()).split('\n\n', 1);
    const link = Object.assign(document.createElement('a'), { href: `?${example}`, textContent: example });
    const item = document.createElement('li');
    item.append(link, `: ${comment.replaceAll(/^\/\/ ?/gm, '').replaceAll('\n', ' ')}`);
    document.querySelector('ul')!.append(item);
  }
}
