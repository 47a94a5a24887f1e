// Clusters that autoscale nodes act on: sections `[[kubernetes]]`, `[[swarm]]` and `[[ec2]]`, and
// how requests to them prove who sends them.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { HttpRequest, ScalerCluster } from '@tidemark/runtime';
import {
  bool,
  checkUrl,
  enabled,
  flag,
  INSECURE_SKIP_VERIFY,
  list,
  secret,
  str,
  strings,
  text,
  TLS_FILES,
  tlsOf,
} from '@tidemark/settings';
import type { Options, SectionSpec } from '@tidemark/settings';

/** Where a pod finds its own cluster, and what proves who it is. */
const IN_CLUSTER_URL = 'https://kubernetes.default.svc';
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export const SCALER_SECTIONS: readonly SectionSpec[] = [
  {
    name: 'kubernetes',
    doc: 'Kubernetes clusters for k8sAutoscale.',
    elementKey: 'id',
    options: [
      enabled(),
      str('id', 'Name of the cluster, as `cluster` of the node gives it.', 'default'),
      bool('in-cluster', 'The cluster this process runs in; only the namespace is then used.'),
      list('api-servers', 'URLs of the API servers; the first one is used.'),
      secret('token', 'Bearer token.'),
      str('ca-path', 'File of certificate authorities.'),
      INSECURE_SKIP_VERIFY,
      str('namespace', 'Namespace of resources that name none.'),
    ],
    validate: (options) =>
      flag(options, 'enabled') && !flag(options, 'in-cluster')
        ? checkServers(options, 'api-servers')
        : undefined,
  },
  {
    name: 'swarm',
    doc: 'Docker Swarm clusters for swarmAutoscale.',
    elementKey: 'id',
    options: [
      enabled(),
      str('id', 'Name of the cluster, as `cluster` of the node gives it.', 'default'),
      list('servers', 'URLs of the managers; the first one is used.'),
      INSECURE_SKIP_VERIFY,
      ...TLS_FILES,
    ],
    validate: (options) =>
      flag(options, 'enabled') ? checkServers(options, 'servers') : undefined,
  },
  {
    name: 'ec2',
    doc: 'AWS accounts for ec2Autoscale.',
    elementKey: 'id',
    options: [
      enabled(),
      str('id', 'Name of the account, as `cluster` of the node gives it.', 'default'),
      str('region', 'Region.'),
      str('access-key', 'Access key.'),
      secret('secret-key', 'Secret key.'),
      secret('session-token', 'Token of temporary credentials.'),
      str('endpoint', 'URL instead of `https://autoscaling.<region>.amazonaws.com`.'),
    ],
    validate: (options) => {
      if (!flag(options, 'enabled')) return undefined;
      if (text(options, 'region') === '') return 'must specify region';
      return checkUrl(options, 'endpoint');
    },
  },
];

function checkServers(options: Options, name: string): string | undefined {
  const urls = strings(options, name);
  if (urls.length === 0) return `must specify at least one of ${name}`;
  return urls.map((url) => checkUrl({ url }, 'url')).find((problem) => problem !== undefined);
}

const SECTION_OF = { k8s: 'kubernetes', swarm: 'swarm', ec2: 'ec2' } as const;

export type ScalerClusterOptions = {
  readonly section: (name: string, element?: string) => Options | undefined;
  readonly clock: Clock;
};

/**
 * The configured cluster of a kind; '' is the only or default one; `undefined` when it is absent or
 * disabled.
 */
export function scalerCluster(
  { section, clock }: ScalerClusterOptions,
  kind: keyof typeof SECTION_OF,
  name: string,
): ScalerCluster | undefined {
  const options = section(SECTION_OF[kind], name);
  if (options === undefined || !flag(options, 'enabled')) return undefined;
  switch (kind) {
    case 'k8s':
      return kubernetesCluster(options);
    case 'swarm': {
      const [url = ''] = strings(options, 'servers');
      const tls = tlsOf(options);
      return { url, headers: {}, namespace: '', sign: (request) => ({ ...request, tls }) };
    }
    case 'ec2':
      return ec2Cluster(options, clock);
  }
}

function kubernetesCluster(options: Options): ScalerCluster {
  const isInside = flag(options, 'in-cluster');
  const [server = ''] = strings(options, 'api-servers');
  const tls = {
    caFile: isInside ? `${SERVICE_ACCOUNT}/ca.crt` : text(options, 'ca-path'),
    isVerificationSkipped: flag(options, 'insecure-skip-verify'),
  };
  return {
    url: isInside ? IN_CLUSTER_URL : server,
    headers: {},
    namespace: text(options, 'namespace'),
    sign: (request) => {
      const token = isInside ? serviceAccountToken() : text(options, 'token');
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

function ec2Cluster(options: Options, clock: Clock): ScalerCluster {
  const region = text(options, 'region');
  const endpoint = text(options, 'endpoint');
  const credentials = {
    region,
    service: 'autoscaling',
    accessKey: text(options, 'access-key'),
    secretKey: text(options, 'secret-key'),
    sessionToken: text(options, 'session-token'),
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
  /** '' for lasting credentials. */
  readonly sessionToken: string;
};

/** Adds AWS's signature, version 4, over body, host, time and content type. */
export function signRequest(
  request: HttpRequest,
  credentials: AwsCredentials,
  now: bigint,
): HttpRequest {
  const { region, service, accessKey, secretKey, sessionToken } = credentials;
  // 2015-08-30T12:36:00Z as 20150830T123600Z.
  const stamp = `${formatRfc3339(now).slice(0, 19).replace(/[-:]/g, '')}Z`;
  const day = stamp.slice(0, 8);
  const url = new URL(request.url);
  const contentType = request.headers['Content-Type'];
  const signed = [
    ...(contentType === undefined ? [] : [['content-type', contentType] as const]),
    ['host', url.host] as const,
    ['x-amz-date', stamp] as const,
    ...(sessionToken === '' ? [] : [['x-amz-security-token', sessionToken] as const]),
  ];
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    url.pathname,
    url.searchParams.toString(),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    sha256(request.body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (parent, part) => hmac(parent, part),
    `AWS4${secretKey}`,
  );
  const signature = hmac(key, toSign).toString('hex');
  const headers: Record<string, string> = { ...request.headers, 'X-Amz-Date': stamp };
  if (sessionToken !== '') headers['X-Amz-Security-Token'] = sessionToken;
  headers['Authorization'] =
    `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest();
}
