// The interface that autoscale nodes need from a provider, and the three providers over their HTTP
// interfaces.
import type { HttpClient, HttpRequest, HttpResponse, ScalerCluster } from '../services.ts';

/**
 * Names a thing that can be scaled. `namespace` and `kind` are empty where the provider has none.
 */
export type ScaledResource = {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
};

export interface Scaler {
  /** Number of replicas that the provider is asked to run at present. */
  replicas(resource: ScaledResource): Promise<bigint>;
  setReplicas(resource: ScaledResource, count: bigint): Promise<void>;
}

/** The provider refused or failed. */
export class ScalerError extends Error {
  override readonly name = 'ScalerError';
}

const TIMEOUT_MS = 30_000;

class Api {
  readonly #http: HttpClient;
  readonly #cluster: ScalerCluster;
  readonly #signal: AbortSignal;

  constructor(http: HttpClient, cluster: ScalerCluster, signal: AbortSignal) {
    this.#http = http;
    this.#cluster = cluster;
    this.#signal = signal;
  }

  get namespace(): string {
    return this.#cluster.namespace;
  }

  async call(
    method: string,
    path: string,
    body?: { type: string; text: string },
  ): Promise<HttpResponse> {
    const type: Readonly<Record<string, string>> =
      body === undefined ? {} : { 'Content-Type': body.type };
    const request: HttpRequest = {
      method,
      url: `${this.#cluster.url.replace(/\/$/, '')}${path}`,
      headers: { Accept: 'application/json', ...type, ...this.#cluster.headers },
      body: body?.text ?? '',
      timeoutMs: TIMEOUT_MS,
    };
    const signed = (await this.#cluster.sign?.(request)) ?? request;
    const response = await this.#http.send(signed, this.#signal);
    if (response.status < 200 || response.status > 299) {
      throw new ScalerError(
        `${method} ${path} answered ${response.status}: ${response.body.slice(0, 500)}`,
      );
    }
    return response;
  }

  async json(method: string, path: string, content?: unknown): Promise<unknown> {
    const body =
      content === undefined
        ? undefined
        : { type: 'application/json', text: JSON.stringify(content) };
    const response = await this.call(method, path, body);
    return response.body === '' ? undefined : (JSON.parse(response.body) as unknown);
  }
}

type ApiOptions = {
  readonly http: HttpClient;
  readonly cluster: ScalerCluster;
  readonly signal: AbortSignal;
};

const property = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined,
    value,
  );

function count(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new ScalerError(`the answer has no ${what}`);
  }
  return BigInt(value);
}

/** The scaler of a provider. */
export type MakeScaler = (options: ApiOptions) => Scaler;

/** Kubernetes: the `scale` of deployments, replica sets and replication controllers. */
export function kubernetesScaler(options: ApiOptions): Scaler {
  const api = new Api(options.http, options.cluster, options.signal);
  const path = ({ namespace, kind, name }: ScaledResource): string => {
    const group = kind === 'replicationcontrollers' ? '/api/v1' : '/apis/apps/v1';
    const space = namespace === '' ? api.namespace || 'default' : namespace;
    return `${group}/namespaces/${encodeURIComponent(space)}/${kind}/${encodeURIComponent(name)}/scale`;
  };
  return {
    replicas: async (resource) => {
      const scale = await api.json('GET', path(resource));
      return count(property(scale, 'spec', 'replicas') ?? 0, 'spec.replicas');
    },
    setReplicas: async (resource, replicas) => {
      const scale = await api.json('GET', path(resource));
      const spec = {
        ...(property(scale, 'spec') as object | undefined),
        replicas: Number(replicas),
      };
      await api.json('PUT', path(resource), { ...(scale as object), spec });
    },
  };
}

/** Docker Swarm: replicated services. */
export function swarmScaler(options: ApiOptions): Scaler {
  const api = new Api(options.http, options.cluster, options.signal);
  const read = (name: string): Promise<unknown> =>
    api.json('GET', `/services/${encodeURIComponent(name)}`);
  return {
    replicas: async ({ name }) =>
      count(property(await read(name), 'Spec', 'Mode', 'Replicated', 'Replicas'), 'Replicas'),
    setReplicas: async ({ name }, replicas) => {
      const service = await read(name);
      const id = String(property(service, 'ID') ?? name);
      const version = count(property(service, 'Version', 'Index'), 'Version.Index');
      const spec = property(service, 'Spec') as object;
      const mode = { Replicated: { Replicas: Number(replicas) } };
      await api.json('POST', `/services/${encodeURIComponent(id)}/update?version=${version}`, {
        ...spec,
        Mode: mode,
      });
    },
  };
}

const EC2_VERSION = '2011-01-01';

/** EC2 auto scaling groups: the desired capacity. */
export function ec2Scaler(options: ApiOptions): Scaler {
  const api = new Api(options.http, options.cluster, options.signal);
  const call = async (parameters: Readonly<Record<string, string>>): Promise<string> => {
    const text = new URLSearchParams({ ...parameters, Version: EC2_VERSION }).toString();
    const type = 'application/x-www-form-urlencoded; charset=utf-8';
    return (await api.call('POST', '/', { type, text })).body;
  };
  return {
    replicas: async ({ name }) => {
      const xml = await call({
        Action: 'DescribeAutoScalingGroups',
        'AutoScalingGroupNames.member.1': name,
      });
      const capacity = /<DesiredCapacity>\s*(\d+)\s*<\/DesiredCapacity>/.exec(xml)?.[1];
      if (capacity === undefined)
        throw new ScalerError(`no auto scaling group ${JSON.stringify(name)}`);
      return BigInt(capacity);
    },
    setReplicas: async ({ name }, replicas) => {
      await call({
        Action: 'SetDesiredCapacity',
        AutoScalingGroupName: name,
        DesiredCapacity: String(replicas),
        HonorCooldown: 'false',
      });
    },
  };
}
