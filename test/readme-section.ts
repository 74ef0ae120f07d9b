/** The README with what is between the marks <!-- name --> and <!-- /name --> replaced. */
export function readmeWith(readme: string, name: string, section: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = readme.indexOf(start);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no ${start} before an ${end}`);
  return `${readme.slice(0, from + start.length)}\n${section}\n${readme.slice(to)}`;
}
