// Guards of storage on ClickHouse: what happens without each, and the test that fails then.
import type { Edit } from '../mutants/mutant.ts';

export type GuardMutant = {
  /** The fault that appears without the guard. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** A test file of the package, and the title of a test in it. */
  readonly foundBy: readonly [file: string, title: string];
};

const clickhouse = (file: string, from: string, to: string): Edit => ({
  file: `packages/clickhouse/src/${file}`,
  from,
  to,
});

export const MUTANTS: readonly GuardMutant[] = [
  {
    what: 'a delete hides nothing until its rows are removed',
    edits: [
      clickhouse(
        'read/live.ts',
        'for (const { deleted, groups } of deletesOf(registry, part)) {',
        'for (const { deleted, groups } of [] as readonly DeleteOfPart[]) {',
      ),
    ],
    foundBy: ['deletes.long.test.ts', 'of the newest point of a series bring no older value back'],
  },
  {
    what: 'a delete hides rows that were written after it',
    edits: [clickhouse('read/live.ts', '[`version < ${version}`]', '[`version > 0`]')],
    foundBy: ['deletes.long.test.ts', 'of the newest point of a series bring no older value back'],
  },
  {
    what: 'the block that was inserted last is not mutated, and its rows stay',
    edits: [
      clickhouse(
        'write/delete-removal.ts',
        'if (own.length > 0) await this.#insertFillers(part.policyId, shard);',
        '',
      ),
    ],
    foundBy: ['deletes.long.test.ts', 'hide rows of one shard group while writes to both go on'],
  },
  {
    what: 'a delete is forgotten before its rows are removed',
    edits: [
      clickhouse(
        'write/delete-removal.ts',
        'if (!(await cluster.isDeleteDone(shard, table, mark))) return progress;',
        'if (mark === table) return progress;',
      ),
    ],
    foundBy: ['removal.long.test.ts', 'stay hidden while a replica has not removed them'],
  },
  {
    what: 'a delete is forgotten as soon as its rows are removed, before late inserts',
    edits: [
      clickhouse(
        'write/delete-removal.ts',
        'if (clock.monotonicMs() - doneMs < deleteKeptMs) continue;',
        'if (doneMs === Infinity) continue;',
      ),
    ],
    foundBy: ['removal.long.test.ts', 'hide those of an insert that a server has held back'],
  },
  {
    what: 'a shard that does not answer delays the removal of other deletes',
    edits: [clickhouse('write/delete-removal.ts', 'failure = error;', 'throw error;')],
    foundBy: ['removal.long.test.ts', 'of one policy go while those of another cannot'],
  },
  {
    what: 'rows of a write that was accepted before a delete are stored without their series',
    edits: [clickhouse('write/writer.ts', "if (rows.epoch !== this.#epoch) return 'changed';", '')],
    foundBy: ['deletes.long.test.ts', 'by tags hide points on every front end'],
  },
  {
    what: 'a series that a delete has marked as gone stays so, although a late write has rows of it',
    edits: [
      clickhouse('write/delete-removal.ts', 'await restoreSeries(this.#parts, deleted);', ''),
    ],
    foundBy: ['removal.long.test.ts', 'leave a series whose other rows arrive after it was marked'],
  },
  {
    what: 'any number of deletes are conditions of every read',
    edits: [
      clickhouse(
        'write/deletes.ts',
        'state.registry.deletes.all.length >= pendingDeletesMax',
        'pendingDeletesMax < 0',
      ),
    ],
    foundBy: ['removal.long.test.ts', 'are limited, and writes and reads go on'],
  },
  {
    what: 'of rows with one key any one counts, not the one with the highest version',
    edits: [clickhouse('sql/tables.ts', "'{replica}', version)", "'{replica}')")],
    foundBy: ['impaired.long.test.ts', 'a write that was refused loses'],
  },
  {
    what: 'rows of a refused request are inserted later with others',
    edits: [
      clickhouse(
        'write/writer.ts',
        'for (const refused of [sent, waiting]) refused.rejectOn(failures);\n    waiting.retry();',
        'sent.rejectOn(failures); waiting.rejectOn(failures); queue.rows = waiting;',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'leaves no row of a refused request for a later insert'],
  },
  {
    what: 'requests behind a write that hangs are stored although they were refused',
    edits: [
      clickhouse(
        'write/writer.ts',
        'queue.rows.takeAnnouncements(refused);\n          refused.reject(error);',
        'refused.reject(error);\n          if (refused === waiting) queue.rows = waiting;',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'requests that wait behind a write that hangs'],
  },
  {
    what: 'a batch whose requests were refused is sent all the same',
    edits: [
      clickhouse(
        'cluster/cluster.ts',
        'const leftMs = Math.ceil(untilMs - this.#clock.monotonicMs());',
        'const leftMs = Math.ceil(Math.max(0, untilMs - this.#clock.monotonicMs()));',
      ),
      clickhouse('cluster/cluster.ts', 'if (leftMs <= 0)', 'if (leftMs < 0)'),
    ],
    foundBy: ['cluster/cluster.test.ts', 'is not sent after its deadline'],
  },
  {
    what: 'a write waits for the series of its database longer than its client',
    edits: [
      clickhouse(
        'write/writer.ts',
        'return refusedAt(refusedMs, clock, work);',
        'return refusedMs < 0 ? Promise.resolve() : work;',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'a write that waits for the series of its database'],
  },
  {
    what: 'old values of a dropped measurement become values of its new fields',
    edits: [
      clickhouse(
        'write/deletes.ts',
        'deleted: { ...deleted, groups, columns } };',
        'deleted: { ...deleted, groups, columns: columns.slice(0, 0) } };',
      ),
    ],
    foundBy: ['deletes.long.test.ts', 'of a measurement cover all shards or none'],
  },
  {
    what: 'a delete that was refused takes its position later',
    edits: [clickhouse('shared/shared-log.ts', 'this.#uncertain = version;', '')],
    foundBy: ['impaired.long.test.ts', 'a delete that was refused deletes nothing later'],
  },
  {
    what: 'a replica that answers pings is waited for, whether it takes writes or not',
    edits: [
      clickhouse(
        'cluster/node.ts',
        'this.#writeHealth = new HealthMonitor(writeProbe(this, options.clock), options);',
        'this.#writeHealth = new HealthMonitor(pingProbe(this.name, options.pingTimeoutMs), options);',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'a replica that answers and has lost ZooKeeper'],
  },
  {
    what: 'a probe does not ask ZooKeeper, whose session expires minutes later',
    edits: [
      clickhouse(
        'cluster/probes.ts',
        'SELECT (${root}), (${replicas})',
        'SELECT toUInt64(1), (${replicas})',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'a replica that answers and has lost ZooKeeper'],
  },
  {
    what: 'a replica whose tables are read-only takes writes',
    edits: [
      clickhouse(
        'cluster/probes.ts',
        'return count === 0 ? undefined',
        'return count >= 0 ? undefined',
      ),
    ],
    foundBy: ['cluster/cluster.test.ts', 'ends, with the name of the replica'],
  },
  {
    what: 'a write waits for a quorum that cannot come',
    edits: [
      clickhouse(
        'cluster/writers.ts',
        'if (nodes.length - failures.size < needed)',
        'if (failures.size > nodes.length)',
      ),
    ],
    foundBy: ['cluster/cluster.test.ts', 'ends, with the name of the replica'],
  },
  {
    what: 'every write to a shard that refuses waits for as long as the first',
    edits: [clickhouse('cluster/cluster.ts', '|| this.#refusing.has(target) ||', '||')],
    foundBy: ['cluster/cluster.test.ts', 'is repeated until its deadline'],
  },
  {
    what: 'a replica without ZooKeeper is healthy',
    edits: [
      clickhouse(
        'cluster/cluster.ts',
        'const ofWrites = { takesWrites: reason === undefined,',
        'const ofWrites = { takesWrites: true,',
      ),
    ],
    foundBy: ['impaired.long.test.ts', 'a replica that answers and has lost ZooKeeper'],
  },
];
