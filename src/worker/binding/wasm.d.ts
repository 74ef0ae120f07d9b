// The build embeds a packed file's bytes where it is imported.
declare module '*.wasm.gz' {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
