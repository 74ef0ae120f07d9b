// What fiber guarantees of its events, with the rays in the worker.
import type { ThreeEvent } from '@react-three/fiber';
import type { ReactNode } from 'react';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, type Object3D } from 'three';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CENTER, CORNER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(() => {
  unmountAll();
  vi.restoreAllMocks();
});

type Props = Record<string, unknown>;

function Box(props: Props): ReactNode {
  return (
    <mesh {...props}>
      <boxGeometry args={[2, 2]} />
      <meshBasicMaterial />
    </mesh>
  );
}

const box = (): Mesh => new Mesh(new BoxGeometry(2, 2), new MeshBasicMaterial());

describe('handlers', () => {
  test('of a pointer that goes down on a mesh, and not beside it', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />);
    await stage.fire('pointerdown', CORNER);
    expect(onPointerDown).not.toHaveBeenCalled();
    const native = await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
    const [event] = onPointerDown.mock.calls[0] as [ThreeEvent<PointerEvent>];
    expect(event.nativeEvent).toBe(native);
    expect(event.distance).toBeCloseTo(4.5, 5);
    expect(event.point.z).toBeCloseTo(0.5, 5);
    expect([event.offsetX, event.offsetY, event.pointerId]).toEqual([...CENTER, 1]);
    expect(event.pointer.x).toBeCloseTo(0, 6);
  });

  test.each([
    ['click', 'onClick'],
    ['contextmenu', 'onContextMenu'],
    ['dblclick', 'onDoubleClick'],
  ])('of %s, on what the pointer went down on', async (type, name) => {
    const handler = vi.fn();
    const stage = await mount(<Box {...{ [name]: handler }} />);
    await stage.fire(type, CENTER);
    expect(handler).not.toHaveBeenCalled();
    await stage.fire('pointerdown', CENTER);
    await stage.fire(type, CENTER);
    expect(handler).toHaveBeenCalledOnce();
    expect(handler.mock.calls[0][0].delta).toBe(0);
  });

  test('of a wheel and of a pointer that goes up', async () => {
    const [onWheel, onPointerUp] = [vi.fn(), vi.fn()];
    const stage = await mount(<Box onWheel={onWheel} onPointerUp={onPointerUp} />);
    await stage.fire('wheel', CENTER, { deltaY: 7 });
    await stage.fire('pointerup', CENTER);
    expect(onWheel.mock.calls[0][0].deltaY).toBe(7);
    expect(onPointerUp).toHaveBeenCalledOnce();
  });

  test('of a pointer that comes, moves and goes', async () => {
    const calls: string[] = [];
    const named = (name: string) => ({ [name]: () => calls.push(name) });
    const names = ['onPointerOver', 'onPointerEnter', 'onPointerMove', 'onPointerOut', 'onPointerLeave'];
    const stage = await mount(<Box {...Object.assign({}, ...names.map(named))} />);
    await stage.fire('pointermove', CENTER);
    expect(calls).toEqual(['onPointerOver', 'onPointerEnter', 'onPointerMove']);
    await stage.fire('pointermove', CENTER);
    expect(calls.slice(3)).toEqual(['onPointerMove']);
    await stage.fire('pointermove', CORNER);
    expect(calls.slice(4)).toEqual(['onPointerOut', 'onPointerLeave']);
  });

  test.each(['pointerleave', 'pointercancel'])('of a pointer that leaves the canvas by %s', async (type) => {
    const onPointerOut = vi.fn();
    const stage = await mount(<Box onPointerOut={onPointerOut} />);
    await stage.fire('pointermove', CENTER);
    stage.target.dispatchEvent(new PointerEvent(type, { pointerId: 1 }));
    await stage.fire('wheel', CORNER);
    expect(onPointerOut).toHaveBeenCalledOnce();
  });

  test('of a primitive and of what is around it', async () => {
    const [outer, inner] = [vi.fn(), vi.fn()];
    const object = new Group().add(box());
    const stage = await mount(
      <group onPointerDown={outer}>
        <primitive object={object} onPointerDown={inner} />
      </group>,
    );
    await stage.fire('pointerdown', CENTER);
    expect(inner).toHaveBeenCalledOnce();
    expect(outer).toHaveBeenCalledOnce();
    expect(inner.mock.invocationCallOrder[0]).toBeLessThan(outer.mock.invocationCallOrder[0]);
  });

  test('on a canvas that is not in the corner of the page', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />);
    stage.host.style.left = '100px';
    stage.host.style.top = '100px';
    await stage.fire('pointerdown', [CENTER[0] + 100, CENTER[1] + 100]);
    expect(onPointerDown).toHaveBeenCalledOnce();
    expect(onPointerDown.mock.calls[0][0].point.x).toBeCloseTo(0, 5);
  });
});

describe('a miss', () => {
  test('is told of to what was not clicked, with the native event', async () => {
    const [onClick, onPointerMissed] = [vi.fn(), vi.fn()];
    const stage = await mount(<Box onClick={onClick} onPointerMissed={onPointerMissed} />);
    const event = await stage.fire('click', CORNER);
    expect(onClick).not.toHaveBeenCalled();
    expect(onPointerMissed).toHaveBeenCalledOnce();
    expect(onPointerMissed.mock.calls[0][0]).toBe(event);
  });

  test('is not told of to what was clicked', async () => {
    const [onClick, onPointerMissed] = [vi.fn(), vi.fn()];
    const stage = await mount(<Box onClick={onClick} onPointerMissed={onPointerMissed} />);
    await stage.click(CENTER);
    expect(onClick).toHaveBeenCalledOnce();
    expect(onPointerMissed).not.toHaveBeenCalled();
  });

  test('is not told of to a parent of what was clicked', async () => {
    const [onClick, onPointerMissed] = [vi.fn(), vi.fn()];
    const stage = await mount(
      <group onPointerMissed={onPointerMissed}>
        <Box onClick={onClick} />
      </group>,
    );
    await stage.click(CENTER);
    expect(onClick).toHaveBeenCalledOnce();
    expect(onPointerMissed).not.toHaveBeenCalled();
  });

  test('is told of to the canvas', async () => {
    const onPointerMissed = vi.fn();
    const stage = await mount(<Box />, { props: { onPointerMissed } });
    const event = await stage.fire('click', CORNER);
    expect(onPointerMissed.mock.calls).toEqual([[event]]);
  });
});

describe('stopPropagation', () => {
  test('keeps a hover from what is behind', async () => {
    const [front, back, onPointerLeave] = [vi.fn((event) => event.stopPropagation()), vi.fn(), vi.fn()];
    const stage = await mount(
      <>
        <Box onPointerEnter={back} />
        <Box position-z={3} onPointerEnter={front} onPointerLeave={onPointerLeave} />
      </>,
    );
    await stage.fire('pointermove', CENTER);
    await stage.fire('pointermove', CENTER);
    expect(front).toHaveBeenCalledOnce();
    expect(back).not.toHaveBeenCalled();
    await stage.fire('pointermove', CORNER);
    expect(onPointerLeave).toHaveBeenCalledOnce();
  });

  test('is not needed of what has no handlers, behind which objects hear as well', async () => {
    const calls: string[] = [];
    const onPointerEnter = (event: ThreeEvent<PointerEvent>): void => {
      event.stopPropagation();
      calls.push('enter');
    };
    const stage = await mount(
      <>
        <Box onPointerEnter={onPointerEnter} onPointerLeave={() => calls.push('leave')} />
        <Box position-z={3} />
      </>,
    );
    await stage.fire('pointermove', CENTER);
    expect(calls).toEqual(['enter']);
    await stage.fire('pointermove', CORNER);
    expect(calls).toEqual(['enter', 'leave']);
  });

  test('keeps a click from what is behind', async () => {
    const [front, back] = [vi.fn((event) => event.stopPropagation()), vi.fn()];
    const stage = await mount(
      <>
        <Box onClick={front} />
        <Box onClick={back} position-z={-3} />
      </>,
    );
    await stage.click(CENTER);
    expect(front).toHaveBeenCalledOnce();
    expect(back).not.toHaveBeenCalled();
  });
});

describe('an object that React makes anew', () => {
  test('is what is clicked, where a primitive has another object', async () => {
    const onClick = vi.fn();
    const [first, second] = [box(), box()];
    const stage = await mount(<primitive object={first} onClick={onClick} />);
    await stage.render(<primitive object={second} onClick={onClick} />);
    await stage.click(CENTER);
    expect(onClick).toHaveBeenCalledOnce();
    expect(onClick.mock.calls[0][0].eventObject).toBe(second);
  });

  const geometry = new BoxGeometry(2, 2);
  const [materialA, materialB] = [new MeshBasicMaterial(), new MeshBasicMaterial()];

  test('is what is clicked at once, where its arguments are others', async () => {
    const onClick = vi.fn();
    const stage = await mount(<mesh args={[geometry, materialA]} onClick={onClick} />);
    await stage.render(<mesh args={[geometry, materialB]} onClick={onClick} />);
    await stage.click(CENTER);
    expect(onClick).toHaveBeenCalledOnce();
    expect((onClick.mock.calls[0][0].eventObject as Mesh).material).toBe(materialB);
  });

  test('is still hovered', async () => {
    const [onPointerEnter, onPointerLeave, onPointerMove] = [vi.fn(), vi.fn(), vi.fn()];
    const handlers = { onPointerEnter, onPointerLeave, onPointerMove };
    const stage = await mount(<mesh args={[geometry, materialA]} {...handlers} />);
    await stage.fire('pointermove', CENTER);
    await stage.render(<mesh args={[geometry, materialB]} {...handlers} />);
    await stage.fire('pointermove', CENTER);
    expect(onPointerMove).toHaveBeenCalledTimes(2);
    expect(onPointerEnter).toHaveBeenCalledOnce();
    expect(onPointerLeave).not.toHaveBeenCalled();
  });

  test.each(['itself', 'a child'])('keeps the capture: %s', async (which) => {
    const onPointerMove = vi.fn();
    const capture = {
      onPointerDown: (event: ThreeEvent<PointerEvent>) => (event.target as Element).setPointerCapture(event.pointerId),
      onPointerMove,
    };
    const scene = (material: MeshBasicMaterial): ReactNode =>
      which === 'itself' ? (
        <mesh args={[geometry, material]} {...capture} />
      ) : (
        <group {...capture}>
          <mesh args={[geometry, material]} />
        </group>
      );
    const stage = await mount(scene(materialA));
    await stage.fire('pointerdown', CENTER, { pointerId: 77 });
    await stage.render(scene(materialB));
    await stage.fire('pointermove', CORNER, { pointerId: 77 });
    expect(onPointerMove).toHaveBeenCalledOnce();
    const { object } = onPointerMove.mock.calls[0][0] as { object: Mesh };
    expect(object.material).toBe(materialB);
  });
});

describe('capture', () => {
  const pointerId = 1234;
  const init = { pointerId };

  function handlers(releases: boolean) {
    return {
      onPointerDown: vi.fn((event) => event.target.setPointerCapture(event.pointerId)),
      onPointerMove: vi.fn(),
      ...(releases && { onPointerUp: vi.fn((event) => event.target.releasePointerCapture(event.pointerId)) }),
      onPointerEnter: vi.fn(),
      onPointerLeave: vi.fn(),
    };
  }

  test('ends when what has it is unmounted', async () => {
    const props = handlers(false);
    const stage = await mount(<Box {...props} />);
    const set = vi.spyOn(stage.canvas, 'setPointerCapture').mockImplementation(() => {});
    const release = vi.spyOn(stage.canvas, 'releasePointerCapture').mockImplementation(() => {});
    await stage.fire('pointerdown', CENTER, init);
    expect(set.mock.calls).toEqual([[pointerId]]);
    expect(release).not.toHaveBeenCalled();
    await stage.render(null);
    expect(release.mock.calls).toEqual([[pointerId]]);
    await stage.fire('pointermove', CENTER, init);
    expect(props.onPointerMove).not.toHaveBeenCalled();
  });

  test('keeps a pointer that is elsewhere from leaving, until it is released', async () => {
    const props = handlers(true);
    const stage = await mount(<Box {...props} />);
    await stage.fire('pointermove', CENTER, init);
    await stage.fire('pointerdown', CENTER, init);
    await stage.fire('pointermove', [-10_000, -10_000], init);
    expect(props.onPointerMove).toHaveBeenCalledTimes(2);
    expect(props.onPointerLeave).not.toHaveBeenCalled();
    await stage.fire('pointermove', CENTER, init);
    expect(props.onPointerMove).toHaveBeenCalledTimes(3);
    await stage.fire('pointerup', CENTER, init);
    stage.canvas.dispatchEvent(new PointerEvent('lostpointercapture', { pointerId, bubbles: true }));
    await new Promise(requestAnimationFrame);
    expect(props.onPointerLeave).not.toHaveBeenCalled();
    await stage.fire('pointermove', [-10_000, -10_000], init);
    expect(props.onPointerEnter).toHaveBeenCalledOnce();
    expect(props.onPointerLeave).toHaveBeenCalledOnce();
  });

  test('ends with a pointer that went up before its handler had captured it', async () => {
    const props = handlers(false);
    const stage = await mount(<Box {...props} />);
    stage.dispatch('pointermove', CENTER, init);
    stage.dispatch('pointerdown', CENTER, init);
    stage.dispatch('pointerup', CORNER, init);
    await stage.settle();
    expect(props.onPointerDown).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(stage.state.internal.capturedMap.size).toBe(0)); // in the next frame, as in fiber
    await stage.fire('pointermove', CORNER, init);
    expect(props.onPointerLeave).toHaveBeenCalledOnce();
    expect(props.onPointerMove).toHaveBeenCalledOnce();
  });

  test('is told of by an event that is dispatched again, wherever it says that it is', async () => {
    const props = handlers(true);
    const stage = await mount(<Box {...props} />);
    const [inside, outside] = [CENTER, [-10_000, -10_000]].map(([offsetX, offsetY]) => {
      const event = new PointerEvent('pointermove', { pointerId });
      // As fiber's own tests do it.
      Object.defineProperty(event, 'offsetX', { get: () => offsetX });
      Object.defineProperty(event, 'offsetY', { get: () => offsetY });
      return event;
    });
    const heard = (moves: number, enters: number, leaves: number) => {
      return vi.waitFor(() => {
        const { onPointerMove, onPointerEnter, onPointerLeave } = props;
        const all = [onPointerMove, onPointerEnter, onPointerLeave].map(({ mock }) => mock.calls.length);
        expect(all).toEqual([moves, enters, leaves]);
      }, 10_000);
    };
    stage.target.dispatchEvent(inside);
    await heard(1, 1, 0);
    await stage.fire('pointerdown', CENTER, init);
    stage.target.dispatchEvent(outside);
    await heard(2, 1, 0);
    stage.target.dispatchEvent(inside);
    await heard(3, 1, 0);
    await stage.fire('pointerup', CENTER, init);
    stage.target.dispatchEvent(outside);
    await heard(3, 1, 1);
  });

  test('is lost where the browser says so', async () => {
    const props = handlers(false);
    const stage = await mount(<Box {...props} />);
    await stage.fire('pointerdown', CENTER, init);
    const names = (object: Object3D): boolean => stage.state.internal.capturedMap.get(pointerId)?.has(object) ?? false;
    expect(names(stage.state.scene.children[0])).toBe(true);
    stage.canvas.dispatchEvent(new PointerEvent('lostpointercapture', { pointerId, bubbles: true }));
    await vi.waitFor(() => expect(stage.state.internal.capturedMap.size).toBe(0), 10_000);
  });
});
