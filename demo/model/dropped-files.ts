/** Lists the dropped files, including those in folders. */
export async function filesOf({ items, files }: DataTransfer): Promise<File[]> {
  // The items are invalid once the event is over.
  const topLevelFiles = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.every(({ isFile }) => isFile)) return topLevelFiles;
  return (await Promise.all(entries.map(filesBelow))).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const nestedFiles: File[] = [];
  // Entries come in batches; an empty batch ends the list.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return nestedFiles;
    for (const each of batch) nestedFiles.push(...(await filesBelow(each)));
  }
}
