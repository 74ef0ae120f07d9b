import { type Character, createCollisionService } from 'collision-worker';
import { Random } from '../../oracle/random.js';
import { inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS } from '../ours.js';
import { joltCharacters } from '../peers/jolt.js';
import { RAPIERS, rapierCharacters } from '../peers/rapier.js';
import { bvhCharacters } from '../peers/three-mesh-bvh.js';
import { type Level, levelOf, SETTLING_FRAMES, WALKER, type Walk, walkChecksum, walkOn } from '../work/level.js';

/** A step of every character; all start over in the first round. */
export function charactersRow(count: number, triangles: number): Row {
  return {
    name: 'characters-500',
    work: `${count} characters on a level of ${triangles.toLocaleString('en')} triangles, a step of a sixtieth of a second each`,
    rounds: 60,
    async prepare() {
      const level = levelOf(new Random(1), triangles);
      const walk = walkOn(level, new Random(2), count);
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return inOwnProcess(async () => ({ ...(await rapierCharacters(name, rapier, level, walk)), target: 8 }));
      });
      return {
        contenders: [
          inThisProcess(() => ourCharacters(level, walk)),
          inOwnProcess(async () => ({ ...(await joltCharacters(level, walk)), target: 3 })),
          ...rapiers,
          inOwnProcess(() => bvhCharacters(level, walk)),
        ],
      };
    },
  };
}

async function ourCharacters({ mesh }: Level, walk: Walk): Promise<SelfTimedContender> {
  const service = await createCollisionService();
  const shape = { type: 'mesh', mesh: await service.addMesh(mesh) } as const;
  service.addObject({ shape, motion: 'static', contacts: 'none' });
  const { radius, half, ...others } = WALKER;
  const from = [0, radius, 0] as const;
  const capsule = { type: 'capsule', radius, from, to: [0, radius + 2 * half, 0] } as const;
  const characters = Array.from({ length: walk.count }, (): Character => {
    return service.createCharacter({ shape: capsule, ...others });
  });
  const step = async (frame: number | undefined) => {
    for (const [i, character] of characters.entries()) {
      const [x, z] = frame === undefined ? [0, 0] : walk.wayOf(i, frame);
      character.advance([x, 0, z], WALKER.step);
    }
    return (await service.update()).ms.total;
  };
  const settle = async () => {
    for (const [i, character] of characters.entries()) {
      const [x, y, z] = walk.starts.subarray(3 * i);
      character.set({ position: [x, y, z] });
    }
    for (let i = 0; i < SETTLING_FRAMES; i++) await step(undefined);
  };
  return {
    name: OURS,
    async measure(round) {
      if (round === 0) await settle();
      return step(round);
    },
    checksum() {
      const groundedCount = characters.filter(({ state }) => state.isStanding).length;
      return walkChecksum(walk, (i) => characters[i].state.position, groundedCount);
    },
    close: () => service.dispose(),
  };
}
