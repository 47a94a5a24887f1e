// Turns write requests of one database into rows. The ingest kernel parses and checks them, as in
// the embedded engine; the caller gets the rows with the cluster's ids of series.
import { isUtf8 } from 'node:buffer';

import { parseLines } from '@tidemark/line-protocol';
import { IngestKernel, Kernels, SeriesKeys } from '@tidemark/kernels';
import type { Batch, IngestHost } from '@tidemark/kernels';
import { badLineLimit, canonicalTags, OutcomeCollector, shardLimit } from '@tidemark/storage';
import type {
  PolicyRef,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage';

import type { ShardGroup } from '../shared/entries.ts';
import type { Registry } from '../shared/registry.ts';
import { LocalSeries } from './local-series.ts';
import type { Admission } from './series-limits.ts';

export type IngestSettings = {
  readonly allowUnsigned: boolean;
  readonly fieldTypes: 'shard' | 'measurement';
  /** Shard groups of one write; 0 is no limit. */
  readonly maxShards: number;
  readonly maxBadLines: number;
  /** Bytes of a string value; 0 or absent is no limit. */
  readonly maxTextBytes?: number;
};

/** The rows of a part of a request. The tables are valid until the next call. */
export type IngestedPart = {
  readonly batch: Batch;
  readonly newGroups: readonly ShardGroup[];
};

/** Bad lines are parsed a second time for their errors; a thousand take about ten milliseconds. */
const BAD_LINES_PER_BATCH = 1000;

export class Ingest {
  readonly #keys = new SeriesKeys(new Kernels());
  readonly #kernel: IngestKernel;
  readonly #settings: IngestSettings;
  readonly #registry: Registry;
  /** Series by the kernel's number. */
  readonly series = new LocalSeries();

  constructor(registry: Registry, settings: IngestSettings) {
    this.#registry = registry;
    this.#settings = settings;
    const { allowUnsigned, maxTextBytes } = settings;
    this.#kernel = new IngestKernel({
      series: this.#keys,
      textBytesMax: maxTextBytes,
      parseLine: (line, options) => parseLines(line, { ...options, allowUnsigned }),
    });
  }

  /** Clears the cached field types, so that the next request asks the registry again. */
  forgetTypes(): void {
    this.#kernel.forgetTypes();
  }

  /** Assigns id and shard to a series. */
  assignShard(local: number, shardOfSeries: (id: bigint) => number): void {
    this.series.assignShard(local, () => this.#keys.key(local), shardOfSeries);
  }

  /** The canonical key of a series. */
  keyOf(local: number): string {
    return Buffer.from(this.#keys.key(local)).toString('utf8');
  }

  /** Parses line protocol in parts. `take` gets each part before the next one is parsed. */
  lines(
    request: WriteLinesRequest,
    admission: Admission | undefined,
    take: (part: IngestedPart) => void,
  ): WriteOutcome {
    const { precision, now, isDetailed } = request;
    const outcome = new OutcomeCollector({ isDetailed: isDetailed === true });
    const body = isUtf8(request.body)
      ? request.body
      : Buffer.from(Buffer.from(request.body).toString('utf8'));
    const { maxBadLines } = this.#settings;
    const used = new Set<number>();
    for (let from = 0; ;) {
      const left = maxBadLines === 0 ? Infinity : maxBadLines - outcome.parseErrorCount;
      const parseErrorsMax = Math.min(BAD_LINES_PER_BATCH, left);
      const newGroups: ShardGroup[] = [];
      const host = this.#host(request.policy, { used, newGroups, admission });
      const options = { precision, now, isDetailed, from, parseErrorsMax };
      const batch = this.#kernel.parseLines(body, options, host);
      outcome.add(batch);
      this.#define(batch);
      take({ batch, newGroups });
      const isWhole = batch.consumedBytes >= body.length;
      const isLeft = maxBadLines > 0 && outcome.parseErrorCount >= maxBadLines;
      if (isLeft && !isWhole) outcome.leave(badLineLimit(maxBadLines));
      if (batch.consumedBytes <= from || isWhole || isLeft) return outcome.outcome;
      from = batch.consumedBytes;
    }
  }

  /** Ingests points that come from this process. */
  points(
    request: WritePointsRequest,
    admission: Admission | undefined,
    take: (part: IngestedPart) => void,
  ): WriteOutcome {
    const outcome = new OutcomeCollector({ isDetailed: false });
    const points = request.points.flatMap((point) => {
      // NaN and infinities cannot be stored; a point without other values is skipped.
      const fields = point.fields.filter(
        ([, value]) => typeof value !== 'number' || Number.isFinite(value),
      );
      return fields.length === 0 ? [] : [{ ...point, fields, tags: canonicalTags(point.tags) }];
    });
    const newGroups: ShardGroup[] = [];
    const batch = this.#kernel.appendPoints(
      points,
      this.#host(request.policy, { used: new Set(), newGroups, admission }),
    );
    outcome.add(batch);
    this.#define(batch);
    take({ batch, newGroups });
    return outcome.outcome;
  }

  /** `used` collects the ids of the shard groups of the write. */
  #host(
    policy: PolicyRef,
    {
      used,
      newGroups,
      admission,
    }: {
      readonly used: Set<number>;
      readonly newGroups: ShardGroup[];
      readonly admission: Admission | undefined;
    },
  ): IngestHost {
    const { maxShards, fieldTypes } = this.#settings;
    const registry = this.#registry;
    return {
      oldestAccepted: policy.oldestAccepted,
      newestAccepted: policy.newestAccepted,
      shardFor: (time) => {
        const isFull = maxShards > 0 && used.size >= maxShards;
        let group = registry.find(policy.id, time);
        if (isFull && (group === undefined || !used.has(group.id))) return shardLimit(maxShards);
        if (group === undefined) {
          group = registry.makeGroup(policy, time);
          registry.propose({ groups: [group], fields: [], tags: [] });
          newGroups.push(group);
        }
        used.add(group.id);
        return group;
      },
      fieldTypes: (id, measurement) => {
        if (fieldTypes === 'shard') return registry.fields(id, measurement);
        const types = new Map(registry.fields(id, measurement));
        for (const other of registry.allGroupsOf(policy.database)) {
          for (const [field, type] of registry.fields(other.id, measurement)) {
            if (!types.has(field)) types.set(field, type);
          }
        }
        return types;
      },
      admitSeries: admission && ((key) => admission.admit(key)),
    };
  }

  #define(batch: Batch): void {
    const fields = batch.newFields.map(({ shardId, ...field }) => ({ group: shardId, ...field }));
    this.#registry.propose({ groups: [], fields, tags: [] });
    if (batch.newFields.length > 0 && this.#settings.fieldTypes === 'measurement')
      this.#kernel.forgetTypes();
  }
}
