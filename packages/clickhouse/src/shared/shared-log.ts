// The shared log: a list of entries on which all front ends agree, in the same order for all. An
// entry takes effect when its proposal has taken a position (docs/adr/0019-front-ends.md).
import { randomBytes } from 'node:crypto';

import { assert, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../limits.ts';
import { sqlTexts } from '../sql/literals.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { SHARED_TABLE } from '../sql/tables.ts';
import { LogPositions } from './log-positions.ts';
import type { LogPosition } from './log-positions.ts';
import { VersionClock } from './version-clock.ts';

/** Entries between snapshots; a front end that starts reads no more than these. */
const ENTRIES_PER_SNAPSHOT = 128;

/** The name of the proposal in rows that are snapshots. */
const SNAPSHOT = 'snapshot';

/** The state that the entries of the log change. */
export type SharedSubject = {
  /** Applies an entry, with the transaction number of its position. */
  apply(payload: string, order: bigint): void;
  /** A snapshot of the whole state, and back. */
  print(): string;
  restore(text: string): void;
  /**
   * Called when tables were restored into a cluster whose ZooKeeper counts transactions from its
   * beginning.
   */
  adopt(): Promise<void>;
};

type Row = {
  readonly proposal: string;
  /** The proposal of the previous entry, and its transaction number. */
  readonly parent: string;
  readonly parentOrder: bigint;
  readonly payload: string;
};

export class SharedLog {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #subject: SharedSubject;
  readonly #positions: LogPositions;
  readonly #versionClock: VersionClock;
  #version = -1;
  /** The proposal that has taken the position `#version`. */
  #proposal = '';
  #order = 0n;
  /**
   * A position that a proposal of this front end may still take, although its append has failed.
   */
  #uncertain: number | undefined;
  /** The proposals of the last applied entries, by version. */
  readonly #recent = new Map<number, string>();
  /** The version of the last snapshot. */
  #snapshot = 0;
  /** Serialises `sync` and `append`. */
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(cluster: Cluster, subject: SharedSubject, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#subject = subject;
    this.#positions = new LogPositions(cluster);
    this.#versionClock = new VersionClock(cluster);
  }

  /** Opens the log and applies all its entries. */
  static async open(cluster: Cluster, subject: SharedSubject, clock: Clock): Promise<SharedLog> {
    const log = new SharedLog(cluster, subject, clock);
    await log.#adopt();
    await log.sync();
    return log;
  }

  /** Applies all entries that were appended before the call. */
  sync(): Promise<void> {
    return this.#serialised(async () => {
      await this.#readOn(await this.#positions.newest());
      await this.#settle();
    });
  }

  /**
   * Returns a number above all that were returned before. When it resolves, all entries with lower
   * numbers are applied on this front end.
   */
  async nextOrder(untilMs?: number): Promise<bigint> {
    const { order, seen } = await this.#versionClock.next(
      (node, signal) => this.#positions.newestVersion(node, signal),
      untilMs,
    );
    if (seen > this.#version || this.#uncertain !== undefined) await this.sync();
    return order;
  }

  /**
   * Appends the entry that `make` returns for the current state. If other entries come first, they
   * are applied and `make` is called again. `undefined` appends nothing. Resolves when the entry is
   * applied on this front end. Retries until `untilMs` (monotonic).
   */
  append(make: () => string | undefined, untilMs?: number): Promise<void> {
    return this.#serialised(async () => {
      const until = untilMs ?? this.#cluster.patienceMs();
      for (;;) {
        const payload = make();
        if (payload === undefined) return;
        if (await this.#tryAppend(payload, untilMs)) return;
        if (this.#clock.monotonicMs() > until)
          throw new Unavailable('other front ends of the cluster change it all the time');
      }
    });
  }

  #serialised<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined); // The next call must run all the same.
    return result;
  }

  async #tryAppend(payload: string, untilMs?: number): Promise<boolean> {
    const version = this.#version + 1;
    const row = {
      proposal: randomBytes(12).toString('hex'),
      parent: this.#proposal,
      parentOrder: this.#order,
      payload,
    };
    await this.#insert(version, row, untilMs);
    this.#uncertain = version;
    const newest = await this.#positions.take(version, row.proposal, untilMs);
    this.#uncertain = undefined;
    if (newest.version === version && newest.proposal === row.proposal)
      this.#take(version, row, newest.order);
    else await this.#readOn(newest);
    if (this.#recent.get(version) !== row.proposal) return false;
    if (this.#version - this.#snapshot >= ENTRIES_PER_SNAPSHOT) await this.#makeSnapshot();
    return true;
  }

  /**
   * Fills a position that a failed append may still take with an empty entry, unless it is taken.
   */
  async #settle(): Promise<void> {
    if (this.#uncertain === undefined) return;
    if (this.#uncertain <= this.#version) this.#uncertain = undefined;
    else await this.#tryAppend(NOTHING);
  }

  #take(version: number, { proposal, payload }: Row, order: bigint): void {
    if (payload !== NOTHING) this.#subject.apply(payload, order);
    this.#version = version;
    this.#proposal = proposal;
    this.#order = order;
    this.#recent.set(version, proposal);
    this.#recent.delete(version - ENTRIES_PER_SNAPSHOT);
  }

  /** Stores a snapshot, which is the same on every front end. */
  async #makeSnapshot(): Promise<void> {
    const payload = this.#subject.print();
    await this.#insert(this.#version, {
      proposal: SNAPSHOT,
      parent: this.#proposal,
      parentOrder: this.#order,
      payload,
    });
    this.#snapshot = this.#version;
  }

  async #insert(
    version: number,
    { proposal, parent, parentOrder, payload }: Row,
    untilMs?: number,
  ): Promise<void> {
    const row = new RowWriter();
    row.uint64(BigInt(version));
    row.text(proposal);
    row.text(parent);
    row.uint64(parentOrder);
    row.text(payload);
    const into = `${this.#cluster.table(SHARED_TABLE)} (${COLUMNS})`;
    const rows = row.finish();
    await this.#cluster.insert('all nodes', { into: `${into} FORMAT RowBinary`, rows, untilMs });
  }

  /**
   * Tables that were restored from a backup have entries but no positions; front ends then adopt
   * the longest chain of entries. A second entry shows that the first position was taken, so the
   * rows are not mere proposals.
   */
  async #adopt(): Promise<void> {
    if ((await this.#positions.newest()).version > 0) return;
    const rows = await this.#rowsUpTo(Number.MAX_SAFE_INTEGER);
    const last = Math.max(...rows.keys());
    if (!(last > 1)) return;
    const origin = await this.#positions.newest();
    if (origin.version > 0) return;
    const proposals = [...rows.values()].flatMap((own) => [...own.keys()]);
    const [tip = ''] = [...(rows.get(last)?.keys() ?? [])].filter((one) => one !== SNAPSHOT).sort();
    // The transaction number of the last entry is unknown; if the entry is a delete, it hides
    // nothing.
    const isWhole = await this.#readUpTo({ version: last, proposal: tip, order: 0n });
    if (!isWhole) throw new Unavailable('the entries that front ends agreed on are not complete');
    const mark = await this.#cluster.startDelete(
      'all nodes',
      SHARED_TABLE,
      `version > 0 AND proposal IN (${sqlTexts([...proposals, SNAPSHOT])})`,
    );
    await this.#subject.adopt();
    this.#version = 0;
    this.#proposal = '';
    this.#order = origin.order;
    this.#recent.clear();
    await this.#makeSnapshot();
    const until = this.#clock.monotonicMs() + LIMITS.adoptMs.value;
    while (!(await this.#cluster.isDeleteDone('all nodes', SHARED_TABLE, mark))) {
      if (this.#clock.monotonicMs() > until)
        throw new Unavailable('not every server of the cluster has removed the old entries');
      await this.#clock.sleep(POLL_MS);
    }
  }

  /** Applies new entries. Reads again while a replica lacks a row that another one has. */
  async #readOn(newest: LogPosition): Promise<void> {
    if (newest.version <= this.#version) return;
    const until = this.#clock.monotonicMs() + LIMITS.insertMs.value;
    for (;;) {
      if (await this.#readUpTo(newest)) return;
      if (this.#clock.monotonicMs() > until)
        throw new Unavailable('no replica has what the front ends agreed on last');
      await this.#clock.sleep(POLL_MS);
    }
  }

  async #readUpTo(newest: LogPosition): Promise<boolean> {
    const rows = await this.#rowsUpTo(newest.version);
    const snapshot = [...rows].reverse().find(([, own]) => own.has(SNAPSHOT));
    const isBehind = snapshot !== undefined && snapshot[0] > this.#version;
    const first = Math.max(0, isBehind ? snapshot[0] : this.#version);
    // Follows the chain back from the newest entry; each names the one before it.
    const chain: { readonly row: Row; readonly order: bigint }[] = [];
    let { proposal, order } = newest;
    for (let version = newest.version; version > first; version--) {
      const row = rows.get(version)?.get(proposal);
      if (row === undefined) return false;
      chain.push({ row, order });
      proposal = row.parent;
      order = row.parentOrder;
    }
    if (isBehind) {
      const whole = snapshot[1].get(SNAPSHOT)!;
      assert(whole.parent === proposal, 'entries follow the state before them');
      this.#subject.restore(whole.payload);
      this.#version = first;
      this.#proposal = proposal;
      this.#order = whole.parentOrder;
    }
    assert(proposal === this.#proposal, 'entries follow each other');
    this.#version = first;
    // A new log has no transaction number yet.
    this.#order = order;
    for (const one of chain.reverse()) this.#take(this.#version + 1, one.row, one.order);
    if (snapshot !== undefined) this.#snapshot = Math.max(this.#snapshot, snapshot[0]);
    return true;
  }

  /** Rows by version and proposal. A front end that starts begins with the last snapshot. */
  async #rowsUpTo(newest: number): Promise<ReadonlyMap<number, ReadonlyMap<string, Row>>> {
    const table = this.#cluster.table(SHARED_TABLE);
    const first =
      this.#version > 0
        ? String(this.#version + 1)
        : `(SELECT max(version) FROM ${table}
             WHERE proposal = '${SNAPSHOT}' AND version <= ${newest})`;
    const reader = new RowReader(
      await this.#cluster.rowsOfAny(
        `SELECT ${COLUMNS} FROM ${table}
         WHERE version >= ${first} AND version <= ${newest} ORDER BY version`,
      ),
    );
    const rows = new Map<number, Map<string, Row>>();
    while (reader.hasMore) {
      const version = Number(reader.uint64());
      const row = {
        proposal: reader.text(),
        parent: reader.text(),
        parentOrder: reader.uint64(),
        payload: reader.text(),
      };
      const own = rows.get(version) ?? new Map<string, Row>();
      rows.set(version, own.set(row.proposal, row));
    }
    return rows;
  }
}

/** The payload of an entry that changes nothing. */
const NOTHING = '';

const COLUMNS = 'version, proposal, parent, parent_order, payload';

/** Pause between reads of a row that a replica does not have yet. */
const POLL_MS = 50;
