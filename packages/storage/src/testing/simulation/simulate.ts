// Runs a plan: its operations concurrently, in an order that a seed decides, on a disk that fails
// and loses power, compared with a model. A run stops at the first violation.
import { AppError, AssertionFailed, Cancelled } from '@tidemark/core';
import { retainPolicies } from '@tidemark/storage-api';
import type { ShardInfo } from '@tidemark/storage-api';

import { walDirectory } from '../../disk/paths.ts';
import { DIRECTORY, openSubject, query, Reader } from './workload/subject.ts';
import type { Subject } from './workload/subject.ts';
import { preparePlans } from './workload/answers.ts';
import { BACKED_UP, restoredContents, restoredPolicies } from './workload/backups.ts';
import type { Backup } from './workload/backups.ts';
import { Catalog } from './workload/catalog.ts';
import {
  clearPolicy,
  deleteChange,
  dropMeasurementChange,
  dropShardChange,
  writeChange,
} from './workload/changes.ts';
import type { Change } from './workload/changes.ts';
import { RESTORED } from './workload/operations.ts';
import type { Operation, Plan } from './workload/operations.ts';
import { describeOperation } from './workload/plan-words.ts';
import { checkDirectory, finds, unnamedFiles } from './checkers/directory.ts';
import { checkQuery } from './checkers/query.ts';
import { checkSeries } from './checkers/series.ts';
import { cellIn, checkUnsynced, isLogSynced } from './checkers/unsynced.ts';
import type { PossibleValues } from './checkers/unsynced.ts';
import { Cells, TooManyWorlds, Worlds } from './model/world.ts';
import type { Effect } from './model/world.ts';
import { damagedCopy } from './faults/damage.ts';
import type { Damaged } from './faults/damage.ts';
import { MachineOff } from './faults/machine.ts';
import type { Machine } from './faults/machine.ts';
import { newMachine } from './faults/machine.ts';
import { READER_FAULT, SimulatedReader } from './faults/reader.ts';
import { Scheduler, settled } from './scheduler.ts';
import { describeRows, printable, stackOf } from './words.ts';

/** A broken promise, in words. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export type Outcome = {
  readonly violation: string | undefined;
  /** What happened, line by line. */
  readonly history: readonly string[];
  /** How often rare things happened. */
  readonly marks: ReadonlyMap<string, number>;
};

/** More than any run takes: beyond it something never ends. */
const STEPS_MAX = 60_000;

export async function simulate(plan: Plan): Promise<Outcome> {
  await preparePlans();
  const run = new Run(plan);
  let violation: string | undefined;
  // An assertion that fails in a promise without a handler ends the storage thread.
  const onUnhandled = (error: unknown): void => run.complain(`nobody handled ${stackOf(error)}`);
  process.on('unhandledRejection', onUnhandled);
  try {
    await run.all();
  } catch (error) {
    if (error instanceof TooManyWorlds) run.marks.set('not judged to the end', 1);
    else violation = error instanceof Violation ? error.message : String((error as Error).stack);
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
  return { violation, history: run.history, marks: run.marks };
}

type Running = {
  readonly id: number;
  readonly operation: Operation;
  /** Whether a fault or the end of the engine may have made it fail. */
  mayFail: boolean;
};

class Run {
  readonly #plan: Plan;
  readonly history: string[] = [];
  readonly marks = new Map<string, number>();
  readonly #scheduler: Scheduler;
  readonly #simulatedReader: SimulatedReader;
  #machine: Machine;
  #subject: Subject | undefined;
  #reader: Reader | undefined;
  /** Files of the log that were there at the last start. */
  #oldLogs: readonly string[] = [];
  readonly #cells = new Cells();
  readonly #worlds = new Worlds(this.#cells);
  readonly #catalog = new Catalog();
  readonly #running = new Map<number, Running>();
  /** Results of operations that have ended since they were last processed. */
  #ended: (() => Promise<void> | void)[] = [];
  #backups: Backup[] = [];
  #starting: Backup[] = [];
  /** The values that could be seen since the log was last synced. */
  #unsynced: PossibleValues[] = [];
  #nextId = 1;
  #nextValue = 1;
  #complaint: string | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#scheduler = new Scheduler(plan.seed, (what) => this.#say(`  ${what}`));
    this.#machine = newMachine(this.#scheduler);
    this.#simulatedReader = new SimulatedReader(this.#scheduler, {
      error: (error) => this.complain(`a reader failed: ${stackOf(error)}`),
      mark: (name) => this.#mark(name),
    });
  }

  /** Ends the run with a violation. */
  complain(reason: string): void {
    this.#complaint ??= reason;
  }

  #say(line: string): void {
    this.history.push(line);
  }

  #mark(name: string): void {
    this.marks.set(name, (this.marks.get(name) ?? 0) + 1);
  }

  async all(): Promise<void> {
    await this.#open();
    const left = [...this.#plan.operations];
    const { concurrency } = this.#plan.setup;
    while (left.length > 0) {
      const isFull = this.#running.size >= concurrency;
      const startsOne = !isFull && this.#scheduler.isOneOf(this.#running.size === 0 ? 2 : 8);
      if (startsOne) await this.#startNext(left);
      else await this.#step();
    }
    await this.#finishAll();
    const problem = checkSeries(this.#subject!, this.#observe());
    if (problem !== undefined) throw new Violation(problem);
    await this.#close();
    await this.#open();
    await this.#close();
  }

  /** Starts the next operation, or several writes that arrive in one message. */
  async #startNext(left: Operation[]): Promise<void> {
    const { concurrency } = this.#plan.setup;
    let last: Operation;
    do {
      last = left.shift()!;
      await this.#start(last);
    } while (
      last.kind === 'write' &&
      left[0]?.kind === 'write' &&
      this.#running.size < concurrency &&
      this.#scheduler.isOneOf(2)
    );
  }

  async #finishAll(): Promise<void> {
    while (this.#running.size > 0) await this.#step();
  }

  async #step(): Promise<void> {
    if (this.#scheduler.steps > STEPS_MAX) throw new Violation('something waits for ever');
    const what = await this.#scheduler.step();
    const hasEnded = this.#ended.length > 0;
    await this.#takeNote();
    if (hasEnded || CHANGES.test(what) || this.#plan.setup.fsync === 'interval') this.#look();
  }

  /** Reports ended operations to the model. */
  async #takeNote(): Promise<void> {
    for (let ended = this.#ended; ended.length > 0; ended = this.#ended) {
      this.#ended = [];
      for (const end of ended) await end();
      await settled();
    }
    if (this.#complaint !== undefined) throw new Violation(this.#complaint);
  }

  /** Compares the visible contents with the model. */
  #look(): void {
    if (this.#subject !== undefined) this.#observe();
  }

  #observe(): ReadonlyMap<string, number> {
    const seen = this.#read();
    if (!this.#worlds.observe(seen)) {
      throw new Violation(
        `what is read is not what was acknowledged\n  read:  ${describeRows(seen)}\n  model: ${this.#worlds.describe()}`,
      );
    }
    for (const backup of this.#starting) backup.moments.push(seen);
    if (this.#plan.setup.fsync === 'interval') {
      if (isLogSynced(this.#machine.disk)) this.#unsynced = [];
      this.#unsynced.push(this.#worlds.possibleValues());
    }
    return seen;
  }

  #read(): ReadonlyMap<string, number> {
    this.#scheduler.isFrozen = true;
    try {
      return this.#reader!.read();
    } finally {
      this.#scheduler.isFrozen = false;
    }
  }

  /** `look` reads the visible contents at first. */
  async #open(
    look?: (seen: ReadonlyMap<string, number>, shards: readonly ShardInfo[]) => void,
  ): Promise<void> {
    const { disk } = this.#machine;
    const subject = await this.#openEngine();
    this.#catalog.forgetDrops();
    this.#subject = subject;
    this.#reader = new Reader(subject);
    const seen = this.#read();
    this.#say(`opened: ${describeRows(seen)}`);
    const shards = await subject.engine.shards();
    look?.(seen, shards);
    const shardIds = shards.map(({ id }) => id);
    const unnamed = unnamedFiles(disk.copy(), shardIds);
    if (unnamed.length > 0) throw new Violation(`files that nothing names: ${unnamed.join()}`);
    await this.#retain();
  }

  async #openEngine(): Promise<Subject> {
    const { disk } = this.#machine;
    const machine = this.#machine;
    this.#oldLogs = disk.list(walDirectory(DIRECTORY));
    let subject: Subject | undefined;
    let failure: unknown;
    openSubject(this.#plan.setup, {
      disk,
      scheduler: this.#scheduler,
      readers: this.#simulatedReader.for(disk),
      onJointMessage: () => this.#mark('writes in one message'),
      log: (level, message, details) => {
        if (machine !== this.#machine || level !== 'error') return;
        this.#say(`  log: ${message} ${String(details?.['error'] ?? '')}`);
        if (!this.#machine.hasFailed) {
          this.#complaint ??= `the log says: ${message} ${JSON.stringify(details, printable)}`;
        }
      },
    }).then(
      (opened) => (subject = opened),
      (error: unknown) => (failure = error),
    );
    await settled();
    while (subject === undefined) {
      if (failure !== undefined)
        throw new Violation(`the engine does not open: ${stackOf(failure)}`);
      await this.#scheduler.step();
    }
    return subject;
  }

  /** As the service does at its start. */
  async #retain(): Promise<void> {
    const policies = this.#catalog.policies();
    const ids = new Set(policies.map(({ id }) => id));
    const held = new Set((await this.#subject!.engine.shards()).map(({ policyId }) => policyId));
    // One after the other.
    const effects = [...held].filter((id) => !ids.has(id)).map(clearPolicy);
    await this.#finish(retainPolicies(this.#subject!.engine, policies), 'retain policies', effects);
  }

  /** Runs work to its end while background work goes on. Its effects happen in any order. */
  async #finish(work: Promise<unknown>, what: string, effects: readonly Effect[]): Promise<void> {
    const ids = effects.map(() => this.#nextId++);
    effects.forEach((effect, i) => this.#worlds.begin({ id: ids[i]!, effects: [effect] }));
    this.#say(`begins: ${what}`);
    let isDone = false;
    work.then(
      () => (isDone = true),
      (error: unknown) => {
        this.#complaint ??= `${what} failed: ${stackOf(error)}`;
        isDone = true;
      },
    );
    await settled();
    while (!isDone) await this.#step();
    for (const id of ids) this.#worlds.acknowledge(id);
    this.#look();
  }

  async #close(): Promise<void> {
    this.#say('close');
    for (const running of this.#running.values()) running.mayFail = true;
    const { engine } = this.#subject!;
    this.#subject = undefined;
    // What they hold cannot be seen any more.
    for (const backup of this.#starting) backup.isUnknown = true;
    this.#starting = [];
    let isClosed = false;
    engine.close().then(
      () => (isClosed = true),
      (error: unknown) => (this.#complaint ??= `close failed: ${stackOf(error)}`),
    );
    await settled();
    while (!isClosed) await this.#step();
    const { disk } = this.#machine;
    disk.failSyncs = 0;
    disk.failDirectorySyncs = 0;
    const { operations } = disk;
    while (this.#running.size > 0) await this.#step();
    if (disk.operations > operations) throw new Violation('files change after the end');
    this.#scheduler.forgetAll();
    this.#worlds.forgetPending();
    const problem = await checkDirectory(this.#machine.disk);
    if (problem !== undefined) throw new Violation(problem);
  }

  async #crash(kind: 'power-cut' | 'kill'): Promise<void> {
    this.#say(kind);
    this.#mark(kind);
    this.#scheduler.forgetAll();
    this.#running.clear();
    this.#ended = [];
    this.#starting = [];
    this.#subject = undefined;
    const isLossy = this.#plan.setup.fsync === 'interval' && kind === 'power-cut';
    const moments = isLossy ? [...this.#unsynced, this.#worlds.possibleValues()] : [];
    const isAllSynced =
      kind === 'kill' && !this.#machine.hasFailed && this.#plan.setup.fsync === 'always';
    const damaged = isAllSynced ? this.#damagedCopy() : undefined;
    this.#machine = this.#machine.crash(kind);
    if (!isLossy) this.#worlds.forgetPending();
    await settled();
    if (damaged !== undefined) await this.#checkDamaged(damaged);
    this.#unsynced = [];
    await this.#open(
      isLossy ? (seen, shards) => this.#adopt(seen, { moments, shards }) : undefined,
    );
  }

  #damagedCopy(): Damaged | undefined {
    const options = { scheduler: this.#scheduler, old: this.#oldLogs };
    return damagedCopy(this.#machine.disk, options);
  }

  /** Damage of a record that was acknowledged is distinguished from a torn record. */
  async #checkDamaged({ disk, path }: Damaged): Promise<void> {
    this.#mark('flipped bit');
    if (await finds(disk, path)) return;
    throw new Violation(`verify does not find a flipped bit in ${path}`);
  }

  #adopt(
    seen: ReadonlyMap<string, number>,
    {
      moments,
      shards,
    }: { readonly moments: readonly PossibleValues[]; readonly shards: readonly ShardInfo[] },
  ): void {
    const problem = checkUnsynced(seen, moments);
    if (problem !== undefined) throw new Violation(problem);
    this.#worlds.adopt(
      [...seen].map(
        ([name, value]) => [cellIn(shards, this.#catalog.cellNamed(name)), value] as const,
      ),
    );
  }

  async #start(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'close':
        await this.#close();
        return this.#open();
      case 'power-cut':
      case 'kill':
        return this.#crash(operation.kind);
      case 'fail-sync':
        this.#say(`fails: the next ${operation.count} syncs of ${operation.of}`);
        this.#machine.failSyncs(operation.of, operation.count);
        for (const running of this.#running.values()) running.mayFail = true;
        return undefined;
      case 'wait':
        for (let i = 0; i < 20; i++) await this.#step();
        return undefined;
      case 'query':
        return this.#query(operation);
      case 'backup':
        return this.#backUp(operation);
      default:
        return this.#change(operation);
    }
  }

  /** Begins an operation; `end` runs when it was acknowledged. */
  #begin(
    operation: Operation,
    effects: readonly Effect[],
    work: (id: number) => Promise<unknown>,
    options: {
      readonly hasParts?: boolean;
      /**
       * A drop of this policy: when it is refused it is retried, and may happen at any later time.
       */
      readonly owedPolicy?: number;
      readonly onEnd?: (value: unknown) => void;
    } = {},
  ): void {
    const id = this.#nextId++;
    const running: Running = { id, operation, mayFail: this.#machine.hasFailed };
    const machine = this.#machine;
    this.#running.set(id, running);
    this.#worlds.begin({ id, effects });
    this.#say(`#${id} begins: ${describeOperation(operation)}`);
    work(id).then(
      (value) => {
        if (machine !== this.#machine) return;
        this.#ended.push(() => {
          this.#running.delete(id);
          this.#say(`#${id} done`);
          this.#worlds.acknowledge(id);
          options.onEnd?.(value);
        });
      },
      (error: unknown) => {
        if (machine !== this.#machine || error instanceof MachineOff) return;
        this.#ended.push(() => {
          this.#running.delete(id);
          this.#say(`#${id} refused: ${String(error)}`);
          if (!isRefusal(error, operation, running.mayFail)) {
            throw new Violation(`#${id} ${describeOperation(operation)} failed: ${stackOf(error)}`);
          }
          const isUncertain = this.#machine.hasFailed || running.mayFail;
          const { owedPolicy } = options;
          if (owedPolicy !== undefined) {
            this.#mark('owed drop');
            this.#worlds.hide(owedPolicy);
          } else this.#worlds.refuse(id, { hasParts: options.hasParts === true, isUncertain });
        });
      },
    );
  }

  async #change(operation: Operation): Promise<void> {
    const { engine } = this.#subject!;
    switch (operation.kind) {
      case 'write': {
        const { hasParts } = this.#plan.setup;
        const policy = this.#catalog.policy(operation.database, operation.retentionPolicy);
        const value = this.#nextValue++;
        this.#beginChange(operation, writeChange(operation, { policy, value, hasParts }), {
          hasParts,
        });
        return;
      }
      case 'delete':
        this.#beginChange(operation, deleteChange(operation));
        return;
      case 'drop-measurement':
        this.#beginChange(operation, dropMeasurementChange(operation));
        return;
      case 'drop-policy':
        this.#drop(operation, this.#catalog.drop(operation.database, operation.retentionPolicy));
        return;
      case 'drop-database':
        this.#drop(operation, this.#catalog.drop(operation.database));
        return;
      case 'expire': {
        const id = this.#catalog.known(operation.database, operation.retentionPolicy);
        const shard = (await engine.shards()).find(({ policyId }) => policyId === id);
        if (shard !== undefined) this.#beginChange(operation, dropShardChange(shard));
        return;
      }
      case 'flush':
        this.#begin(operation, [], () => engine.flush());
        return;
      case 'compact':
        this.#begin(operation, [], () => engine.compact());
        return;
      case 'restore':
        this.#restore(operation);
        return;
      default:
        return;
    }
  }

  #beginChange(
    operation: Operation,
    { effects, work }: Change,
    options: { readonly hasParts?: boolean } = {},
  ): void {
    const subject = this.#subject!;
    this.#begin(operation, effects, () => work(subject), options);
  }

  /** As in the service: the names are removed first, then the data of each policy. */
  #drop(operation: Operation, ids: readonly number[]): void {
    const { engine } = this.#subject!;
    for (const id of ids) {
      const drop = async (): Promise<void> => {
        try {
          await engine.dropPolicy(id);
        } finally {
          this.#catalog.dropped([id]);
        }
      };
      this.#worlds.beginDrop(id);
      this.#begin(operation, [clearPolicy(id)], drop, { owedPolicy: id });
    }
    // The rows are hidden from now on.
    this.#look();
  }

  async #query(operation: Operation & { kind: 'query' }): Promise<void> {
    const seen = this.#observe();
    const { source, asked } = this.#subject!;
    const controller = new AbortController();
    const isCancelled = operation.how === 'aggregate' && this.#scheduler.isOneOf(CANCEL_ONE_OF);
    const cancel = (): void => controller.abort(new Cancelled('query was cancelled'));
    if (isCancelled) this.#scheduler.run('cancel of a query', cancel);
    const work = async (): Promise<unknown> => {
      if (operation.how === 'answer') return asked.ask(operation);
      const snapshot = source.snapshot();
      try {
        const isAggregate = operation.how === 'aggregate';
        const read = (): ReturnType<typeof query> =>
          query(snapshot, operation, isAggregate, controller.signal);
        // As a statement that reads several times.
        if (isAggregate && this.#scheduler.isOneOf(2)) {
          await read();
          await this.#scheduler.wait('second read of a query');
        }
        return await read();
      } finally {
        snapshot.close();
      }
    };
    this.#begin(operation, [], work, {
      onEnd: (answer) => {
        const problem = checkQuery(operation, { seen, answer });
        if (problem !== undefined) throw new Violation(problem);
        this.#mark(operation.how);
      },
    });
  }

  async #backUp(operation: Operation): Promise<void> {
    const { engine } = this.#subject!;
    const backup: Backup = {
      moments: [this.#observe()],
      isUnknown: false,
      pieces: [],
    };
    this.#starting.push(backup);
    const work = async (): Promise<void> => {
      try {
        for await (const piece of engine.backup({ databases: [BACKED_UP] })) {
          this.#starting = this.#starting.filter((other) => other !== backup);
          backup.pieces.push(piece);
          await this.#scheduler.wait('backup is stored');
        }
      } finally {
        this.#starting = this.#starting.filter((other) => other !== backup);
      }
    };
    this.#begin(operation, [], work, {
      onEnd: () => {
        this.#mark('backup');
        if (!backup.isUnknown) this.#backups = [backup];
      },
    });
  }

  #restore(operation: Operation): void {
    const [backup] = this.#backups;
    if (backup === undefined || this.#catalog.has(RESTORED)) return;
    this.#backups = [];
    const policies = restoredPolicies(this.#catalog);
    const databases = new Map([[BACKED_UP, RESTORED]]);
    const bytes = async function* (scheduler: Scheduler): AsyncGenerator<Uint8Array> {
      for (const piece of backup.pieces) {
        await scheduler.wait('backup is read');
        yield piece;
      }
    };
    const { engine } = this.#subject!;
    this.#begin(
      operation,
      [restoredContents(backup, this.#catalog)],
      () => engine.restore({ databases, policies }, bytes(this.#scheduler)),
      { onEnd: () => this.#mark('restore') },
    );
  }
}

/**
 * The visible contents after a crash change with these steps: the log is synced, or the manifest
 * has its name.
 */
const CHANGES = /^sync of wal|^sync-directory of $|^step manifest:after/;

/** One aggregate in this many is cancelled. */
const CANCEL_ONE_OF = 3;

/** Whether a query may end with it: it was cancelled, or a fault of a reader ended it. */
function isEnd(error: AppError): boolean {
  return error instanceof Cancelled || READER_FAULT.test(error.message);
}

function isRefusal(error: unknown, operation: Operation, mayFail: boolean): boolean {
  if (mayFail) return !(error instanceof AssertionFailed);
  if (!(error instanceof AppError)) return false;
  if (operation.kind === 'query') return isEnd(error);
  if (operation.kind === 'write') return error.name === 'NotFound';
  return operation.kind === 'restore' && error.name === 'Conflict';
}
