// The part of `npm run bench` that is measured in a page.
import type { PageRow } from './page-row.js';
import { ROWS } from './rows.js';
import { FRAMES_A_ROUND } from './streamed.js';

export interface BenchPage {
  open(row: keyof typeof ROWS, count: number): Promise<void>;
  row: PageRow;
  close(): void;
  readonly framesOfRound: number;
}

declare global {
  interface Window {
    bench: BenchPage;
  }
}

window.bench = {
  row: undefined as unknown as PageRow,
  framesOfRound: FRAMES_A_ROUND,
  async open(row, count) {
    this.row = await ROWS[row](count);
  },
  close() {
    this.row.close();
  },
};
