// k8sAutoscale, swarmAutoscale, ec2Autoscale: set the number of replicas of a resource.
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
