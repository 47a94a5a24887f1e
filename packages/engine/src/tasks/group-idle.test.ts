// Expiry of idle groups: the setting, through the engine.
import { eventually } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();

afterEach(() => engine.close());

test('a group without points for task.group-idle-timeout is forgotten', async () => {
  await engine.start({ task: { 'group-idle-timeout': '5ms' } });
  const script = "stream|from().groupBy('h')|stateCount(lambda: TRUE)|httpOut('o')";
  const task = { id: 't', status: 'enabled', dbrps: [{ db: 'd', rp: 'r' }], script };
  expect((await engine.call('POST', '/engine/v1/tasks', task)).status).toBe(200);

  expect((await engine.call('POST', '/write?db=d&rp=r', 'm,h=a v=1')).status).toBe(204);

  const stats = await eventually('the end of the group', async () => {
    const { json } = await engine.call('GET', '/engine/v1/tasks/t');
    const node = json.stats['node-stats'].state_count2;
    return node.collected === 1 && node.working_cardinality === 0 ? json.stats : undefined;
  });
  expect(stats['node-stats'].http_out3.working_cardinality).toBe(0);
  expect((await engine.call('GET', '/engine/v1/tasks/t/o')).json).toEqual({ series: [] });
});
