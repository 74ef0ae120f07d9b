/** Tells whether this thread may share memory with others of its page. */
export function mayShare(): boolean {
  return globalThis.crossOriginIsolated === true;
}

/** Tells whether this thread may share copies of meshes: the threads of Node may share anything. */
export function mayShareCopies(): boolean {
  return mayShare() || typeof setImmediate === 'function';
}

/** Tells whether both sides have a buffer at once. Such a one is posted and not transferred. */
export function isShared(buffer: ArrayBuffer): boolean {
  return mayShare() && (buffer as ArrayBufferLike) instanceof SharedArrayBuffer;
}

/** Lists the buffers of a message that are to be transferred. */
export function transferOf(...buffers: (ArrayBuffer | undefined)[]): ArrayBuffer[] {
  return buffers.filter((each) => each !== undefined && !isShared(each)) as ArrayBuffer[];
}
