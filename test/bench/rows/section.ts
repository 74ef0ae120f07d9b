import { createCollisionService } from 'collision-worker';
import { type Checksum, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS } from '../ours.js';
import { clippedEdges } from '../peers/three-mesh-bvh.js';
import { type SectionWork, sectionWork } from '../work/cuts.js';

/** A plane that moves through many meshes: our sections are outlines, those of the others segments. */
export function sectionRow(parts: number, planes: number): Row {
  return {
    name: 'section-1m',
    work: `a plane at ${planes} places in ${parts.toLocaleString('en')} parts of 980 triangles: its sections, ours joined to nested loops`,
    rounds: 7,
    async prepare() {
      const work = sectionWork(parts, planes);
      const ours = await ourSections(work);
      return {
        contenders: [inThisProcess(() => ours.contender), inOwnProcess(() => ({ ...clippedEdges(work), target: 10 }))],
        facts: async () => [{ name: 'a section', value: ours.fastest() / planes, unit: 'ms at best', atMost: 4 }],
      };
    },
  };
}

/** Measures the worker's own time. */
async function ourSections({ meshes, places, planes }: SectionWork) {
  const service = await createCollisionService();
  const handles = await Promise.all(
    meshes.map(({ positions, indices }) => service.addMesh({ positions: positions.slice(), indices: indices.slice() })),
  );
  for (let i = 0; i < places.length / 16; i++) {
    const mesh = handles[i % handles.length];
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: places.subarray(16 * i, 16 * i + 16) });
  }
  await service.update();
  let checksum: Checksum = {};
  let fastest = Number.POSITIVE_INFINITY;
  const contender: SelfTimedContender = {
    name: OURS,
    async measure() {
      let ms = 0;
      let segments = 0;
      let length = 0;
      for (let i = 0; i < planes.length; i += 4) {
        const section = await service.section(planes.subarray(i, i + 4));
        ms += section.ms;
        segments += section.triangles.length;
        length += lengthOf(section.points, section.starts);
      }
      checksum = { segments, length };
      fastest = Math.min(fastest, ms);
      return ms;
    },
    checksum: () => checksum,
    tolerance: { of: { length: 1e-9 }, because: 'float64 sums, rounded otherwise' },
    close: () => service.dispose(),
  };
  return { contender, fastest: () => fastest };
}

/** All meshes are closed, so their outlines are closed, too. */
function lengthOf(points: Float64Array, starts: Uint32Array): number {
  let length = 0;
  for (let outline = 0; outline + 1 < starts.length; outline++) {
    for (let i = starts[outline]; i < starts[outline + 1]; i++) {
      const next = i + 1 === starts[outline + 1] ? starts[outline] : i + 1;
      length += Math.hypot(
        points[3 * next] - points[3 * i],
        points[3 * next + 1] - points[3 * i + 1],
        points[3 * next + 2] - points[3 * i + 2],
      );
    }
  }
  return length;
}
