// The effects of a node beyond its edges, as far as its options determine them: what services need
// to know about a task's nodes without knowing their kinds.
import type { HandlerSpec } from '../pipeline.ts';

/** Points that a node takes as they are written; an empty text takes any. */
export type ReadPoints = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
};

/** A dimension of a query. `invalid` is found when the task starts, as recorded. */
export type QueryDimension =
  | { readonly kind: 'time'; readonly lengthNanos: bigint; readonly offsetNanos: bigint }
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'invalid'; readonly typeName: string };

export type QueryFill =
  | { readonly kind: 'null' | 'none' | 'previous' | 'linear' }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'invalid'; readonly text: string };

/** A query that the engine runs on a schedule for a node. */
export type AskedQuery = {
  readonly text: string;
  readonly periodNanos: bigint;
  /** 0 where `cron` says when. */
  readonly everyNanos: bigint;
  readonly cron: string;
  readonly isAligned: boolean;
  readonly offsetNanos: bigint;
  readonly isGroupAligned: boolean;
  readonly dimensions: readonly QueryDimension[];
  readonly isGroupedByMeasurement: boolean;
  readonly fill: QueryFill | undefined;
  /** Empty is the default cluster. */
  readonly cluster: string;
};

export type ClusterNeed = {
  /** Empty is the default cluster. */
  readonly cluster: string;
  /** The property that findings are about. */
  readonly property: string;
  /** Databases that have to be there; `undefined` means those of the task. */
  readonly databases: readonly string[] | undefined;
  /**
   * `start`: the task does not start while the cluster is not configured. `later`: it waits for it.
   * `optional`: what it gives may come to the engine in another way.
   */
  readonly urgency: 'start' | 'later' | 'optional';
};

export type ScalerProvider = 'k8s' | 'swarm' | 'ec2';

export type NodeEffects = {
  readonly readsPoints?: ReadPoints | undefined;
  readonly asks?: AskedQuery | undefined;
  /** Publishes events into its anonymous topic and into this one; empty is none. */
  readonly publishesTo?: { readonly topic: string } | undefined;
  readonly handlers?: readonly HandlerSpec[] | undefined;
  readonly needsCluster?: ClusterNeed | undefined;
  readonly needsScaler?:
    | { readonly provider: ScalerProvider; readonly cluster: string }
    | undefined;
  /** Name of a configured HTTP endpoint. */
  readonly needsEndpoint?: string | undefined;
  /** Name under which its rows are served. */
  readonly serves?: string | undefined;
  /** Headers that it sends; their values may refer to secrets. */
  readonly sendsHeaders?: ReadonlyMap<string, string> | undefined;
  /** `file://` address of a folder that it reads. */
  readonly readsFolder?: string | undefined;
  /** Id of the node whose output it counts; that is no parent. */
  readonly counts?: number | undefined;
  /** Name of the user-defined function that it is. */
  readonly callsFunction?: string | undefined;
};

export const NO_EFFECTS: NodeEffects = {};
