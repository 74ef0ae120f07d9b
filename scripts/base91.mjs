const DIGITS = " !#%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

/**
 * Rolldown plugin: a .gz file is embedded as text of 91 digits, which src/shared/base91.ts decodes. Base64 takes 8 % more, and
 * Z85 takes 1.5 % more.
 *
 * @param {string} decoder the path of base91.ts
 * @param {(path: string) => Uint8Array} read
 */
export function gzipAsBase91(decoder, read) {
  return {
    name: 'gzip-as-base91',
    load(id) {
      if (!id.endsWith('.gz')) return null;
      const bytes = read(id);
      const code = `import { fromBase91 } from ${JSON.stringify(decoder)}; export default fromBase91("${toBase91(bytes)}", ${bytes.length});`;
      return { code, moduleType: 'js' };
    },
  };
}

/** Encodes bytes as two digits for each 13 bits, the low ones first, filled up with zeros. */
export function toBase91(bytes) {
  let text = '';
  let bits = 0;
  let count = 0;
  const put = () => {
    const pair = bits & 8191;
    text += DIGITS[pair % 91] + DIGITS[Math.floor(pair / 91)];
    bits >>>= 13;
    count -= 13;
  };
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count >= 13) put();
  }
  if (count > 0) put();
  return text;
}
