import { createCollisionService, type MeshId } from 'collision-worker';
import { type ClashReport, clash, type Rule } from 'collision-worker/clash';
import type { BuildingPart } from '../../fixtures/building.js';
import { clashParts } from '../../fixtures/clash-parts.js';
import { inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS } from '../ours.js';
import { fclClashes } from '../peers/native.js';
import { type ClashWork, clashWork } from '../work/clash.js';

/** Everything that penetrates. */
const RULES: Rule[] = [{ name: 'all', kind: 'hard', tolerance: 0 }];

/**
 * The measured time covers all of `clash`: starting its workers, its trees, planning, messages and the report. FCL has no
 * penetration depth of two meshes: the depth of its contacts is how far one triangle is behind the plane of another.
 */
export function clashRow(count: number): Row {
  return {
    name: 'clash-20k',
    work: `the report of a building of ${count.toLocaleString('en')} parts, all pairs, one worker: ours with the depth of each pair, groups and the start of the worker; others with the contacts of all triangles, their trees built`,
    rounds: 5,
    async prepare({ native }) {
      const work = clashWork(count);
      return {
        contenders: [inThisProcess(() => ourReport(OURS, work, 1)), ...(native ? fclClashes(work, 'all', 5) : [])],
      };
    },
  };
}

/** What both can do: find the pairs that intersect. All trees are built; the objects are new to the broad phase. */
export function clashMeetRow(count: number): Row {
  return {
    name: 'clash-meet',
    work: `which pairs of the same building of ${count.toLocaleString('en')} parts meet, yes or no, all trees built: ours from adding its objects to the frame's answer`,
    rounds: 5,
    async prepare({ native }) {
      const work = clashWork(count);
      return { contenders: [inThisProcess(() => ourPairs(work)), ...(native ? fclClashes(work, 'first', 5) : [])] };
    },
  };
}

/** Two workers compared with one: all work is distributed except the plan and the report. */
export function clashCoresRow(count: number): Row {
  return {
    name: 'clash-cores',
    work: `the report of the same building of ${count.toLocaleString('en')} parts with two workers, against one`,
    rounds: 5,
    async prepare() {
      const work = clashWork(count);
      return {
        contenders: [
          inThisProcess(() => ourReport(`${OURS}, two workers`, work, 2)),
          inThisProcess(async () => ({ ...ourReport(`${OURS}, one worker`, work, 1), target: 1.8 })),
        ],
      };
    },
  };
}

/** The CPU cost of a second worker, independent of other load: 1 would mean no cost. */
export function clashCoresCpuRow(count: number): Row {
  return {
    name: 'clash-cores-cpu',
    work: `the same by the processor's time, of all threads together`,
    rounds: 5,
    async prepare() {
      const work = clashWork(count);
      return {
        contenders: [
          inThisProcess(() => ourReport(`${OURS}, two workers`, work, 2, processorTime)),
          inThisProcess(() => ourReport(`${OURS}, one worker`, work, 1, processorTime)),
        ],
      };
    },
  };
}

/** Milliseconds of a clock. */
type Clock = () => number;

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function ourReport(
  name: string,
  { parts }: ClashWork,
  workers: number,
  clock: Clock = () => performance.now(),
): SelfTimedContender {
  const input = clashParts(parts);
  let report: ClashReport | undefined;
  return {
    name,
    async measure() {
      const start = clock();
      report = await clash(input, null, RULES, { workers });
      return clock() - start;
    },
    checksum: () => ({ pairs: report!.clashes.length }),
  };
}

/** Each round has a new service, so that no results are cached from the previous round. */
function ourPairs({ parts }: ClashWork): SelfTimedContender {
  let pairs = 0;
  return {
    name: OURS,
    async measure() {
      const service = await createCollisionService({ restart: false, builders: 0 });
      const byMesh = new Map<BuildingPart['mesh'], BuildingPart[]>();
      for (const part of parts) {
        const group = byMesh.get(part.mesh);
        if (group) group.push(part);
        else byMesh.set(part.mesh, [part]);
      }
      const meshes: MeshId[] = [];
      for (const { positions, indices } of byMesh.keys()) meshes.push(await service.addMesh({ positions, indices }));
      const matrices = Float64Array.from(
        [...byMesh.values()].flatMap((sameMesh) => sameMesh.flatMap(({ matrix }) => matrix)),
      );
      const start = performance.now();
      const ids = new Uint32Array(parts.length);
      let firstId = 0;
      for (const [i, sameMesh] of [...byMesh.values()].entries()) {
        const shape = { type: 'mesh', mesh: meshes[i], solid: true } as const;
        ids.set(service.addInstances({ shape, contacts: 'any' }, sameMesh.length), firstId);
        firstId += sameMesh.length;
      }
      service.setTransforms(ids, matrices);
      const { contacts } = await service.update();
      const ms = performance.now() - start;
      pairs = contacts.count;
      service.dispose();
      return ms;
    },
    checksum: () => ({ pairs }),
  };
}
