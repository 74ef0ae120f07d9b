// The build embeds a packed file's bytes where it is imported.
declare module '*.wasm.gz' {
  export default function bytes(): Uint8Array<ArrayBuffer>;
}
