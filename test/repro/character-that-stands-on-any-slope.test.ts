// A character that may stand on any slope, up to π / 2, walks along a vertical wall: it does not rise up a wall that leans back by
// rounding alone.
import type { Shape } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { addFloor, CAPSULE, RADIUS, service, walk, withService } from '../fixtures/character-stage.js';

withService();

const walls: Record<string, [Shape, Matrix4]> = {
  upright: [{ type: 'box', halfExtents: [0.25, 3, 3] }, new Matrix4()],
  turned: [{ type: 'box', halfExtents: [3, 0.25, 3] }, new Matrix4().makeRotationZ(Math.PI / 2)],
  lying: [{ type: 'box', halfExtents: [0.25, 3, 3] }, new Matrix4().makeRotationX(Math.PI / 2)],
};

test.each(Object.keys(walls))('it meets a wall that is %s', async (name) => {
  const [shape, turn] = walls[name];
  addFloor();
  for (const angle of [0, 0.4, 1, 2.5, 5]) {
    const yaw = new Matrix4().makeRotationY(angle);
    const matrix = yaw
      .clone()
      .multiply(new Matrix4().makeTranslation(2, 0, 0))
      .multiply(turn).elements;
    const wall = service.addObject({ shape, matrix, contacts: 'none' });
    for (const stepHeight of [0, RADIUS]) {
      const character = service.createCharacter({
        shape: CAPSULE,
        slope: Math.PI / 2,
        stepHeight,
        position: [0, 0.05, 0],
      });
      const velocity = new Vector3(3, 0, 0.5).applyMatrix4(yaw);
      for (let i = 0; i < 60; i++) {
        const [, y] = await walk(character, [velocity.x, 0, velocity.z], 1);
        expect(y).toBeLessThan(3 * RADIUS);
      }
      expect(new Vector3(...character.state.position).length()).toBeGreaterThan(1);
      character.remove();
    }
    service.removeObject(wall);
  }
});
