// The build replaces the import of a packed file by its bytes.
declare module '*.wasm.gz' {
  export default function bytes(): Uint8Array<ArrayBuffer>;
}
