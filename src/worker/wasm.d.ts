// The build embeds a wasm file's bytes where it is imported.
declare module '*.wasm' {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
