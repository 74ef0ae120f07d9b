import { Vector3 } from 'three';
import { GREY, INK, line, svg, text } from './svg.js';

const FRAME_WIDTH = 220;
const LEFT = 130;
const ROWS = { main: 60, worker: 150 };

/** Three frames on the main thread, and what the worker does meanwhile. */
export function agePicture(): string {
  const parts: string[] = [
    text(20, ROWS.main + 25, 'main thread', { weight: 600 }),
    text(20, ROWS.worker + 25, 'worker', { weight: 600 }),
  ];
  const box = (x: number, y: number, width: number, label: string, colour: string): void => {
    parts.push(
      `<rect x="${x}" y="${y}" width="${width}" height="40" rx="5" fill="${colour}" fill-opacity="0.15" stroke="${colour}"/>`,
    );
    parts.push(text(x + width / 2, y + 25, label, { anchor: 'middle', size: 13 }));
  };
  for (let i = 0; i < 3; i++) {
    const x = LEFT + i * FRAME_WIDTH;
    const name = ['n', 'n + 1', 'n + 2'][i];
    parts.push(line([new Vector3(x, 30), new Vector3(x, 235)], 'stroke="#cbd5e1" stroke-dasharray="3 4"'));
    parts.push(text(x + 6, 40, `frame ${name}`, { size: 12, colour: GREY }));
    box(x + 6, ROWS.main, 92, `draw ${name}`, '#1d63c4');
    box(x + 102, ROWS.main, 56, 'update', '#c2570c');
    if (i === 2) continue;
    box(x + 138, ROWS.worker, 62, name, '#15803d');
    parts.push(arrow(x + 130, ROWS.main + 40, x + 142, ROWS.worker - 2));
    parts.push(arrow(x + 196, ROWS.worker, x + FRAME_WIDTH + 14, ROWS.main + 42));
    const label = `knows ${name}`;
    parts.push(text(x + FRAME_WIDTH + 22, ROWS.main + 58, label, { size: 12, colour: '#15803d' }));
  }
  return svg(LEFT + 3 * FRAME_WIDTH - 30, 250, 'What is drawn in a frame has the answer of the frame before', [
    `<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto"><path d="M0 0L6 3L0 6Z" fill="${INK}"/></marker></defs>`,
    ...parts,
  ]);
}

function arrow(x: number, y: number, toX: number, toY: number): string {
  return line([new Vector3(x, y), new Vector3(toX, toY)], `stroke="${INK}" stroke-width="1.3" marker-end="url(#tip)"`);
}
