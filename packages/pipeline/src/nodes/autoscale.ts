// k8sAutoscale, swarmAutoscale, ec2Autoscale: set the number of replicas of a resource.
import {
  defineNode,
  durationProperty,
  integerProperty,
  lambdaProperty,
  stringProperty,
} from '../node-definition.ts';
import { didYouMean } from '../evaluate/hints.ts';
import { checkLambdas } from '../lambda.ts';
import type { NodeProblem } from '../node-problem.ts';
import type { LambdaSpec } from '../pipeline.ts';

export type AutoscaleOptions = {
  readonly cluster: string;
  readonly currentField: string;
  readonly min: bigint;
  /** 0: no limit. */
  readonly max: bigint;
  readonly replicas: LambdaSpec | undefined;
  readonly increaseCooldownNanos: bigint;
  readonly decreaseCooldownNanos: bigint;
};
export type K8sAutoscaleOptions = AutoscaleOptions & {
  readonly namespace: string;
  readonly kind: string;
  readonly resourceName: string;
  readonly resourceNameTag: string;
  readonly namespaceTag: string;
  readonly kindTag: string;
  readonly resourceTag: string;
};
export type SwarmAutoscaleOptions = AutoscaleOptions & {
  readonly serviceName: string;
  readonly serviceNameTag: string;
  readonly outputServiceNameTag: string;
};
export type Ec2AutoscaleOptions = AutoscaleOptions & {
  readonly groupName: string;
  readonly groupNameTag: string;
  readonly outputGroupNameTag: string;
};

const common: AutoscaleOptions = {
  cluster: '',
  currentField: '',
  min: 1n,
  max: 0n,
  replicas: undefined,
  increaseCooldownNanos: 0n,
  decreaseCooldownNanos: 0n,
};

const commonProperties = [
  stringProperty('cluster', 'cluster', 'configured cluster; the default one if not given'),
  stringProperty('currentField', 'currentField', 'field that holds the current number'),
  integerProperty('min', 'min', 'least number of replicas'),
  integerProperty('max', 'max', 'greatest number of replicas; 0 is no limit'),
  lambdaProperty('replicas', 'replicas', 'the wanted number of replicas'),
  durationProperty('increaseCooldown', 'increaseCooldownNanos', 'time between two increases'),
  durationProperty('decreaseCooldown', 'decreaseCooldownNanos', 'time between two decreases'),
];

/** Rules of all three: exactly one way to name the resource, and a number of replicas. */
function validateCommon(
  options: AutoscaleOptions,
  resource: { readonly name: string; readonly tag: string; readonly what: string },
): NodeProblem | undefined {
  const { name, tag, what } = resource;
  const property = `${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  if (name === '' && tag === '') {
    return {
      text: `must specify either ${what} or ${what}Tag`,
      hint: `name what is scaled: .${property}('name')`,
    };
  }
  if (name !== '' && tag !== '') {
    return {
      text: `must specify only one of ${what} or ${what}Tag`,
      properties: [`${property}Tag`],
      hint: `leave out .${property}() or .${property}Tag()`,
    };
  }
  if (options.min < 0n) {
    return { text: 'minimum must be >= 0', properties: ['min'], found: String(options.min) };
  }
  if (options.max !== 0n && options.max < options.min) {
    return {
      text: 'minimum must be less than maximum',
      properties: ['min', 'max'],
      found: `${options.min} and ${options.max}`,
    };
  }
  return undefined;
}

const NO_REPLICAS: NodeProblem = {
  text: 'must provide a replicas lambda expression',
  hint: 'say how many: .replicas(lambda: "field")',
};

function checkReplicas({ replicas }: AutoscaleOptions): readonly NodeProblem[] {
  return checkLambdas([['invalid replicas expression: ', replicas]]);
}

const KINDS = ['deployments', 'replicasets', 'replicationcontrollers'];

export const k8sAutoscaleNode = defineNode<K8sAutoscaleOptions>({
  type: 'k8sAutoscale',
  label: 'k8s_autoscale',
  className: 'K8sAutoscaleNode',
  category: 'output',
  summary: 'sets the number of replicas of a Kubernetes resource',
  wants: 'any',
  provides: 'stream',
  parameters: [],
  create: () => ({
    ...common,
    namespace: '',
    kind: 'deployments',
    resourceName: '',
    resourceNameTag: '',
    namespaceTag: 'namespace',
    kindTag: 'kind',
    resourceTag: 'resource',
  }),
  properties: [
    ...commonProperties,
    stringProperty('namespace', 'namespace', 'namespace; the configured one if not given'),
    stringProperty('kind', 'kind', 'deployments, replicasets or replicationcontrollers'),
    stringProperty('resourceName', 'resourceName', 'name of the resource'),
    stringProperty('resourceNameTag', 'resourceNameTag', 'tag that holds the name of the resource'),
    stringProperty('namespaceTag', 'namespaceTag', 'tag of the result for the namespace'),
    stringProperty('kindTag', 'kindTag', 'tag of the result for the kind'),
    stringProperty('resourceTag', 'resourceTag', 'tag of the result for the name'),
  ],
  validate: (options) => {
    const { resourceName: name, resourceNameTag: tag, kind } = options;
    if (!KINDS.includes(kind)) {
      return {
        text: `invalid kind ${kind}`,
        properties: ['kind'],
        found: kind,
        expected: KINDS,
        hint: didYouMean(kind, KINDS),
      };
    }
    return (
      validateCommon(options, { name, tag, what: 'ResourceName' }) ??
      (options.replicas === undefined ? NO_REPLICAS : undefined)
    );
  },
  checkStart: checkReplicas,
});

export const swarmAutoscaleNode = defineNode<SwarmAutoscaleOptions>({
  type: 'swarmAutoscale',
  label: 'swarm_autoscale',
  className: 'SwarmAutoscaleNode',
  category: 'output',
  summary: 'sets the number of replicas of a Docker Swarm service',
  wants: 'any',
  provides: 'stream',
  parameters: [],
  create: () => ({
    ...common,
    serviceName: '',
    serviceNameTag: '',
    outputServiceNameTag: '',
  }),
  properties: [
    ...commonProperties,
    stringProperty('serviceName', 'serviceName', 'name of the service'),
    stringProperty('serviceNameTag', 'serviceNameTag', 'tag that holds the name of the service'),
    stringProperty(
      'outputServiceNameTag',
      'outputServiceNameTag',
      'tag of the result for the name',
    ),
  ],
  validate: (options) => {
    const { serviceName: name, serviceNameTag: tag } = options;
    return (
      validateCommon(options, { name, tag, what: 'ServiceName' }) ??
      (options.replicas === undefined ? NO_REPLICAS : undefined)
    );
  },
  checkStart: checkReplicas,
});

export const ec2AutoscaleNode = defineNode<Ec2AutoscaleOptions>({
  type: 'ec2Autoscale',
  label: 'ec2_autoscale',
  className: 'Ec2AutoscaleNode',
  category: 'output',
  summary: 'sets the desired capacity of an EC2 auto scaling group',
  wants: 'any',
  provides: 'stream',
  parameters: [],
  create: () => ({ ...common, groupName: '', groupNameTag: '', outputGroupNameTag: '' }),
  properties: [
    ...commonProperties,
    stringProperty('groupName', 'groupName', 'name of the group'),
    stringProperty('groupNameTag', 'groupNameTag', 'tag that holds the name of the group'),
    stringProperty('outputGroupNameTag', 'outputGroupNameTag', 'tag of the result for the name'),
  ],
  validate: (options) => {
    const { groupName: name, groupNameTag: tag } = options;
    return (
      validateCommon(options, { name, tag, what: 'GroupName' }) ??
      (options.replicas === undefined ? NO_REPLICAS : undefined)
    );
  },
  checkStart: checkReplicas,
});
