import { createCollisionService } from 'collision-worker';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { loadModel } from './load-model.js';
import { ModelPage } from './model-page.js';
import { SAMPLES } from './samples.js';

declare global {
  interface Window {
    /** For tests. */
    modelPage?: ModelPage;
  }
}

await runPage(async (progress) => {
  const quality = chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const page = new ModelPage(createRenderer(canvas, quality), await createCollisionService(), progress);
  const open = (files: readonly File[]) => page.show(() => loadModel(files));

  const input = element('file') as HTMLInputElement;
  input.addEventListener('change', () => open([...input.files!]));
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    open([...event.dataTransfer!.files]);
  });

  const gui = createControls('controls-inside', 298);
  const sample = { title: SAMPLES[quality === 'high' ? 1 : 0].title };
  const show = () => {
    const { licence, load } = SAMPLES.find(({ title }) => title === sample.title)!;
    element('licence').textContent = licence;
    return page.show(load);
  };
  gui
    .add(
      sample,
      'title',
      SAMPLES.map(({ title }) => title),
    )
    .name('Sample')
    .onChange(show);
  gui.add(page.settings, 'move').name('Move, if it can');
  gui.add(page.settings, 'compare').name('Compare');
  const showInsides = () => page.showInsides();
  gui.add(page.settings, 'level', 0, 12, 1).name('Boxes, level').onChange(showInsides);
  gui.add(page.settings, 'octree').name('Octree').onChange(showInsides);
  gui.add(page.settings, 'bounds').name('Bounds').onChange(showInsides);
  await show();
  window.modelPage = page;
});
