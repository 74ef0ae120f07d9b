/** All pages, in the order of their links. */
export const PAGES: readonly [file: string, title: string][] = [
  ['index.html', 'Home'],
  ['model.html', 'Your model'],
  ['picking.html', 'Picking'],
  ['selection.html', 'Selection'],
  ['seeing.html', 'Seeing'],
  ['cull.html', 'Cull 100,000'],
  ['building.html', 'Building'],
  ['contacts.html', 'Contacts'],
  ['hands.html', 'Hands'],
  ['walk.html', 'Walk'],
  ['characters.html', 'Bones'],
  ['points.html', 'Points'],
  ['batch.html', 'Batch'],
  ['pointer.html', 'Events'],
  ['react.html', 'React'],
  ['trust.html', 'Trust'],
];
