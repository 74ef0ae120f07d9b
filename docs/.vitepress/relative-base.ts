// VitePress asks where its site will stand: `base`, a path from the server's root. Ours may stand anywhere. It is built for
// a path that is a mark only; pages find out where they are when they are opened.
import type { Plugin } from 'vitepress';

/** The mark. */
export const BASE = '/-base-/';
/** The variable that has the path in its place, in a page that is open. */
const PLACE = 'globalThis.siteBase';

// Pages are rendered in this process, too.
Object.assign(globalThis, { siteBase: BASE });

/** In scripts the path is a variable: of files they load, and of the pages that the search knows. */
export function relativeBase(): Plugin {
  return {
    name: 'relative-base',
    apply: 'build',
    enforce: 'post',
    config: () => ({
      define: { 'import.meta.env.BASE_URL': PLACE },
      experimental: {
        renderBuiltUrl: (file, { hostType }) =>
          hostType === 'js' ? { runtime: `${PLACE}+${JSON.stringify(file)}` } : { relative: true },
      },
    }),
    transform: (code, id) => {
      if (!id.includes('@localSearchIndex') || !code.includes(BASE)) return null;
      const index = code.replace(/^export default\s+/, '').replace(/;?\s*$/, '');
      return { code: `export default (${index}).replaceAll('${BASE}', ${PLACE})`, map: null };
    },
  };
}

/** A page as it is written: its links are relative, so that they lead somewhere without a script, too. */
export function relativePage(html: string, page: string): string {
  const toBase = '../'.repeat(page.split('/').length - 1) || './';
  const findPlace = `<script>${PLACE}=new URL("${toBase}",location).pathname</script>`;
  // The frame of a page stays when another is shown in it, in another folder: what is relative becomes absolute.
  const fixLinks = `<script>for(const name of ["href","src"])for(const each of document.querySelectorAll(\`:is(a,img,[rel=icon])[\${name}^="."]\`))each.setAttribute(name,each[name])</script>`;
  const data = /(window\.__VP_SITE_DATA__=JSON\.parse\("(?:[^"\\]|\\.)*")\)/;
  const [before, script, after] = html.split(data);
  if (after === undefined) throw new Error(`${page}: its site data are not where they were in VitePress 1.6`);
  const relative = (part: string): string => part.replaceAll(BASE, toBase);
  return `${relative(before)}${script}.replaceAll("${BASE}",${PLACE}))${relative(after)}`
    .replace('<head>', `<head>${findPlace}`)
    .replace('</body>', `${fixLinks}</body>`);
}
