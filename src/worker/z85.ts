/** The digits of ZeroMQ's Z85 (RFC 32 of ZeroMQ, 2010): none of them ends a string or escapes in one. */
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** Decodes text of five digits for each four bytes, of which the last ones may be there to fill up: `length` are meant. */
export function fromZ85(text: string, length: number): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let i = 0; i < DIGITS.length; i++) values[DIGITS.charCodeAt(i)] = i;
  const bytes = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let i = 0; i < text.length; i += 5) {
    let word = 0;
    for (let k = 0; k < 5; k++) word = word * 85 + values[text.charCodeAt(i + k)];
    bytes.setUint32((i / 5) * 4, word);
  }
  return new Uint8Array(bytes.buffer, 0, length);
}
