// Removes deleted rows in the background, which may take days. The holder of the lease starts the
// mutations on every shard, polls until all replicas have finished them, and then keeps the delete
// for a while, because a server that hung may still store an older insert.
import { LIMITS } from '../limits.ts';
import { PeriodicJob } from '../periodic-job.ts';
import { coveredRows } from '../read/live.ts';
import { inGroups } from '../read/parts.ts';
import type { PolicyPart } from '../read/parts.ts';
import { coversMeasurement } from '../shared/deletes.ts';
import type { Delete } from '../shared/deletes.ts';
import { filterCondition } from '../sql/conditions.ts';
import { sqlIn } from '../sql/literals.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { POINT_COLUMNS, pointsTable, seriesTable } from '../sql/tables.ts';
import {
  columnsIn,
  dropTagsOf,
  markDeletedSeries,
  partsOfDelete,
  restoreSeries,
} from './deleted-series.ts';
import type { SweeperParts } from './partition-sweeper.ts';

export type RemovalParts = SweeperParts & {
  /** `LIMITS.deleteKeptMs` when absent. */
  readonly deleteKeptMs?: number | undefined;
};

/** Series per statement. */
const SERIES_PER_STATEMENT = 10_000;

type Statement = { readonly shard: number; readonly table: string; readonly mark: string };

/** The state of a removal, in memory only: the next holder of the lease starts over. */
type Progress = {
  readonly statements: readonly Statement[];
  /** Monotonic, when all replicas had removed the rows. */
  doneMs: number | undefined;
};

export class DeleteRemoval {
  readonly #parts: RemovalParts;
  readonly #job: PeriodicJob;
  /** Progress by version of the delete. */
  readonly #progress = new Map<bigint, Progress>();

  constructor(parts: RemovalParts) {
    this.#parts = parts;
    this.#job = new PeriodicJob({
      ...parts,
      what: 'remove rows that were deleted',
      everyMs: parts.sweepMs ?? LIMITS.sweepMs.value,
      work: () => this.#sweep(),
    });
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  async #sweep(): Promise<void> {
    const { state, lease, clock, deleteKeptMs = LIMITS.deleteKeptMs.value } = this.#parts;
    const { deletes } = state.registry;
    if (lease.signal === undefined) return this.#progress.clear();
    const removed: bigint[] = [];
    let failure: unknown;
    for (const deleted of deletes.all) {
      try {
        const progress = await this.#advance(deleted);
        const { doneMs = Infinity } = progress;
        if (clock.monotonicMs() - doneMs < deleteKeptMs) continue;
        await restoreSeries(this.#parts, deleted);
        removed.push(deleted.version);
      } catch (error) {
        // A shard that does not answer must not delay the other deletes.
        failure = error;
      }
    }
    const pending = new Set(deletes.all.map(({ version }) => version));
    for (const version of this.#progress.keys())
      if (!pending.has(version)) this.#progress.delete(version);
    if (removed.length > 0)
      await state.agree(() => ({ kind: 'deletes-removed', versions: removed }));
    if (failure !== undefined) throw failure;
  }

  async #advance(deleted: Delete): Promise<Progress> {
    const { cluster, clock } = this.#parts;
    let progress = this.#progress.get(deleted.version);
    if (progress === undefined) {
      await markDeletedSeries(this.#parts, deleted);
      await dropTagsOf(this.#parts, deleted);
      progress = { statements: await this.#start(deleted), doneMs: undefined };
      this.#progress.set(deleted.version, progress);
    }
    if (progress.doneMs !== undefined) return progress;
    for (const { shard, table, mark } of progress.statements)
      if (!(await cluster.isDeleteDone(shard, table, mark))) return progress;
    progress.doneMs = clock.monotonicMs();
    return progress;
  }

  async #start(deleted: Delete): Promise<readonly Statement[]> {
    const { cluster, state } = this.#parts;
    const statements: Statement[] = [];
    for (const part of partsOfDelete(state.registry, deleted)) {
      for (let shard = 0; shard < cluster.shardCount; shard++) {
        const own = await this.#startOnShard(deleted, part, shard);
        statements.push(...own);
        if (own.length > 0) await this.#insertFillers(part.policyId, shard);
      }
    }
    return statements;
  }

  async #startOnShard(
    deleted: Delete,
    part: PolicyPart,
    shard: number,
  ): Promise<readonly Statement[]> {
    const { cluster } = this.#parts;
    const table = pointsTable(part.policyId);
    const columns = await this.#columnsOf(deleted, part, shard);
    if (columns.length === 0) return [];
    const rows = [sqlIn('column', columns), inGroups(part)];
    rows.push(...coveredRows(deleted, part.groups, part));
    const start = async (more: readonly string[]): Promise<Statement> => ({
      shard,
      table,
      mark: await cluster.startDelete(shard, table, [...rows, ...more].join(' AND ')),
    });
    if (deleted.filter.where === undefined) return [await start([])];
    const statements: Statement[] = [];
    for await (const ids of this.#seriesOf(deleted, part, shard))
      statements.push(await start([sqlIn('series', ids)]));
    return statements;
  }

  /** Columns of the covered measurements, from the registry and the delete. */
  async #columnsOf(deleted: Delete, part: PolicyPart, shard: number): Promise<readonly string[]> {
    const { cluster, state } = this.#parts;
    const groups = part.groups.map(({ id }) => id);
    const reader = new RowReader(
      await cluster.rows(
        shard,
        `SELECT DISTINCT measurement FROM ${cluster.table(seriesTable(part.policyId))}
         WHERE ${inGroups(part)} AND ${filterCondition({ ...deleted.filter, where: undefined })}`,
      ),
    );
    const columns = new Set(deleted.columns);
    while (reader.hasMore) {
      const measurement = reader.text();
      if (!coversMeasurement(deleted, measurement)) continue;
      for (const id of columnsIn(state.registry, groups, measurement)) columns.add(id);
    }
    return [...columns];
  }

  /** Ids of the series that a delete covers, including those that are marked as deleted. */
  async *#seriesOf(
    deleted: Delete,
    part: PolicyPart,
    shard: number,
  ): AsyncGenerator<readonly string[]> {
    const { cluster } = this.#parts;
    for (let last: string | undefined, isLast = false; !isLast;) {
      const after = last === undefined ? '' : `AND series > ${last}`;
      const reader = new RowReader(
        await cluster.rows(
          shard,
          `SELECT DISTINCT series FROM ${cluster.table(seriesTable(part.policyId))}
           WHERE ${inGroups(part)} AND ${filterCondition(deleted.filter)} ${after}
           ORDER BY series LIMIT ${SERIES_PER_STATEMENT}`,
        ),
      );
      const ids: string[] = [];
      while (reader.hasMore) ids.push(String(reader.uint64()));
      if (ids.length > 0) yield ids;
      isLast = ids.length < SERIES_PER_STATEMENT;
      last = ids.at(-1);
    }
  }

  /**
   * 18.16 mutates the last block that was inserted with a quorum into a partition only after
   * another block. This inserts such a block, of a row that belongs to no column, into every
   * partition.
   */
  async #insertFillers(policyId: number, shard: number): Promise<void> {
    const { cluster, state } = this.#parts;
    const rows = new RowWriter();
    const [unique = 0n] = crypto.getRandomValues(new BigInt64Array(1));
    for (const { id } of state.registry.groupsOf((group) => group.policyId === policyId)) {
      rows.uint64(0n);
      rows.int32(0);
      rows.uint64(0n);
      rows.int64(0n);
      rows.float64(0);
      rows.int64(unique);
      rows.text('');
      rows.uint64(0n);
      rows.uint32(id);
    }
    const into = `${cluster.table(pointsTable(policyId))} ${POINT_COLUMNS} FORMAT RowBinary`;
    await cluster.insert(shard, { into, rows: rows.finish() });
  }
}
