// Attacks the real service on a small disk: clients write, delete, drop, define, back up, restore
// and read at once, while syncs are slow or fail, the disk is full, and the process is killed again
// and again. Results of reads are compared with what the clients know.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { makeDirectory, runTidemark, seededRandom, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { makeSmallDisk } from '../disk-full/small-disk.ts';
import type { SmallDisk } from '../disk-full/small-disk.ts';
import { DATABASES, MEASUREMENTS, POLICIES, CELLS } from './cells.ts';
import { backUpForever } from './clients/backup.ts';
import { checkRows, readForever, readSlowly, textOf } from './clients/read.ts';
import { changeForever, define, deleteForever, KEEPS } from './clients/remove.ts';
import { FILLER, writeForever } from './clients/write.ts';
import { Ballast, canTrace, disturbedSyncs, faultOf } from './faults.ts';
import type { Fault, FaultKind } from './faults.ts';
import { Ledger } from './ledger.ts';
import { Finding, Round } from './round.ts';
import type { Attack } from './round.ts';

export type AttackOptions = {
  readonly seed: number;
  readonly durationMs: number;
  /** Mount a file system where this user may. */
  readonly mounts: boolean;
  readonly say: (line: string) => void;
};

export type AttackResult = {
  readonly rounds: number;
  /** The error with the last events; `undefined` without one. */
  readonly finding: string | undefined;
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
};

const DISK_BYTES = 256 << 20;
/** Segments and log are small, so that flushes and compactions go on all the time. */
const SETTINGS = {
  TIDEMARK_DATA_MEMTABLE_MAX_SIZE: '1m',
  TIDEMARK_DATA_WAL_MAX_SIZE: '2m',
  TIDEMARK_RETENTION_CHECK_INTERVAL: '1s',
  TIDEMARK_MONITOR_STORE_ENABLED: 'false',
};
const LATE = 'could not stop in time';
const ROUND_MS_MIN = 1500;
const ROUND_MS_SPAN = 7000;
/** One life in so many ends by a stop. */
const STOP_ONE_OF = 5;
const VERIFY_ONE_OF = 8;
/** Lines of history that a finding is told with. */
const HISTORY_LINES = 200;
const KINDS: readonly FaultKind[] = [
  ...(['none', 'none', 'none', 'delayed-sync', 'full-disk'] as const),
  ...(canTrace() ? (['slow-sync', 'slow-sync', 'failing-sync'] as const) : []),
];

export async function attack({
  seed,
  durationMs,
  mounts,
  say,
}: AttackOptions): Promise<AttackResult> {
  const disk = await makeSmallDisk(DISK_BYTES, { mounts });
  const counts = new Map<string, number>();
  const history: string[] = [];
  let lastValue = 0;
  const parts: Attack = {
    ledger: new Ledger(),
    random: seededRandom(seed),
    nextValue: () => ++lastValue,
    mark: (name, times = 1) => counts.set(name, (counts.get(name) ?? 0) + times),
    say: (line) => {
      history.push(line);
      if (history.length > HISTORY_LINES) history.shift();
    },
  };
  const lives = new Lives(parts, disk);
  const endsAtMs = performance.now() + durationMs;
  let finding: string | undefined;
  let rounds = 0;
  try {
    while (performance.now() < endsAtMs) {
      await lives.live(++rounds);
      if (rounds % 20 === 0) say(`${rounds} rounds: ${JSON.stringify(Object.fromEntries(counts))}`);
    }
  } catch (error) {
    const kept = await makeDirectory();
    cpSync(disk.directory, kept, { recursive: true });
    finding = [
      ...history,
      `round ${rounds}: ${error instanceof Finding ? error.message : String((error as Error).stack)}`,
      `the files are in ${kept}`,
    ].join('\n');
  } finally {
    await lives.end();
    await disk.remove();
  }
  return { rounds, finding, counts };
}

class Lives {
  readonly #attack: Attack;
  readonly #disk: SmallDisk;
  readonly #data: string;
  readonly #ballast: Ballast;
  #server: Tidemark | undefined;
  /** Expiry that earlier services may have left to this one. */
  #lingering: Round['lingering'] = [];

  constructor(parts: Attack, disk: SmallDisk) {
    this.#attack = parts;
    this.#disk = disk;
    this.#data = join(disk.directory, 'data');
    this.#ballast = new Ballast(disk, DISK_BYTES);
    mkdirSync(this.#data);
  }

  #pick(end: number): number {
    return Math.floor(this.#attack.random() * end);
  }

  async end(): Promise<void> {
    await this.#server?.kill();
  }

  /** Start, check, attack, end. */
  async live(number: number): Promise<void> {
    const { mark, say } = this.#attack;
    const trace = join(this.#disk.directory, 'trace');
    rmSync(trace, { force: true });
    const kind = KINDS[this.#pick(KINDS.length)]!;
    const fault = faultOf(kind, { pick: (end) => this.#pick(end), trace });
    say(`round ${number}: ${kind}`);
    mark(`rounds: ${kind}`);
    const server = await startTidemark({
      command: 'tsdb',
      directory: this.#data,
      args: ['--log-level', 'error'],
      wrapper: fault.wrapper,
      environment: { ...this.#disk.environment, ...SETTINGS, ...fault.environment },
    });
    this.#server = server;
    const hasFaults = kind === 'failing-sync' || kind === 'full-disk';
    const round = new Round(this.#attack, { number, url: server.tsdb, hasFaults });
    await this.#checkAll(round);
    await this.#attackFor(round, fault, server);
    this.#lingering.push(...round.lingering);
    const log = server.errorOutput();
    mark('syncs that strace disturbed', disturbedSyncs(trace));
    const isComplaint = (line: string): boolean =>
      line.includes('"level":"error"') && !line.includes(LATE);
    if (/assert/i.test(log) || (!hasFaults && log.split('\n').some(isComplaint))) {
      throw new Finding(`the log says: ${log.slice(0, 4000)}`);
    }
    if (this.#pick(VERIFY_ONE_OF) === 0) await this.#verify();
  }

  async #attackFor(round: Round, fault: Fault, server: Tidemark): Promise<void> {
    let failure: unknown;
    const clients = [
      ...Array.from({ length: 4 }, () => writeForever(round)),
      changeForever(round, 'a'),
      changeForever(round, 'b'),
      deleteForever(round, 'a'),
      backUpForever(round),
      ...Array.from({ length: 3 }, () => readForever(round)),
      readSlowly(round),
    ].map((client) =>
      client.catch((error: unknown) => {
        failure ??= error;
        round.isEnding = true;
      }),
    );
    const endsAtMs = performance.now() + ROUND_MS_MIN + this.#pick(ROUND_MS_SPAN);
    while (performance.now() < endsAtMs && !round.isEnding) {
      if (fault.kind === 'full-disk') this.#ballast.fill(this.#pick(6) << 18);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    round.isEnding = true;
    await (this.#pick(STOP_ONE_OF) === 0 ? this.#stop(server, round) : this.#kill(server));
    await Promise.all(clients);
    this.#ballast.remove();
    if (failure !== undefined) throw failure;
  }

  async #kill(server: Tidemark): Promise<void> {
    this.#attack.mark('kills');
    this.#attack.say('kill');
    await server.kill();
  }

  async #stop(server: Tidemark, { hasFaults }: Round): Promise<void> {
    this.#attack.mark('stops');
    this.#attack.say('stop');
    const status = await server.stop();
    // On a busy machine, or with slow syncs, it ends itself.
    const isLate = server.errorOutput().includes(LATE);
    if (isLate) this.#attack.mark('stops that took too long');
    if (status !== 0 && !hasFaults && !isLate) {
      throw new Finding(`a stop ended with ${status}: ${server.errorOutput()}`);
    }
  }

  /** Before the clients come: everything is as somebody left it, and stays so from now on. */
  async #checkAll(round: Round): Promise<void> {
    const { ledger } = this.#attack;
    for (const database of ['a', 'b'] as const) {
      for (let attempt = 0; !(await define(round, database)); attempt++) {
        if (attempt === 50) throw new Finding(`${database} cannot be defined after a start`);
      }
      const altered = await round.query(`ALTER RETENTION POLICY q ON ${database} ${KEEPS}`);
      if (altered.kind !== 'series')
        throw new Finding(`q cannot be altered: ${JSON.stringify(altered)}`);
    }
    // It may not be there.
    await round.query(`ALTER RETENTION POLICY q ON r ${KEEPS}`);
    for (const { end, lastRound } of this.#lingering) if (lastRound < round.number) end();
    this.#lingering = this.#lingering.filter(({ lastRound }) => lastRound >= round.number);
    const from = ledger.beginRead();
    const found = new Map<string, number>();
    for (const database of DATABASES) {
      await this.#checkNames(round, database);
      for (const policy of POLICIES) {
        for (const measurement of MEASUREMENTS) {
          const source = { database, policy, measurement };
          const text = textOf(source);
          const rows = await round.query(`SELECT v FROM ${text} GROUP BY t`);
          const seen = checkRows(
            round,
            { source, from },
            rows.kind === 'series' ? rows.series : [],
          );
          for (const [key, value] of seen) found.set(`${text} ${key}`, value);
          const counted = await round.query(`SELECT count(v) FROM ${text}`);
          const series = counted.kind === 'series' ? counted.series : [];
          const count = Number(series[0]?.values[0]?.[1] ?? 0);
          // Expiry may be going on in `q`.
          if (count !== seen.size && policy !== 'q') {
            throw new Finding(`${text} has ${seen.size} rows and counts ${count}`);
          }
        }
      }
    }
    ledger.endRead(from);
    for (const cell of CELLS) {
      ledger.settle(cell, found.get(`${textOf(cell)} ${cell.tag} ${cell.time}`) ?? 0);
    }
    this.#attack.mark('checks of everything');
  }

  async #checkNames(round: Round, database: string): Promise<void> {
    const names = await round.query('SHOW MEASUREMENTS', { db: database });
    const known = new Set<unknown>([...MEASUREMENTS, FILLER]);
    const rows = names.kind === 'series' ? names.series.flatMap(({ values }) => values) : [];
    const strange = rows.flat().filter((name) => !known.has(name));
    if (strange.length > 0) throw new Finding(`${database} has ${strange.join(', ')}`);
    const bounds = await round.query(`SELECT min(v), max(v) FROM ${FILLER}`, { db: database });
    for (const [, min, max] of bounds.kind === 'series'
      ? bounds.series.flatMap((one) => one.values)
      : []) {
      if (min !== 1 || max !== 1)
        throw new Finding(`${FILLER} of ${database} has ${min} to ${max}`);
    }
  }

  async #verify(): Promise<void> {
    const args = ['tsdb', 'verify', '--json', '--data-dir', this.#data];
    const { stdout, stderr } = await runTidemark(args);
    this.#attack.mark('directories verified');
    if (!stdout.startsWith('{')) throw new Finding(`verify: ${stdout} ${stderr}`);
    const { damage } = JSON.parse(stdout) as { damage: readonly { readonly message: string }[] };
    if (damage.length > 0) throw new Finding(`verify finds damage: ${JSON.stringify(damage)}`);
  }
}
