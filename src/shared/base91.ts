/** What can be printed, but for what is escaped in one of JavaScript's strings: double and back quotes, \ and $. */
const DIGITS = " !#%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

/** Decodes text of two digits for each 13 bits, the low ones first, to so many bytes. */
export function fromBase91(text: string, length: number): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let i = 0; i < DIGITS.length; i++) values[DIGITS.charCodeAt(i)] = i;
  const bytes = new Uint8Array(length);
  let bits = 0;
  let count = 0;
  for (let i = 0, at = 0; at < length; i += 2) {
    bits |= (values[text.charCodeAt(i)] + 91 * values[text.charCodeAt(i + 1)]) << count;
    for (count += 13; count >= 8; count -= 8) {
      bytes[at++] = bits;
      bits >>>= 8;
    }
  }
  return bytes;
}
