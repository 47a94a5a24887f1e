import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { PointBatchBuilder } from '../point-batch.ts';
import type { TapMessage } from '../running-task.ts';
import type { HttpRequest, HttpResponse } from '../services.ts';
import { createTask } from '../task.ts';
import { silentServices } from '../testing/silent-services.ts';
import { VirtualTimers } from '../timers.ts';

/** A provider that remembers one count and every request. */
class Provider {
  readonly requests: string[] = [];
  replicas = 2;
  readonly #answer: (provider: Provider, request: HttpRequest) => string;

  constructor(answer: (provider: Provider, request: HttpRequest) => string) {
    this.#answer = answer;
  }

  send(request: HttpRequest): Promise<HttpResponse> {
    this.requests.push(`${request.method} ${request.url}`);
    return Promise.resolve({ status: 200, body: this.#answer(this, request) });
  }
}

const kubernetes = (): Provider =>
  new Provider((provider, { method, body }) => {
    if (method === 'PUT') {
      provider.replicas = (JSON.parse(body) as { spec: { replicas: number } }).spec.replicas;
    }
    return JSON.stringify({ kind: 'Scale', spec: { replicas: provider.replicas } });
  });

const swarm = (): Provider =>
  new Provider((provider, { method, body }) => {
    type Spec = { Mode: { Replicated: { Replicas: number } } };
    if (method === 'POST') provider.replicas = (JSON.parse(body) as Spec).Mode.Replicated.Replicas;
    const Mode = { Replicated: { Replicas: provider.replicas } };
    return JSON.stringify({ ID: 'id1', Version: { Index: 7 }, Spec: { Name: 'web', Mode } });
  });

const ec2 = (): Provider =>
  new Provider((provider, { body }) => {
    const wanted = new URLSearchParams(body).get('DesiredCapacity');
    if (wanted !== null) provider.replicas = Number(wanted);
    return `<R><DesiredCapacity>${provider.replicas}</DesiredCapacity></R>`;
  });

async function run(chain: string, provider: Provider, loads: readonly number[]): Promise<unknown> {
  const { pipeline, error } = buildPipeline(`stream|from().groupBy('app')${chain}`);
  if (pipeline === undefined) throw new Error(error?.text);
  const services = silentServices({
    http: { send: (request) => provider.send(request), endpoint: () => undefined },
    scalerCluster: () => ({ url: 'http://api', headers: {}, namespace: 'prod' }),
  });
  const clock = {
    now: () => 0n,
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const task = createTask(pipeline, services, {
    taskId: 't',
    clock,
    timers: new VirtualTimers(0n),
  });
  const changes: unknown[] = [];
  task.tap(pipeline.nodes.at(-1)?.name ?? '', (message: TapMessage) => {
    if (message.kind !== 'point') return;
    const { fields, tags } = message.point;
    changes.push([fields.get('old'), fields.get('new'), Object.fromEntries(tags)]);
  });
  await task.start();
  const builder = new PointBatchBuilder('d', 'r');
  loads.forEach((load, i) =>
    builder.add({
      name: 'm',
      tags: [['app', 'web']],
      fields: [['load', load]],
      time: BigInt(i) * 1_000_000_000n,
    }),
  );
  task.push(builder.build());
  await task.drain();
  const stats = [...task.stats().nodes.values()].at(-1);
  await task.close();
  return {
    changes,
    counts: [stats?.['increase_events'], stats?.['decrease_events'], stats?.['cooldown_drops']],
    errors: stats?.errors,
  };
}

const REPLICAS = `.currentField('n').replicas(lambda: if("load" > 10.0, "n" + 2, "n" - 1)).min(1).max(5)`;

test('kubernetes: replicas follow the expression within their limits', async () => {
  const provider = kubernetes();

  const result = await run(
    `|k8sAutoscale().resourceNameTag('app')${REPLICAS}`,
    provider,
    [20, 20, 20, 1],
  );

  const tags = { app: 'web', namespace: '', kind: 'deployments', resource: 'web' };
  expect(result).toEqual({
    changes: [
      [2n, 4n, tags],
      [4n, 5n, tags],
      [5n, 4n, tags],
    ],
    counts: [2, 1, 0],
    errors: 0,
  });
  expect(provider.requests[0]).toBe(
    'GET http://api/apis/apps/v1/namespaces/prod/deployments/web/scale',
  );
});

test('swarm: changes wait for the cooldown', async () => {
  const provider = swarm();

  const result = await run(
    `|swarmAutoscale().serviceName('web')${REPLICAS}.increaseCooldown(2s)`,
    provider,
    [20, 20, 20],
  );

  expect(result).toMatchObject({ counts: [2, 0, 1], errors: 0 });
  expect(provider.requests).toContain('POST http://api/services/id1/update?version=7');
});

test('ec2: the desired capacity is set', async () => {
  const provider = ec2();

  const result = await run(`|ec2Autoscale().groupName('g')${REPLICAS}`, provider, [20]);

  expect(result).toMatchObject({ counts: [1, 0, 0], errors: 0 });
  expect(provider.replicas).toBe(4);
});

test('a provider that fails is an error of the node, and the next point tries again', async () => {
  const provider = new Provider(() => 'not json');

  const result = await run(`|k8sAutoscale().resourceName('web')${REPLICAS}`, provider, [20, 20]);

  expect(result).toEqual({ changes: [], counts: [0, 0, 0], errors: 2 });
});
