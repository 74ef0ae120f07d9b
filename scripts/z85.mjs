const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/**
 * Rolldown plugin: a .gz file is embedded as Z85, which src/worker/z85.ts decodes. Base64 takes a fifteenth more: the
 * worker's script would be above the 244 KiB from which webpack warns.
 *
 * @param {string} decoder the path of z85.ts
 * @param {(path: string) => Uint8Array} read
 */
export function gzipAsZ85(decoder, read) {
  return {
    name: 'gzip-as-z85',
    load(id) {
      if (!id.endsWith('.gz')) return null;
      const bytes = read(id);
      const code = `import { fromZ85 } from ${JSON.stringify(decoder)}; export default fromZ85("${toZ85(bytes)}", ${bytes.length});`;
      return { code, moduleType: 'js' };
    },
  };
}

/** Encodes bytes as five digits for each four, filled up with zeros. */
export function toZ85(bytes) {
  const padded = new DataView(new ArrayBuffer(Math.ceil(bytes.length / 4) * 4));
  new Uint8Array(padded.buffer).set(bytes);
  let text = '';
  for (let i = 0; i < padded.byteLength; i += 4) {
    let word = padded.getUint32(i);
    let five = '';
    for (let k = 0; k < 5; k++) {
      five = DIGITS[word % 85] + five;
      word = Math.floor(word / 85);
    }
    text += five;
  }
  return text;
}
