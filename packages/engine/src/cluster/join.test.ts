// Moving a single engine's directory into a cluster that has work of its own.
import { systemClock } from '@tidemark/core';
import { eventually, hasPrograms, TestServer } from '@tidemark/testkit';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { COUNTING, countedBy, TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { joinCluster } from './join.ts';
import type { JoinResult } from './join.ts';

describe.runIf(hasPrograms('nats-server'))('a single engine that joins a cluster', () => {
  let cluster: TestCluster;
  let single: TestEngine;
  let receiver: TestServer;
  beforeEach(async () => {
    cluster = await TestCluster.open();
    single = new TestEngine();
    receiver = new TestServer();
    await receiver.open();
  });
  afterEach(async () => {
    await single.close();
    await cluster.close();
    await receiver.close();
  });

  const told: string[] = [];
  const join = (): Promise<JoinResult> => {
    const { config } = resolveEngineConfig([
      {
        source: 'test',
        values: {
          'secrets-key': 'env:KEY',
          cluster: { enabled: true, coordinator: [cluster.coordinator.url], lease: '3s' },
        },
      },
    ]);
    return joinCluster({
      config,
      from: single.directory,
      fromKey: '',
      environment: { KEY: 'k'.repeat(32) },
      clock: systemClock(),
      onProgress: (message) => void told.push(message),
    });
  };

  test('brings definitions, states, levels, handlers, overrides and recordings', async () => {
    await single.start();
    await single.startTask('counting', COUNTING);
    const alert = `stream|from().measurement('m')|alert().id('hot').crit(lambda: "v" > 10).stateChangesOnly().topic('t')`;
    await single.startTask('hot', alert);
    await single.call('POST', '/engine/v1preview/alerts/topics/t/handlers', {
      id: 'h',
      kind: 'post',
      options: { url: receiver.url },
    });
    const changed = await single.call('POST', '/engine/v1/config/smtp/', {
      set: { from: 'single@example.org' },
    });
    expect(changed.status).toBe(200);
    await single.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=20 1000000000\nm v=20 2000000000');
    await receiver.until(() => receiver.requests.length === 1);
    await single.stop();
    const a = await cluster.start();
    await a.engine.startTask('own', COUNTING);

    const { counts, subscriptions } = await join();

    expect(counts).toMatchObject({ task: 2, handler: 1, event: 1 });
    expect(subscriptions).toHaveLength(2);
    expect(told.at(-1)).toBe('an instance goes on with it');
    await a.engine.call(
      'POST',
      '/engine/v1/write?db=d&rp=r',
      'm v=20 3000000000\nm v=1 4000000000',
    );
    // The counters of the state and the level of the event are kept. The write was accepted while
    // no instance led, so tasks receive it later.
    await eventually('the points of the write', async () =>
      (await countedBy(a.engine, 'counting')) >= 4 ? true : undefined,
    );
    expect(await countedBy(a.engine, 'counting')).toBe(4);
    await receiver.until(() => receiver.requests.length === 2);
    const levels = receiver.requests.map(({ body }) => (JSON.parse(body) as any).level);
    expect(levels).toEqual(['CRITICAL', 'OK']);
    const smtp = await a.engine.call('GET', '/engine/v1/config/smtp/');
    expect(smtp.json.options.from).toBe('single@example.org');
    const own = await a.engine.call('GET', '/engine/v1/tasks/own');
    expect(own.json.executing).toBe(true);

    // The folder is one of an instance.
    const values = { data_dir: single.directory };
    const b = await cluster.start(values);
    await a.engine.stop();
    const seen = await b.engine.call('GET', '/engine/v1/tasks/hot');
    expect(seen.json).toMatchObject({ id: 'hot', executing: true });
    await b.engine.stop();
  });

  test('changes nothing when ids conflict, and says which', async () => {
    await single.start();
    await single.startTask('same', 'stream|from()');
    await single.startTask('other', 'stream|from()');
    await single.stop();
    const a = await cluster.start();
    await a.engine.startTask('same', `stream|from().measurement('x')`);

    await expect(join()).rejects.toThrow(
      'the cluster has others of the same name: task same. Nothing was changed; rename or delete them on one side',
    );

    const { json } = await a.engine.call('GET', '/engine/v1/tasks?fields=script');
    expect(json.tasks.map(({ id }: any) => id)).toEqual(['same']);
    await single.start();
    const kept = await single.call('GET', '/engine/v1/tasks');
    expect(kept.json.tasks.map(({ id }: any) => id)).toEqual(['other', 'same']);
    await expect(join()).rejects.toThrow('is in use by process');
  });
});
