// Autoscale nodes of a running engine against local servers with the providers' HTTP interfaces.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRfc3339 } from '@tidemark/core';
import { TestServer } from '@tidemark/testkit';
import type { ReceivedRequest } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from './config.ts';
import { signRequest } from './scaler-clusters.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

type Answer = { readonly status: number; readonly body: string };

/** A provider that remembers the replicas it is told to run. */
class Provider {
  replicas = 2;
  readonly refused: string[] = [];
  readonly #server: TestServer;

  constructor(answer: (provider: Provider, request: ReceivedRequest) => Answer) {
    this.#server = new TestServer((request) => {
      const given = answer(this, request);
      if (given.status >= 400) this.refused.push(`${request.method} ${request.path}`);
      return given;
    });
  }

  async open(): Promise<string> {
    await this.#server.open();
    return this.#server.url;
  }

  /** Resolves when the condition holds; looked at after every request. */
  until(condition: () => boolean): Promise<void> {
    return this.#server.until(condition);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

const NOT_FOUND: Answer = { status: 404, body: '{"message":"not found"}' };
const json = (value: unknown): Answer => ({ status: 200, body: JSON.stringify(value) });

/** The scale of one deployment. */
function kubernetes(provider: Provider, request: ReceivedRequest): Answer {
  if (request.headers.authorization !== 'Bearer t0ken') return { status: 401, body: '{}' };
  if (request.path === '/version') return json({ major: '1' });
  if (request.path !== '/apis/apps/v1/namespaces/prod/deployments/web/scale') return NOT_FOUND;
  const metadata = { name: 'web', namespace: 'prod', resourceVersion: '7' };
  if (request.method === 'PUT') {
    const wanted = JSON.parse(request.body) as { metadata: unknown; spec: { replicas: number } };
    // A write without the version that was read is refused by the real one.
    if (JSON.stringify(wanted.metadata) !== JSON.stringify(metadata)) {
      return { status: 409, body: '{"reason":"Conflict"}' };
    }
    provider.replicas = wanted.spec.replicas;
  }
  return json({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: provider.replicas },
    status: { replicas: provider.replicas },
  });
}

/** One replicated service. */
function swarm(provider: Provider, request: ReceivedRequest): Answer {
  if (request.path === '/version') return json({ ApiVersion: '1.44' });
  const template = { ContainerSpec: { Image: 'web:1' } };
  if (request.method === 'GET' && request.path === '/services/web') {
    const Mode = { Replicated: { Replicas: provider.replicas } };
    const Spec = { Name: 'web', TaskTemplate: template, Mode };
    return json({ ID: 'id1', Version: { Index: 11 }, Spec });
  }
  if (request.method !== 'POST' || request.path !== '/services/id1/update?version=11') {
    return NOT_FOUND;
  }
  const spec = JSON.parse(request.body) as {
    TaskTemplate?: unknown;
    Mode: { Replicated: { Replicas: number } };
  };
  // An update replaces the whole specification.
  if (JSON.stringify(spec.TaskTemplate) !== JSON.stringify(template)) {
    return { status: 400, body: '{"message":"no task template"}' };
  }
  provider.replicas = spec.Mode.Replicated.Replicas;
  return json({ Warnings: null });
}

/** One auto scaling group. */
function ec2(provider: Provider, request: ReceivedRequest): Answer {
  const signature =
    /^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/eu-west-1\/autoscaling\/aws4_request, SignedHeaders=(?:accept;)?content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/;
  if (!signature.test(request.headers.authorization ?? ''))
    return { status: 403, body: '<Error/>' };
  const parameters = new URLSearchParams(request.body);
  switch (parameters.get('Action')) {
    case 'DescribeAutoScalingGroups':
      if (parameters.get('AutoScalingGroupNames.member.1') !== 'web') return NOT_FOUND;
      return {
        status: 200,
        body: `<DescribeAutoScalingGroupsResponse><DesiredCapacity>${provider.replicas}</DesiredCapacity></DescribeAutoScalingGroupsResponse>`,
      };
    case 'DescribeAccountLimits':
      return { status: 200, body: '<DescribeAccountLimitsResponse/>' };
    case 'SetDesiredCapacity':
      provider.replicas = Number(parameters.get('DesiredCapacity'));
      return { status: 200, body: '<SetDesiredCapacityResponse/>' };
    default:
      return NOT_FOUND;
  }
}

let directory = '';
let engine: EngineService | undefined;
let provider: Provider | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engine-scaler-'));
});

afterEach(async () => {
  await engine?.close();
  await provider?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(sections: Record<string, unknown>): Promise<EngineService> {
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        http: { 'bind-address': '127.0.0.1:0' },
        ...sections,
      },
    },
  ]);
  expect(problems).toEqual([]);
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  engine = await startEngine(config, { log: quiet });
  return engine;
}

async function define(url: string, chain: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({
      id: 't',
      dbrps: [{ db: 'd', rp: 'r' }],
      script: `stream|from()${chain}`,
      status: 'enabled',
    }),
  });
  return { status: response.status, text: await response.text() };
}

const REPLICAS = `.currentField('n').replicas(lambda: if("load" > 10.0, "n" + 2, "n" - 1)).min(1).max(5)`;

type Case = {
  readonly name: string;
  readonly answer: (provider: Provider, request: ReceivedRequest) => Answer;
  readonly sections: (url: string) => Record<string, unknown>;
  readonly node: string;
};

const CASES: readonly Case[] = [
  {
    name: 'kubernetes',
    answer: kubernetes,
    sections: (url) => ({
      kubernetes: [
        { enabled: true, id: 'c', 'api-servers': [url], token: 't0ken', namespace: 'prod' },
      ],
    }),
    node: `|k8sAutoscale().cluster('c').resourceName('web')`,
  },
  {
    name: 'swarm',
    answer: swarm,
    sections: (url) => ({ swarm: [{ enabled: true, id: 'c', servers: [url] }] }),
    node: `|swarmAutoscale().serviceName('web')`,
  },
  {
    name: 'ec2',
    answer: ec2,
    sections: (url) => ({
      ec2: [
        {
          enabled: true,
          region: 'eu-west-1',
          'access-key': 'AK',
          'secret-key': 'SK',
          endpoint: url,
        },
      ],
    }),
    node: `|ec2Autoscale().groupName('web')`,
  },
];

describe.each(CASES)('$name', ({ name, answer, sections, node }) => {
  test('replicas follow the points', async () => {
    const scaled = (provider = new Provider(answer));
    const { url } = await start(sections(await provider.open()));
    expect((await define(url, node + REPLICAS)).status).toBe(200);

    await fetch(`${url}/write?db=d&rp=r`, { method: 'POST', body: 'm load=20 1\nm load=20 2' });
    await scaled.until(() => scaled.replicas === 5);
    await fetch(`${url}/write?db=d&rp=r`, { method: 'POST', body: 'm load=1 3' });
    await scaled.until(() => scaled.replicas === 4);
    const tested = await fetch(`${url}/engine/v1/service-tests/${name}`, {
      method: 'POST',
      body: '{}',
    });

    expect(await tested.json()).toEqual({ success: true, message: '' });

    expect(scaled.refused).toEqual([]);
  });

  test('a cluster that is not configured is refused when the task starts', async () => {
    const { url } = await start({});

    const { status, text } = await define(url, node + REPLICAS);

    expect(status).toBe(400);
    expect(text).toContain('is configured');
  });
});

test.each([
  [{ kubernetes: [{ enabled: true, id: 'c' }] }, 'must specify at least one of api-servers'],
  [{ swarm: [{ enabled: true, id: 'c' }] }, 'must specify at least one of servers'],
  [{ ec2: [{ enabled: true, id: 'c' }] }, 'must specify region'],
])('a section without what it needs is a problem of the configuration: %j', (sections, problem) => {
  const { problems } = resolveEngineConfig([{ source: 'test', values: sections }]);

  expect(problems.map(({ message }) => message).join()).toContain(problem);
});

describe("AWS's signature", () => {
  const credentials = {
    region: 'us-east-1',
    service: 'service',
    accessKey: 'AKIDEXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: '',
  };
  const now = parseRfc3339('2015-08-30T12:36:00Z') ?? 0n;
  const signatureOf = async (request: Parameters<typeof signRequest>[0]): Promise<string> => {
    const { headers } = await signRequest(request, credentials, now);
    return /Signature=(.*)$/.exec(headers['authorization'] ?? '')?.[1] ?? '';
  };

  // Both are of the examples that AWS publishes for implementers.
  test('of a request without body', async () => {
    const request = { method: 'GET', url: 'https://example.amazonaws.com/', headers: {}, body: '' };

    expect(await signatureOf(request)).toBe(
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });

  test('of a form', async () => {
    const request = {
      method: 'POST',
      url: 'https://example.amazonaws.com/',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'Param1=value1',
    };

    expect(await signatureOf(request)).toBe(
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    );
  });

  test('covers the token of temporary credentials', async () => {
    const request = { method: 'GET', url: 'https://x.example/', headers: {}, body: '' };

    const { headers } = await signRequest(request, { ...credentials, sessionToken: 'tok' }, now);

    expect(headers['x-amz-security-token']).toBe('tok');
    expect(headers['authorization']).toContain('x-amz-date;x-amz-security-token');
  });
});
