// Clusters of autoscale nodes: the sections `[[kubernetes]]`, `[[swarm]]` and `[[ec2]]`, and the
// authentication of requests to them.
import { readFileSync } from 'node:fs';
import { AwsV4Signer } from 'aws4fetch';
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { HttpRequest, ScalerCluster } from '@tidemark/runtime';
import {
  INSECURE_SKIP_VERIFY,
  TLS_FILES,
  bool,
  checkUrl,
  defineSection,
  enabled,
  list,
  secret,
  str,
  tlsOf,
} from '@tidemark/settings';
import type { OptionsOf, Sections, SectionSpec } from '@tidemark/settings';

/** URL of a pod's own cluster, and the folder with its credentials. */
const IN_CLUSTER_URL = 'https://kubernetes.default.svc';
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

const KUBERNETES = defineSection({
  name: 'kubernetes',
  doc: 'Kubernetes clusters for k8sAutoscale.',
  elementKey: 'id',
  options: {
    ...enabled(),
    id: str('Name of the cluster, as `cluster` of the node gives it.', 'default'),
    'in-cluster': bool('The cluster this process runs in; only the namespace is then used.'),
    'api-servers': list('URLs of the API servers; the first one is used.'),
    token: secret('Bearer token.'),
    'ca-path': str('File of certificate authorities.'),
    ...INSECURE_SKIP_VERIFY,
    namespace: str('Namespace of resources that name none.'),
  },
  validate: (options) =>
    options.enabled && !options['in-cluster']
      ? checkServers('api-servers', options['api-servers'] ?? [])
      : undefined,
});

const SWARM = defineSection({
  name: 'swarm',
  doc: 'Docker Swarm clusters for swarmAutoscale.',
  elementKey: 'id',
  options: {
    ...enabled(),
    id: str('Name of the cluster, as `cluster` of the node gives it.', 'default'),
    servers: list('URLs of the managers; the first one is used.'),
    ...INSECURE_SKIP_VERIFY,
    ...TLS_FILES,
  },
  validate: (options) =>
    options.enabled ? checkServers('servers', options.servers ?? []) : undefined,
});

const EC2 = defineSection({
  name: 'ec2',
  doc: 'AWS accounts for ec2Autoscale.',
  elementKey: 'id',
  options: {
    ...enabled(),
    id: str('Name of the account, as `cluster` of the node gives it.', 'default'),
    region: str('Region.'),
    'access-key': str('Access key.'),
    'secret-key': secret('Secret key.'),
    'session-token': secret('Token of temporary credentials.'),
    endpoint: str('URL instead of `https://autoscaling.<region>.amazonaws.com`.'),
  },
  validate: (options) => {
    if (!options.enabled) return undefined;
    if (options.region === '') return 'must specify region';
    return checkUrl('endpoint', options.endpoint);
  },
});

/** Sections of all providers. */
export const SCALER_SECTIONS: readonly SectionSpec[] = [KUBERNETES, SWARM, EC2];

function checkServers(name: string, urls: readonly string[]): string | undefined {
  if (urls.length === 0) return `must specify at least one of ${name}`;
  return urls.map((url) => checkUrl('url', url)).find((problem) => problem !== undefined);
}

export type ScalerClusterOptions = {
  readonly sections: Pick<Sections, 'section'>;
  readonly clock: Clock;
};

/**
 * The configured cluster of a kind; '' is the only or default one; `undefined` when it is absent or
 * disabled.
 */
export function scalerCluster(
  { sections, clock }: ScalerClusterOptions,
  kind: 'k8s' | 'swarm' | 'ec2',
  name: string,
): ScalerCluster | undefined {
  switch (kind) {
    case 'k8s': {
      const options = sections.section(KUBERNETES, name);
      return options?.enabled === true ? kubernetesCluster(options) : undefined;
    }
    case 'swarm': {
      const options = sections.section(SWARM, name);
      return options?.enabled === true ? swarmCluster(options) : undefined;
    }
    case 'ec2': {
      const options = sections.section(EC2, name);
      return options?.enabled === true ? ec2Cluster(options, clock) : undefined;
    }
  }
}

function swarmCluster(options: OptionsOf<typeof SWARM.options>): ScalerCluster {
  const [url = ''] = options.servers ?? [];
  const tls = tlsOf(options);
  return { url, headers: {}, namespace: '', sign: (request) => ({ ...request, tls }) };
}

function kubernetesCluster(options: OptionsOf<typeof KUBERNETES.options>): ScalerCluster {
  const isInside = options['in-cluster'];
  const [server = ''] = options['api-servers'] ?? [];
  const tls = {
    caFile: isInside ? `${SERVICE_ACCOUNT}/ca.crt` : options['ca-path'],
    isVerificationSkipped: options['insecure-skip-verify'],
  };
  return {
    url: isInside ? IN_CLUSTER_URL : server,
    headers: {},
    namespace: options.namespace,
    sign: (request) => {
      const token = isInside ? serviceAccountToken() : options.token;
      const authorization: Readonly<Record<string, string>> =
        token === '' ? {} : { Authorization: `Bearer ${token}` };
      return { ...request, tls, headers: { ...request.headers, ...authorization } };
    },
  };
}

/** Read for each request: the cluster replaces it every hour. */
function serviceAccountToken(): string {
  const file = `${SERVICE_ACCOUNT}/token`;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new InvalidRequest(`cannot read the token of the service account. file=\`${file}\``, {
      cause,
    });
  }
}

function ec2Cluster(options: OptionsOf<typeof EC2.options>, clock: Clock): ScalerCluster {
  const region = options.region;
  const endpoint = options.endpoint;
  const credentials = {
    region,
    service: 'autoscaling',
    accessKey: options['access-key'],
    secretKey: options['secret-key'],
    sessionToken: options['session-token'],
  };
  return {
    url: endpoint === '' ? `https://autoscaling.${region}.amazonaws.com` : endpoint,
    headers: {},
    namespace: region,
    sign: (request) => signRequest(request, credentials, clock.now()),
  };
}

export type AwsCredentials = {
  readonly region: string;
  readonly service: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** '' for permanent credentials. */
  readonly sessionToken: string;
};

/** Adds AWS's signature, version 4, over body, host, time and headers. */
export async function signRequest(
  request: HttpRequest,
  credentials: AwsCredentials,
  now: bigint,
): Promise<HttpRequest> {
  const { region, service, accessKey, secretKey, sessionToken } = credentials;
  const { method, url, headers, body } = request;
  const signer = new AwsV4Signer({
    method,
    url,
    headers,
    body,
    region,
    service,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    sessionToken,
    // 2015-08-30T12:36:00Z as 20150830T123600Z.
    datetime: `${formatRfc3339(now).slice(0, 19).replace(/[-:]/g, '')}Z`,
    allHeaders: true,
  });
  const signed = await signer.sign();
  return { ...request, headers: Object.fromEntries(signed.headers) };
}
