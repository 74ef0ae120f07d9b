import { Canvas, type RootState, useFrame, useThree } from '@react-three/fiber';
import { collisionEvents, useCollision, useContact } from 'collision-worker/react';
import { memo, type ReactNode, StrictMode, useEffect, useRef, useState } from 'react';
import { type Mesh, type Object3D, SphereGeometry, TorusKnotGeometry } from 'three';
import { showStats } from '../page.js';
import { showError } from '../panel.js';
import type { Quality } from '../quality.js';
import { BACKGROUND, TEXT_WIDTH } from '../scenery.js';

/** Knots along each direction. */
const ROWS = 18;
const SPACING = 1.5;
const BALL_RADIUS = 1.1;
/** Distance from the centre to the outermost knots. */
const OUTER_DISTANCE = (ROWS / 2) * SPACING;
/** Radians. */
const FIELD_OF_VIEW = Math.PI / 4;
/** Angular speed of the ball on its path, in radians per second. */
const ANGULAR_SPEED = 0.35;

/** State of the page, which tests read. */
export interface Figures {
  /** Names of the objects that the pointer has entered, the latest last. */
  hovered: string[];
  selected: string[];
  /** The names that the ball touches now. */
  touched: string[];
  /** Whether the ball is moving. */
  rolls: boolean;
  /** Returns fiber's own state. */
  state: (() => RootState) | null;
}

interface AppProps {
  quality: Quality;
  figures: Figures;
  onChange(): void;
  onProgress(fraction: number): void;
  onReady(): void;
}

interface ThingProps {
  figures: Figures;
  onChange(): void;
}

/** Several hundred knots with event props, and a ball that rolls through them. */
export const App = memo(function App({ quality, figures, onChange, onProgress, onReady }: AppProps): ReactNode {
  const isHigh = quality === 'high';
  const [knot] = useState(() => new TorusKnotGeometry(0.36, 0.13, isHigh ? 160 : 48, isHigh ? 20 : 6));
  // #region code
  // Created once: a new function would be a new event manager.
  const [events] = useState(() => collisionEvents({ track: { contacts: 'none', onProgress }, onError: showError }));
  // #endregion
  return (
    <StrictMode>
      <Canvas
        events={events}
        dpr={isHigh ? [1, 2] : 1}
        gl={{ antialias: isHigh }}
        camera={{ fov: (180 / Math.PI) * FIELD_OF_VIEW }}
      >
        <color attach="background" args={[BACKGROUND]} />
        <hemisphereLight args={[0xbcd0f2, 0x2c2622, 1.5]} />
        <directionalLight args={[0xfff1dc, 2.5]} position={[-6, 12, 9]} />
        <directionalLight args={[0x9fc4ff, 1]} position={[8, 5, -10]} />
        <group collision={{ contacts: 'any', motion: 'static', group: 1 }}>
          {Array.from({ length: ROWS * ROWS }, (_, i) => (
            <Knot key={i} index={i} geometry={knot} figures={figures} onChange={onChange} />
          ))}
        </group>
        <Ball figures={figures} onChange={onChange} />
        <CameraRig figures={figures} onReady={onReady} />
      </Canvas>
    </StrictMode>
  );
});

/** A knot that is highlighted under the pointer, and stays highlighted after a click. */
function Knot({ index, geometry, figures, onChange }: ThingProps & { index: number; geometry: TorusKnotGeometry }) {
  const name = `knot ${index}`;
  const [isHovered, setHovered] = useState(false);
  const [isSelected, setSelected] = useState(false);
  const [column, row] = [index % ROWS, Math.floor(index / ROWS)];
  return (
    <mesh
      name={name}
      geometry={geometry}
      position={[(column - (ROWS - 1) / 2) * SPACING, 0, (row - (ROWS - 1) / 2) * SPACING]}
      rotation={[1.2 * column, 0.7 * row, 0]}
      // #region code
      onPointerOver={(event) => {
        event.stopPropagation();
        setHovered(true);
        figures.hovered.push(name);
        onChange();
      }}
      onPointerOut={() => {
        setHovered(false);
        figures.hovered = figures.hovered.filter((each) => each !== name);
        onChange();
      }}
      // #endregion
      onClick={(event) => {
        event.stopPropagation();
        setSelected(!isSelected);
        figures.selected = isSelected ? figures.selected.filter((each) => each !== name) : [...figures.selected, name];
        onChange();
      }}
    >
      <meshLambertMaterial color={isHovered ? '#ffe14d' : isSelected ? '#ff8a3c' : '#4f8fc9'} />
    </mesh>
  );
}

/** Rolls in a circle and highlights the objects that it touches. A sphere stands in for its triangles. */
function Ball({ figures, onChange }: ThingProps): ReactNode {
  const ball = useRef<Mesh>(null);
  const angle = useRef(0);
  const [isHovered, setHovered] = useState(false);
  const [geometry] = useState(() => new SphereGeometry(BALL_RADIUS, 32, 16));
  const events = useThree((state) => state.events);
  useFrame((_, seconds) => {
    if (figures.rolls) angle.current += ANGULAR_SPEED * Math.min(seconds, 0.1);
    ball.current!.position.set(7 * Math.cos(angle.current), 0.6, 7 * Math.sin(angle.current));
    // The pointer may be at rest: fiber raycasts again for the latest event.
    if (figures.rolls) events.update?.();
  });
  const glow = (object: Object3D, isTouched: boolean): void => {
    const { material } = object as Mesh & { material: { emissive: { set(color: string): void } } };
    material.emissive.set(isTouched ? '#a03a00' : '#000000');
    figures.touched = figures.touched.filter((each) => each !== object.name);
    if (isTouched) figures.touched.push(object.name);
    onChange();
  };
  // #region code
  useContact(ball, {
    onContactBegin: ({ b }) => glow(b.object, true),
    onContactEnd: (object) => glow(object, false),
  });
  // #endregion
  return (
    <mesh
      name="ball"
      ref={ball}
      geometry={geometry}
      collision={{ shape: { type: 'sphere', radius: BALL_RADIUS }, contacts: 'any', group: 2 }}
      onPointerOver={(event) => {
        event.stopPropagation();
        setHovered(true);
        figures.hovered.push('ball');
        onChange();
      }}
      onPointerOut={() => {
        setHovered(false);
        figures.hovered = figures.hovered.filter((each) => each !== 'ball');
        onChange();
      }}
    >
      <meshLambertMaterial color={isHovered ? '#ffe14d' : '#dfe6f1'} transparent opacity={0.85} />
    </mesh>
  );
}

/** Points the camera at the knots, next to the texts, and reports when everything is ready. */
function CameraRig({ figures, onReady }: { figures: Figures; onReady(): void }): ReactNode {
  const collision = useCollision();
  const { camera, size, get } = useThree();
  useEffect(() => {
    const { width, height } = size;
    const [left, below] = width > 2.5 * TEXT_WIDTH ? [TEXT_WIDTH / 2, 0] : [0, 0.18 * height];
    // Distance to the nearest row, both ends of which must be in the picture.
    const depth =
      (1.03 * OUTER_DISTANCE * Math.max(Math.SQRT1_2, height / (width - 2 * left))) / Math.tan(FIELD_OF_VIEW / 2);
    const distance = (depth + Math.SQRT1_2 * OUTER_DISTANCE) / (1.5 * Math.SQRT1_2);
    camera.position.set(0, 0.75 * distance, 0.75 * distance);
    camera.lookAt(0, 0, 0);
    if ('setViewOffset' in camera) camera.setViewOffset(width, height, -left, below, width, height);
    camera.updateMatrixWorld();
  }, [camera, size]);
  useEffect(() => {
    figures.state = get;
    collision.tracker.then((tracker) => {
      showStats(tracker);
      onReady();
    }, showError);
  }, [collision, figures, get, onReady]);
  return null;
}
