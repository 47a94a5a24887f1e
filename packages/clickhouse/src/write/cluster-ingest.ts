// Turns write requests of one database into rows, which have the cluster's ids of series.
import { Kernels, SeriesKeys } from '@tidemark/kernels';
import type { Batch } from '@tidemark/kernels';
import { Ingest, OutcomeCollector, validBody } from '@tidemark/storage-api';
import type {
  IngestedPart,
  IngestSettings,
  IngestTarget,
  PolicyRef,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import type { ShardGroup } from '../shared/entries.ts';
import type { Registry } from '../shared/registry.ts';
import { LocalSeries } from './local-series.ts';
import type { Admission } from './series-limits.ts';

/** The rows of a part of a request. The tables are valid until the next call. */
export type ClusterPart = {
  readonly batch: Batch;
  readonly newGroups: readonly ShardGroup[];
};

type Parse = (from: number, target: IngestTarget) => IngestedPart;

/** What a write is parsed with. */
export type ParseOptions = {
  readonly admission: Admission | undefined;
  /** Gets each part before the next one is parsed. */
  readonly take: (part: ClusterPart) => void;
};

export class ClusterIngest {
  readonly #keys = new SeriesKeys(new Kernels());
  readonly #ingest: Ingest;
  readonly #registry: Registry;
  /** Groups that the present part needed first. */
  #newGroups: ShardGroup[] = [];
  /** Series by the kernel's number. */
  readonly series = new LocalSeries();

  constructor(database: string, registry: Registry, settings: IngestSettings) {
    this.#registry = registry;
    const shards = {
      find: (policyId: number, time: bigint) => registry.find(policyId, time),
      create: (policy: PolicyRef, time: bigint) => this.#createGroup(policy, time),
      ids: () => registry.allGroupsOf(database).map(({ id }) => id),
      fieldTypes: (id: number, measurement: string) => registry.fields(id, measurement),
    };
    this.#ingest = new Ingest({ series: this.#keys, shards, settings });
  }

  #createGroup(policy: PolicyRef, time: bigint): ShardGroup {
    const group = this.#registry.makeGroup(policy, time);
    this.#registry.propose({ groups: [group], fields: [], tags: [] });
    this.#newGroups.push(group);
    return group;
  }

  /** Clears the cached field types, so that the next request asks the registry again. */
  forgetTypes(): void {
    this.#ingest.forgetTypes();
  }

  /** Assigns id and shard to a series. */
  assignShard(local: number, shardOfSeries: (id: bigint) => number): void {
    this.series.assignShard(local, () => this.#keys.key(local), shardOfSeries);
  }

  /** The canonical key of a series. */
  keyOf(local: number): string {
    return Buffer.from(this.#keys.key(local)).toString('utf8');
  }

  /** Parses line protocol in parts. */
  lines(request: WriteLinesRequest, options: ParseOptions): WriteOutcome {
    const valid = { ...request, body: validBody(request.body) };
    const outcome = new OutcomeCollector({ isDetailed: request.isDetailed === true });
    const parse: Parse = (from, target) => this.#ingest.lines(valid, from, target);
    return this.#parse(request.policy, outcome, { ...options, parse });
  }

  /** Ingests points that come from this process. */
  points(request: WritePointsRequest, options: ParseOptions): WriteOutcome {
    const outcome = new OutcomeCollector({ isDetailed: false });
    const parse: Parse = (from, target) => this.#ingest.points(request, from, target);
    return this.#parse(request.policy, outcome, { ...options, parse });
  }

  #parse(
    policy: PolicyRef,
    outcome: OutcomeCollector,
    { admission, take, parse }: ParseOptions & { readonly parse: Parse },
  ): WriteOutcome {
    const admitSeries = admission && ((key: Uint8Array) => admission.admit(key));
    const target = { policy, used: new Set<number>(), outcome, admitSeries };
    for (let from: number | undefined = 0; from !== undefined;) {
      this.#newGroups = [];
      const { batch, next } = parse(from, target);
      const fields = batch.newFields.map(({ shardId, ...field }) => ({ group: shardId, ...field }));
      this.#registry.propose({ groups: [], fields, tags: [] });
      take({ batch, newGroups: this.#newGroups });
      from = next;
    }
    return outcome.outcome;
  }
}
