import initJolt from 'jolt-physics/wasm-compat';
import type { Contender } from '../harness.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, manifoldChecksum } from '../work/boxes.js';

/** Of a contact manifold in Jolt's memory, in floats: base offset and normal take four each. */
const DEPTH = 8;

/**
 * Sensors that are kinematic bodies set in place, each contact's depth read where the listener is called: of sensors and solid
 * bodies, with locks and without, none was faster beyond the noise of the machine. What is only simulated is
 * turned off.
 */
export async function joltManifolds(frames: readonly BoxFrame[]): Promise<Contender> {
  const jolt = await initJolt();
  const [{ positions, rotations }] = frames;
  const count = positions.length / 3;
  const simulation = new jolt.JoltInterface(settingsOf(jolt, count));
  const system = simulation.GetPhysicsSystem();
  system.SetGravity(new jolt.Vec3(0, 0, 0));
  const physics = system.GetPhysicsSettings();
  physics.mAllowSleeping = false;
  physics.mUseBodyPairContactCache = false;
  physics.mConstraintWarmStart = false;
  system.SetPhysicsSettings(physics);

  const interfaceOf = system.GetBodyInterfaceNoLock();
  const shape = new jolt.BoxShape(new jolt.Vec3(HALF_SIZE, HALF_SIZE, HALF_SIZE), 0);
  const position = new jolt.RVec3(0, 0, 0);
  const rotation = new jolt.Quat(0, 0, 0, 1);
  const place = (from: BoxFrame, i: number) => {
    position.Set(from.positions[3 * i], from.positions[3 * i + 1], from.positions[3 * i + 2]);
    const at = 4 * i;
    rotation.Set(from.rotations[at], from.rotations[at + 1], from.rotations[at + 2], from.rotations[at + 3]);
  };
  const indexOf = new Map<number, number>();
  const ids = Array.from({ length: count }, (_, i) => {
    place({ positions, rotations } as BoxFrame, i);
    const settings = new jolt.BodyCreationSettings(shape, position, rotation, jolt.EMotionType_Kinematic, 0);
    settings.mIsSensor = true;
    settings.mCollideKinematicVsNonDynamic = true;
    settings.mAllowSleeping = false;
    const body = interfaceOf.CreateBody(settings);
    jolt.destroy(settings);
    interfaceOf.AddBody(body.GetID(), jolt.EActivation_Activate);
    indexOf.set(jolt.getPointer(body), i);
    return body.GetID();
  });
  system.OptimizeBroadPhase();

  // Pairs as two indices each.
  const pairs: number[] = [];
  const depths: number[] = [];
  const take = (a: number, b: number, manifold: number) => {
    pairs.push(indexOf.get(a)!, indexOf.get(b)!);
    depths.push(jolt.HEAPF32[(manifold >> 2) + DEPTH]);
  };
  const listener = new jolt.ContactListenerJS();
  listener.OnContactValidate = () => jolt.ValidateResult_AcceptAllContactsForThisBodyPair;
  listener.OnContactAdded = take;
  listener.OnContactPersisted = take;
  listener.OnContactRemoved = () => {};
  system.SetContactListener(listener);

  return {
    name: 'Jolt sensors',
    run(round) {
      const frame = frameOfRound(frames, round);
      pairs.length = 0;
      depths.length = 0;
      for (let i = 0; i < count; i++) {
        place(frame, i);
        interfaceOf.SetPositionAndRotation(ids[i], position, rotation, jolt.EActivation_DontActivate);
      }
      simulation.Step(1 / 60, 1);
    },
    checksum: () =>
      manifoldChecksum(
        depths.length,
        (i) => [pairs[2 * i], pairs[2 * i + 1]],
        (i) => depths[i],
      ),
    close: () => jolt.destroy(simulation),
  };
}

function settingsOf(jolt: Awaited<ReturnType<typeof initJolt>>, count: number) {
  const settings = new jolt.JoltSettings();
  settings.mMaxBodies = count + 1;
  settings.mMaxBodyPairs = 4 * count + 64;
  settings.mMaxContactConstraints = 2 * count + 64;
  const objects = new jolt.ObjectLayerPairFilterTable(1);
  objects.EnableCollision(0, 0);
  const broad = new jolt.BroadPhaseLayerInterfaceTable(1, 1);
  broad.MapObjectToBroadPhaseLayer(0, new jolt.BroadPhaseLayer(0));
  settings.mObjectLayerPairFilter = objects;
  settings.mBroadPhaseLayerInterface = broad;
  settings.mObjectVsBroadPhaseLayerFilter = new jolt.ObjectVsBroadPhaseLayerFilterTable(broad, 1, objects, 1);
  return settings;
}
