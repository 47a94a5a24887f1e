// How a join on some tags treats points that still wait when its task is disabled: a join with
// all tags emits them then, this one has nobody to pair them with any more.
import { eventually } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, expect, test } from 'vitest';

const engine = new TestEngine();

afterEach(() => engine.close());

const LINES = ['a,h=1,k=1 v=1 1', 'b,h=1,k=1 v=2 1', 'b,h=1,k=2 v=3 10', 'b,h=1,k=3 v=4 20'];

function scriptOf(groups: string, on: string): string {
  return `
var a = stream|from().measurement('a').groupBy(${groups})
var b = stream|from().measurement('b').groupBy('h', 'k')
a|join(b).as('x', 'y')${on}.fill(0.0)
  |alert().id('{{ index .Tags "k" }}').crit(lambda: TRUE).topic('joined')`;
}

/** Tags of what was joined, each once. */
async function joined(): Promise<readonly string[]> {
  const path = '/engine/v1preview/alerts/topics/joined/events';
  const { json } = await engine.call('GET', path);
  return (json.events ?? []).map(({ id }: { readonly id: string }) => id);
}

/** The last two points have no counterpart yet. */
async function disableWhileWaiting(script: string): Promise<void> {
  await engine.start();
  await engine.startTask('j', script);
  await engine.call('POST', '/engine/v1/write?db=d&rp=r&precision=s', LINES.join('\n'));
  await eventually('the pair is joined', async () =>
    (await joined()).includes('1') ? true : undefined,
  );
  const { status, json } = await engine.call('PATCH', '/engine/v1/tasks/j', { status: 'disabled' });
  expect([status, json.executing]).toEqual([200, false]);
}

test('a disabled join().on().fill() emits nothing of what waits', async () => {
  await disableWhileWaiting(scriptOf("'h'", ".on('h')"));

  expect(await joined()).toEqual(['1']);
});

test('a disabled join().fill() emits what waits', async () => {
  await disableWhileWaiting(scriptOf("'h', 'k'", ''));

  expect(await joined()).toEqual(['1', '2', '3']);
});
