import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Vector3 } from 'three';
import { LivePage } from '../live-page.js';
import { nextTurn } from '../next-turn.js';
import { createControls, runPage } from '../page.js';
import { element } from '../panel.js';
import { Pointer } from '../pointer.js';
import { chooseQuality } from '../quality.js';
import { createRenderer } from '../scenery.js';
import { type BuildingPart, floorsOf } from './building.js';
import { BuildingExhibit } from './building-exhibit.js';
import { BuildingModel, LAYERS } from './building-model.js';
import { ClashList } from './clash-list.js';
import { CUTS, type Cut, type CutHandle } from './cut-handle.js';
import { Ruler } from './ruler.js';

const FLOORS = { low: 3, high: 18 };
const SEED = 7;
const NO_CUT = 'nowhere';
/** Minimum distance of the camera, in metres. */
const NEAR = 0.5;
/** Metres above a clash at which the building is cut, and from where the camera looks. */
const CUT_OFFSET = 0.35;
const VIEW_OFFSET = new Vector3(2.5, 5, 4);
/** Initial position of each cut along its axis: through the offices, and through the rooms of the last floor. */
const INITIAL_POSITIONS = { 'from the front': 0.31, 'from above': 0.93, 'from the side': 0.5 };

declare global {
  interface Window {
    /** For tests. */
    cutHandle?: CutHandle;
  }
}

/** `?floors=` sets the number of floors. */
await runPage(async (progress) => {
  const quality = await chooseQuality();
  const canvas = element('view') as HTMLCanvasElement;
  const renderer = await createRenderer(canvas, quality);
  renderer.localClippingEnabled = true;
  const floors = Number(new URLSearchParams(location.search).get('floors') ?? FLOORS[quality]);
  if (!(Number.isInteger(floors) && floors >= 1 && floors <= 50))
    throw new Error(`?floors= is ${floors}, expected 1 to 50`);
  const parts: BuildingPart[] = [];
  for (const floor of floorsOf({ floors, seed: SEED })) {
    parts.push(...floor);
    await nextTurn();
  }
  const model = new BuildingModel(parts);
  await nextTurn();
  // #region code
  const service = await createCollisionService();
  const tracker = await trackScene(service, model.root, {
    culling: { occlusion: true }, // cull what is not visible
    objectOptions: () => ({ motion: 'static' }),
    onProgress: (fraction) => progress.show('Building the trees…', fraction),
  });
  // #endregion
  const exhibit = new BuildingExhibit(model, tracker);
  await nextTurn();
  const page = new LivePage(renderer, exhibit, service, tracker);
  page.camera.near = NEAR;
  page.camera.updateProjectionMatrix();
  const handle = exhibit.attach(page, canvas);

  await nextTurn();
  const gui = createControls('controls-inside', 298);
  const settings = { cut: 'from the front' as Cut | typeof NO_CUT };
  const applyCut = (): void => {
    handle.isShown = settings.cut !== NO_CUT;
    if (settings.cut !== NO_CUT) handle.turn(settings.cut, INITIAL_POSITIONS[settings.cut]);
    else handle.onMove?.();
  };
  const choice = gui
    .add(settings, 'cut', [NO_CUT, ...Object.keys(CUTS)])
    .name('Cut')
    .onChange(applyCut);
  applyCut();
  const ruler = new Ruler(tracker, page.changed);
  page.scene.add(ruler.root);
  gui
    .add(ruler.root, 'visible')
    .name('Measure')
    .onChange((isOn: boolean) => {
      element('ruler').hidden = !isOn;
      page.changed();
    });
  const pointer: Pointer = new Pointer(canvas, (x, y) => {
    if (ruler.root.visible) void ruler.addPoint(x, y);
  });
  pointer.onMove = () => {
    if (ruler.root.visible && pointer.position !== null) ruler.point(pointer.position.x, pointer.position.y);
  };
  new ClashList(parts, ({ a, b, point }) => {
    model.showClash([a.id, b.id]);
    settings.cut = 'from above';
    choice.updateDisplay();
    handle.isShown = true;
    handle.turn(settings.cut, 1);
    handle.position = point[1] + CUT_OFFSET;
    page.controls.target.fromArray(point);
    page.camera.position.fromArray(point).add(VIEW_OFFSET);
    page.controls.update();
    page.changed();
  });
  const layers = gui.addFolder('Layers').close();
  for (const layer of LAYERS) {
    layers
      .add({ shown: true }, 'shown')
      .name(layer)
      .onChange((isShown: boolean) => {
        model.show(layer, isShown);
        tracker.changed(model.root); // it is static
        handle.onMove?.();
      });
  }
  window.cutHandle = handle;
  window.livePage = page;
});
