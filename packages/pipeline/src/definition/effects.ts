// The effects of a node beyond its edges, as far as its options determine them: what services need
// to know about a task's nodes without knowing their kinds.
import type { HandlerSpec } from '../pipeline.ts';

/** The points that a node reads; an empty text matches any. */
export type ReadPoints = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
};

/** A dimension of a query. `invalid` is reported when the task starts, as recorded. */
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
  /** 0 if `cron` is used. */
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
  /** Databases that have to exist; `undefined` means those of the task. */
  readonly databases: readonly string[] | undefined;
  /**
   * `start`: the task does not start while the cluster is not configured. `later`: it waits for it.
   * `optional`: its points may reach the engine in another way.
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
  /** Headers of its requests; their values may refer to secrets. */
  readonly sendsHeaders?: ReadonlyMap<string, string> | undefined;
  /** `file://` address of a folder that it reads. */
  readonly readsFolder?: string | undefined;
  /** Id of the node whose output it counts, which is not a parent. */
  readonly counts?: number | undefined;
  /** Name of its user-defined function. */
  readonly callsFunction?: string | undefined;
  /** Points behind it have the fields and tags that they had before it. */
  readonly keepsNames?: true | undefined;
  /** Tags that it groups by. */
  readonly groupsBy?: readonly string[] | undefined;
  /** Fields or tags that its own later expressions can use. */
  readonly makesNames?: readonly string[] | undefined;
};

export const NO_EFFECTS: NodeEffects = {};
