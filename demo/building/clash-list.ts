import { type Clash, clash, type Rule } from 'collision-worker/clash';
import { element, showError } from '../panel.js';
import type { BuildingPart } from './building.js';
import type { Solid } from './solids.js';

const HARD_CLASH = { kind: 'hard', tolerance: 0.005 } as const;
const MAX_SHOWN = 200;

/** Finds the fitters' mistakes, and lists them. */
export class ClashList {
  readonly #parts: readonly BuildingPart[];
  readonly #onChoose: (clash: Clash) => void;

  constructor(parts: readonly BuildingPart[], onChoose: (clash: Clash) => void) {
    this.#parts = parts;
    this.#onChoose = onChoose;
    const button = element('find') as HTMLButtonElement;
    button.addEventListener('click', async () => {
      button.disabled = true;
      await this.#find();
      button.disabled = false;
    });
  }

  async #find(): Promise<void> {
    const summary = element('clash-summary');
    const start = performance.now();
    try {
      const parts = this.#parts.map(({ id, name, layer, geometry, matrix }) => ({
        ...{ id, name, layer, matrix },
        mesh: meshOf(geometry),
      }));
      // #region code
      const rules: Rule[] = [
        { name: 'ducts in beams', ...HARD_CLASH, a: { layer: 'ducts' }, b: { layer: 'beams' } },
        { name: 'pipes in ducts', ...HARD_CLASH, a: { layer: 'pipes' }, b: { layer: 'ducts' } },
        { name: 'trays in pipes', ...HARD_CLASH, a: { layer: 'trays' }, b: { layer: 'pipes' } },
        { name: 'walls in beams', ...HARD_CLASH, a: { layer: 'walls' }, b: { layer: 'beams' } },
        { name: 'there twice', kind: 'duplicates' },
      ];
      const onProgress = ({ fraction }: { fraction: number }): void => {
        summary.textContent = `${Math.round(100 * fraction)} %`;
      };
      const { clashes } = await clash(parts, null, rules, { onProgress });
      // #endregion
      const seconds = (performance.now() - start) / 1000;
      summary.textContent = `${clashes.length} clashes, found in ${seconds.toFixed(1)} s. Click one to fly there.`;
      element('clashes').replaceChildren(...clashes.slice(0, MAX_SHOWN).map((each) => this.#item(each)));
    } catch (error) {
      showError(error);
    }
  }

  #item(foundClash: Clash): HTMLLIElement {
    const { a, b, rule, depth } = foundClash;
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `${rule}: ${a.name} – ${b.name}${depth === undefined ? '' : `, ${(1000 * depth).toFixed(0)} mm`}`;
    button.addEventListener('click', () => this.#onChoose(foundClash));
    item.append(button);
    return item;
  }
}

const meshes = new Map<Solid, { positions: Float32Array; indices: Uint32Array }>();

/** Returns the same mesh for the same solid, so that its tree is built once. */
function meshOf(solid: Solid): { positions: Float32Array; indices: Uint32Array } {
  const { positions, indices } = solid;
  if (!meshes.has(solid)) meshes.set(solid, { positions, indices });
  return meshes.get(solid)!;
}
