import { createRoot } from 'react-dom/client';
import { runPage } from '../page.js';
import { element, fillTable } from '../panel.js';
import { chooseQuality, movesByItself } from '../quality.js';
import { App, type Figures } from './app.js';

declare global {
  interface Window {
    /** For tests. */
    reactDemo?: Figures;
  }
}

await runPage(async (progress) => {
  const figures: Figures = { hovered: [], selected: [], touched: [], rolls: movesByItself(), state: null };
  const show = (): void => {
    element('hovered').textContent = figures.hovered.at(-1) ?? 'nothing';
    fillTable(element('figures'), {
      selected: String(figures.selected.length),
      'touched by the ball': String(figures.touched.length),
    });
  };
  show();
  const quality = await chooseQuality();
  await new Promise<void>((ready) => {
    createRoot(element('view')).render(
      <App
        quality={quality}
        figures={figures}
        onChange={show}
        onProgress={(fraction) => progress.show('Building the trees…', fraction)}
        onReady={ready}
      />,
    );
  });
  window.reactDemo = figures;
});
