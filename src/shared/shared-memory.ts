/** Returns whether this thread may share memory with other threads of its page. */
export function mayShare(): boolean {
  return globalThis.crossOriginIsolated === true;
}

/** Returns whether this thread may share copies of meshes: the threads of Node may share anything. */
export function mayShareCopies(): boolean {
  return mayShare() || typeof setImmediate === 'function';
}

/** Returns whether both sides have a buffer at once. A shared buffer is posted and not transferred. */
export function isShared(buffer: ArrayBuffer): boolean {
  return mayShare() && (buffer as ArrayBufferLike) instanceof SharedArrayBuffer;
}

/** Returns the buffers of a message that are to be transferred. */
export function transferOf(...buffers: (ArrayBuffer | undefined)[]): ArrayBuffer[] {
  return buffers.filter((each) => each !== undefined && !isShared(each)) as ArrayBuffer[];
}
