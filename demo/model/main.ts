import { createCollisionService } from 'collision-worker';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { filesOf } from './dropped-files.js';
import { fetchModel, loadModel, prepareLoading } from './load-model.js';
import { ModelPage } from './model-page.js';
import { SAMPLES, type Sample } from './samples.js';

declare global {
  interface Window {
    /** For tests. */
    modelPage?: ModelPage;
  }
}

/** `?model=` is the address of a model of this site to show first. */
await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  prepareLoading(renderer);
  // #region code
  const service = await createCollisionService();
  // #endregion
  const page = new ModelPage(renderer, service, quality, progress);

  const gui = createControls('controls-inside', 298);
  gui.domElement.style.setProperty('--name-width', '42%');
  const choice = { title: '' };
  const samples = gui
    .add(
      choice,
      'title',
      SAMPLES.map(({ title }) => title),
    )
    .name('Sample')
    .onChange((title: string) => {
      const sample = SAMPLES.find((each) => each.title === title)!;
      return open(sample, (...loadArgs) => sample.load(...loadArgs));
    });
  gui.add(page.settings, 'move').name('Move, if it can').onChange(page.changed);
  gui.add(page.settings, 'compare').name('Compare');
  const showInsides = () => page.showInsides();
  gui.add(page.settings, 'level', 0, 12, 1).name('Boxes, level').onChange(showInsides);
  gui.add(page.settings, 'octree').name('Octree').onChange(showInsides);
  gui.add(page.settings, 'bounds').name('Bounds').onChange(showInsides);

  /** If a model cannot be shown, the current one and its name stay. */
  const open = async (sample: Sample | null, load: Parameters<ModelPage['show']>[0]): Promise<void> => {
    await page.show(load, sample);
    choice.title = page.sample?.title ?? 'your own';
    samples.updateDisplay();
  };
  const openFiles = (files: readonly File[]) => open(null, () => loadModel(files));
  const openAddress = (address: string) => open(null, (...loadArgs) => fetchModel(address, ...loadArgs));

  const input = element('file') as HTMLInputElement;
  input.addEventListener('change', () => {
    openFiles([...input.files!]);
    // Allows the same file to be chosen again after it was changed.
    input.value = '';
  });
  const address = element('address') as HTMLFormElement;
  address.addEventListener('submit', (event) => {
    event.preventDefault();
    openAddress(new FormData(address).get('url') as string);
  });
  listenForDrops((files) => open(null, async () => loadModel(await files)));

  const requestedAddress = new URLSearchParams(location.search).get('model');
  const firstSample = SAMPLES[quality === 'high' ? 1 : 0];
  await (requestedAddress === null
    ? open(firstSample, (...loadArgs) => firstSample.load(...loadArgs))
    : openAddress(requestedAddress));
  window.modelPage = page;
});

function listenForDrops(onDrop: (files: Promise<File[]>) => void): void {
  const { classList } = document.body;
  // A drag also leaves one element when it enters another: `inside` counts the elements.
  let inside = 0;
  const countDrag = (change: number) => {
    inside = change === 0 ? 0 : inside + change;
    classList.toggle('dropping', inside > 0);
  };
  addEventListener('dragenter', () => countDrag(1));
  addEventListener('dragleave', () => countDrag(-1));
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    countDrag(0);
    onDrop(filesOf(event.dataTransfer!));
  });
}
