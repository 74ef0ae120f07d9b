import initJolt from 'jolt-physics/wasm-compat';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender, SelfTimedContender } from '../harness.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, manifoldChecksum } from '../work/boxes.js';
import { type Level, SETTLING_FRAMES, WALK_TOLERANCE, WALKER, type Walk, walkChecksum } from '../work/level.js';
import { type Sweeps, sweepChecksum } from '../work/ways.js';

/** Layout of a contact manifold in Jolt's memory, in floats: base offset and normal take four each. */
const DEPTH = 8;

/**
 * Kinematic sensor bodies that are set in place, with each contact's depth read when the listener is called: of sensors and solid
 * bodies, with locks and without, none was faster beyond the machine's noise. All simulation is turned off.
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

  const bodyInterface = system.GetBodyInterfaceNoLock();
  const shape = new jolt.BoxShape(new jolt.Vec3(HALF_SIZE, HALF_SIZE, HALF_SIZE), 0);
  const position = new jolt.RVec3(0, 0, 0);
  const rotation = new jolt.Quat(0, 0, 0, 1);
  const setPose = (source: BoxFrame, i: number) => {
    position.Set(source.positions[3 * i], source.positions[3 * i + 1], source.positions[3 * i + 2]);
    const at = 4 * i;
    rotation.Set(source.rotations[at], source.rotations[at + 1], source.rotations[at + 2], source.rotations[at + 3]);
  };
  const indexOf = new Map<number, number>();
  const ids = Array.from({ length: count }, (_, i) => {
    setPose({ positions, rotations } as BoxFrame, i);
    const settings = new jolt.BodyCreationSettings(shape, position, rotation, jolt.EMotionType_Kinematic, 0);
    settings.mIsSensor = true;
    settings.mCollideKinematicVsNonDynamic = true;
    settings.mAllowSleeping = false;
    const body = bodyInterface.CreateBody(settings);
    jolt.destroy(settings);
    bodyInterface.AddBody(body.GetID(), jolt.EActivation_Activate);
    indexOf.set(jolt.getPointer(body), i);
    return body.GetID();
  });
  system.OptimizeBroadPhase();

  // Pairs of two indices each.
  const pairs: number[] = [];
  const depths: number[] = [];
  const recordContact = (a: number, b: number, manifold: number) => {
    pairs.push(indexOf.get(a)!, indexOf.get(b)!);
    depths.push(jolt.HEAPF32[(manifold >> 2) + DEPTH]);
  };
  const listener = new jolt.ContactListenerJS();
  listener.OnContactValidate = () => jolt.ValidateResult_AcceptAllContactsForThisBodyPair;
  listener.OnContactAdded = recordContact;
  listener.OnContactPersisted = recordContact;
  listener.OnContactRemoved = () => {};
  system.SetContactListener(listener);

  return {
    name: 'Jolt sensors',
    run(round) {
      const frame = frameOfRound(frames, round);
      pairs.length = 0;
      depths.length = 0;
      for (let i = 0; i < count; i++) {
        setPose(frame, i);
        bodyInterface.SetPositionAndRotation(ids[i], position, rotation, jolt.EActivation_DontActivate);
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
  const broadPhase = new jolt.BroadPhaseLayerInterfaceTable(1, 1);
  broadPhase.MapObjectToBroadPhaseLayer(0, new jolt.BroadPhaseLayer(0));
  settings.mObjectLayerPairFilter = objects;
  settings.mBroadPhaseLayerInterface = broadPhase;
  settings.mObjectVsBroadPhaseLayerFilter = new jolt.ObjectVsBroadPhaseLayerFilterTable(broadPhase, 1, objects, 1);
  return settings;
}

/**
 * CharacterVirtual as in its manual: ExtendedUpdate, which climbs stairs and sticks to the floor. As with ours, characters do not
 * meet one another.
 */
export async function joltCharacters({ mesh }: Level, walk: Walk): Promise<SelfTimedContender> {
  const jolt = await initJolt();
  const simulation = new jolt.JoltInterface(settingsOf(jolt, TILES * TILES));
  const system = simulation.GetPhysicsSystem();
  const bodies = system.GetBodyInterfaceNoLock();
  const { radius, half, skin, stepHeight, slope, step } = WALKER;

  const noRotation = new jolt.Quat(0, 0, 0, 1);
  const zeroVelocity = new jolt.Vec3(0, 0, 0);
  for (const tile of tilesOf(mesh)) {
    const shape = meshShapeOf(jolt, tile);
    const joltPosition = new jolt.RVec3(0, 0, 0);
    const body = bodies.CreateBody(
      new jolt.BodyCreationSettings(shape, joltPosition, noRotation, jolt.EMotionType_Static, 0),
    );
    bodies.AddBody(body.GetID(), jolt.EActivation_DontActivate);
  }
  system.OptimizeBroadPhase();

  const settings = new jolt.CharacterVirtualSettings();
  settings.mShape = new jolt.CapsuleShape(half, radius);
  settings.mShapeOffset = new jolt.Vec3(0, half + radius, 0);
  settings.mMaxSlopeAngle = slope;
  settings.mCharacterPadding = skin;
  settings.mBackFaceMode = jolt.EBackFaceMode_CollideWithBackFaces;
  const characters = Array.from({ length: walk.count }, () => {
    return new jolt.CharacterVirtual(settings, new jolt.RVec3(0, 0, 0), noRotation, system);
  });
  const updateSettings = new jolt.ExtendedUpdateSettings();
  updateSettings.mStickToFloorStepDown = new jolt.Vec3(0, -stepHeight, 0);
  updateSettings.mWalkStairsStepUp = new jolt.Vec3(0, stepHeight, 0);
  const layers = new jolt.BroadPhaseLayerFilter();
  const objects = new jolt.ObjectLayerFilter();
  const bodyFilter = new jolt.BodyFilter();
  const shapeFilter = new jolt.ShapeFilter();
  const allocator = simulation.GetTempAllocator();
  const gravity = new jolt.Vec3(0, -9.81, 0);
  const velocity = new jolt.Vec3(0, 0, 0);
  const joltPosition = new jolt.RVec3(0, 0, 0);
  const isOnGround = (character: (typeof characters)[number]) =>
    character.GetGroundState() === jolt.EGroundState_OnGround;

  const move = (frame: number | undefined) => {
    for (let i = 0; i < characters.length; i++) {
      const character = characters[i];
      const [x, z] = frame === undefined ? [0, 0] : walk.wayOf(i, frame);
      const fall = isOnGround(character) ? 0 : character.GetLinearVelocity().GetY() - 9.81 * step;
      velocity.Set(x, fall, z);
      character.SetLinearVelocity(velocity);
      character.ExtendedUpdate(step, gravity, updateSettings, layers, objects, bodyFilter, shapeFilter, allocator);
    }
  };
  const settle = () => {
    for (const [i, character] of characters.entries()) {
      joltPosition.Set(walk.starts[3 * i], walk.starts[3 * i + 1], walk.starts[3 * i + 2]);
      character.SetPosition(joltPosition);
      character.SetLinearVelocity(zeroVelocity);
    }
    for (let i = 0; i < SETTLING_FRAMES; i++) move(undefined);
  };
  return {
    name: 'Jolt CharacterVirtual',
    async measure(round) {
      if (round === 0) settle();
      const start = performance.now();
      move(round);
      return performance.now() - start;
    },
    checksum() {
      const groundedCount = characters.filter(isOnGround).length;
      const positionOf = (i: number) => {
        const position = characters[i].GetPosition();
        return [position.GetX(), position.GetY(), position.GetZ()];
      };
      return walkChecksum(walk, positionOf, groundedCount);
    },
    tolerance: WALK_TOLERANCE,
    close: () => jolt.destroy(simulation),
  };
}

/** Tiles along each side of a level: building a single mesh of 500,000 triangles needs more memory than the package has. */
const TILES = 4;

function tilesOf({ positions, indices }: Triangles): Triangles[] {
  const size = positions.reduce((max, each) => Math.max(max, Math.abs(each)), 0) * (1 + 1e-6);
  const tiles = Array.from({ length: TILES * TILES }, (): number[] => []);
  for (let i = 0; i < indices.length; i += 3) {
    const [x, z] = [0, 2].map((axis) => Math.floor(((positions[3 * indices[i] + axis] / size + 1) * TILES) / 2));
    tiles[TILES * x + z].push(indices[i], indices[i + 1], indices[i + 2]);
  }
  return tiles.map((corners) => {
    const vertexIds = [...new Set(corners)];
    const numbers = new Map(vertexIds.map((vertex, i) => [vertex, i]));
    return {
      positions: Float32Array.from(vertexIds.flatMap((vertex) => [...positions.subarray(3 * vertex, 3 * vertex + 3)])),
      indices: Uint32Array.from(corners, (vertex) => numbers.get(vertex)!),
    };
  });
}

function meshShapeOf(jolt: Awaited<ReturnType<typeof initJolt>>, { positions, indices }: Triangles) {
  const vertices = new jolt.VertexList();
  vertices.resize(positions.length / 3);
  jolt.HEAPF32.set(positions, jolt.getPointer(vertices.at(0)) >> 2);
  const triangles = new jolt.IndexedTriangleList();
  triangles.resize(indices.length / 3);
  // Each triangle has a material and user data after its corners.
  const firstAt = jolt.getPointer(triangles.at(0));
  const stride = (jolt.getPointer(triangles.at(1)) - firstAt) >> 2;
  const list = jolt.HEAPU32.subarray(firstAt >> 2);
  for (let i = 0; i < indices.length; i++) list[Math.floor(i / 3) * stride + (i % 3)] = indices[i];
  const materials = new jolt.PhysicsMaterialList();
  const settings = new jolt.MeshShapeSettings(vertices, triangles, materials);
  const shape = settings.Create().Get();
  for (const each of [vertices, triangles, materials, settings]) jolt.destroy(each);
  return shape;
}

/** Casts capsules at a mesh or at boxes, back faces included. */
export async function joltCasts(scene: Triangles | BoxFrame, { radius, half, numbers }: Sweeps): Promise<Contender> {
  const jolt = await initJolt();
  const isMesh = 'indices' in scene;
  const count = isMesh ? 1 : scene.positions.length / 3;
  const simulation = new jolt.JoltInterface(settingsOf(jolt, count));
  const system = simulation.GetPhysicsSystem();
  const bodyInterface = system.GetBodyInterfaceNoLock();
  const shape = isMesh
    ? meshShapeOf(jolt, scene)
    : new jolt.BoxShape(new jolt.Vec3(HALF_SIZE, HALF_SIZE, HALF_SIZE), 0);
  const position = new jolt.RVec3(0, 0, 0);
  const rotation = new jolt.Quat(0, 0, 0, 1);
  for (let i = 0; i < count; i++) {
    if (!isMesh) {
      const { positions: p, rotations: q } = scene;
      position.Set(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
      rotation.Set(q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]);
    }
    const settings = new jolt.BodyCreationSettings(shape, position, rotation, jolt.EMotionType_Static, 0);
    bodyInterface.AddBody(bodyInterface.CreateBody(settings).GetID(), jolt.EActivation_DontActivate);
    jolt.destroy(settings);
  }
  system.OptimizeBroadPhase();

  const query = system.GetNarrowPhaseQuery();
  const settings = new jolt.ShapeCastSettings();
  settings.mBackFaceModeTriangles = jolt.EBackFaceMode_CollideWithBackFaces;
  settings.mBackFaceModeConvex = jolt.EBackFaceMode_CollideWithBackFaces;
  const collector = new jolt.CastShapeClosestHitCollisionCollector();
  const [broadPhase, layers] = [new jolt.BroadPhaseLayerFilter(), new jolt.ObjectLayerFilter()];
  const [bodies, shapes] = [new jolt.BodyFilter(), new jolt.ShapeFilter()];
  const capsule = new jolt.CapsuleShape(half, radius);
  const scale = new jolt.Vec3(1, 1, 1);
  const displacement = new jolt.Vec3(0, 0, 0);
  const base = new jolt.RVec3(0, 0, 0);
  const times = new Float64Array(numbers.length / 14);
  return {
    name: 'Jolt CastShape',
    run() {
      for (let i = 0, k = 0; i < times.length; i++, k += 14) {
        position.Set(numbers[k], numbers[k + 1], numbers[k + 2]);
        rotation.Set(numbers[k + 3], numbers[k + 4], numbers[k + 5], numbers[k + 6]);
        displacement.Set(numbers[k + 7] - numbers[k], numbers[k + 8] - numbers[k + 1], numbers[k + 9] - numbers[k + 2]);
        const cast = new jolt.RShapeCast(
          capsule,
          scale,
          jolt.RMat44.prototype.sRotationTranslation(rotation, position),
          displacement,
        );
        collector.Reset();
        query.CastShape(cast, settings, base, collector, broadPhase, layers, bodies, shapes);
        times[i] = collector.HadHit() ? Math.max(collector.mHit.mFraction, 0) : Number.POSITIVE_INFINITY;
        jolt.destroy(cast);
      }
    },
    checksum: (part) => sweepChecksum(times, part),
    tolerance: { of: { hits: 0.01, times: 0.03 }, because: 'it is in float32 and iterates to a tolerance of its own' },
    close: () => jolt.destroy(simulation),
  };
}
