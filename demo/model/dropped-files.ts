/** Lists the dropped files, including those in folders. */
export async function filesOf({ items, files }: DataTransfer): Promise<File[]> {
  // The items are invalid once the event is over.
  const plain = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.every(({ isFile }) => isFile)) return plain;
  return (await Promise.all(entries.map(filesBelow))).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // Entries come in batches; an empty batch ends the list.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const each of some) found.push(...(await filesBelow(each)));
  }
}
