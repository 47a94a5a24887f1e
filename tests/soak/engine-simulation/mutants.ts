// Guards that the simulation protects: what happens without each, and which checker notices it.
//
// Not among them are pieces of one record that NATS takes between those of other writers: here a
// record that is not one message is refused (`packages/engine/src/shared-log/point-log.test.ts`).
// Without a lease nothing is looped back, but not because it would be there twice
// (`looped-points.test.ts` there).
import type { Edit, Mutant } from '../mutants/mutant.ts';

const engine = (file: string, from: string, to: string): Edit => ({
  file: `packages/engine/src/${file}`,
  from,
  to,
});

const runtime = (file: string, from: string, to: string): Edit => ({
  file: `packages/runtime/src/${file}`,
  from,
  to,
});

/** A task whose receiver hangs is as far behind as one with 131,072 rows. */
const FAR_BEHIND: readonly Edit[] = [
  runtime(
    'host/rows-on-the-way.ts',
    'const ROWS_ON_THE_WAY_MAX = 131_072;',
    'const ROWS_ON_THE_WAY_MAX = 8;',
  ),
  runtime('limits.ts', 'waitingMessageCountMax: 10_000,', 'waitingMessageCountMax: 2,'),
  engine(
    'ingest/point-router.ts',
    'this.#waitingRows <= this.#waitingRowsMax',
    'this.#waitingRows <= 4',
  ),
];

export const MUTANTS: readonly Mutant[] = [
  {
    what: 'a write waits for tasks that are far behind',
    edits: [
      ...FAR_BEHIND,
      engine('ingest/point-router.ts', 'if (consumer.fallBehind === undefined) ', ''),
      engine(
        'shared-log/point-log.ts',
        'await within(clock, TAKEN_MS, Promise.all(waiting.map(({ taken }) => taken.promise)));',
        'await Promise.all(waiting.map(({ taken }) => taken.promise));',
      ),
    ],
    foundBy: 'serving',
    seed: 60,
  },
  {
    what: 'a leader serves when its tasks have caught up',
    edits: [
      ...FAR_BEHIND,
      engine(
        'run-tasks.ts',
        'await starts.resumeEnabled();',
        `await starts.resumeEnabled();
         const isReading = ({ source }: any) => source?.isReading === true;
         while ([...executor.units()].some(isReading)) await stores.clock.sleep(10);`,
      ),
    ],
    foundBy: 'serving',
    seed: 66,
  },
  {
    what: 'a load directory that is missing deletes what was loaded',
    edits: [engine('tasks/load-directory.ts', 'await this.#requireFolders();', '')],
    foundBy: 'definitions',
    seed: 40,
  },
  {
    what: 'what outlives a term commits through the log of the next one',
    edits: [
      engine(
        'store/metadata.ts',
        'return new Metadata(this.#opened, log);',
        '(this as any).#log = log; return this;',
      ),
    ],
    foundBy: 'events',
    seed: 52_214,
  },
  {
    what: 'a copy that is ahead of the log does not tell the others how far it has come',
    edits: [
      engine('cluster/replica.ts', 'this.#sequence = position.sequence;\n      throw', 'throw'),
    ],
    foundBy: 'definitions',
    seed: 1674,
  },
  {
    what: 'a task that reads a write again gets the points that others have taken over',
    edits: [
      engine(
        'shared-log/point-log.ts',
        'batchOf: (record) => this.#read(record, this.#learn(record)),',
        `batchOf: (record) => {
           const label = this.#learn(record);
           const sent = this.#waiting.get(label?.id ?? '')?.batch;
           return sent === undefined ? this.#read(record, label) : placed(sent, record, label);
         },`,
      ),
    ],
    foundBy: 'hosts',
    seed: 1150,
  },
  {
    what: 'a task that begins nowhere counts as started on the host that was lost behind its answer',
    edits: [runtime('host/hosted-task.ts', 'failure = this.#client.loss;', '')],
    foundBy: 'serving',
    seed: 1461,
  },
  {
    what: 'points of listeners are printed as lines, which cannot carry all of them',
    edits: [
      engine(
        'shared-log/point-log.ts',
        'if (this.#options.level() < POINTS_LEVEL) {',
        'if (this.#options.level() > 0) {',
      ),
    ],
    foundBy: 'answers',
    seed: 1,
  },
  {
    what: 'a record that cannot be read stops those behind it',
    edits: [
      engine(
        'shared-log/point-record.ts',
        "const nothing = batchOfPoints({ database: '', retentionPolicy: '' }, []);",
        'throw error; const nothing = undefined;',
      ),
    ],
    foundBy: 'points',
    seed: 2,
  },
  {
    what: 'a term that has begun counts as everything',
    edits: [
      engine(
        'cluster/replica.ts',
        'if (this.#isFilled) await this.#write([], record);',
        'if (record.sequence > 0) await this.#fill([], record);',
      ),
    ],
    foundBy: 'definitions',
    seed: 1,
  },
  {
    what: 'another instance begins a cluster that waits for definitions',
    edits: [
      engine(
        'cluster/instance-role.ts',
        'if (!replica.isFilled && begins !== undefined &&',
        "if (!replica.isFilled && begins === '' &&",
      ),
    ],
    foundBy: 'definitions',
    seed: 12,
  },
  {
    what: 'a copy believes whatever log there is',
    edits: [
      engine(
        'cluster/replica.ts',
        'if (position.log !== undefined && position.log !== id)',
        "if (position.log === '')",
      ),
      engine('cluster/replica.ts', 'if (position.sequence > last)', 'if (position.sequence < 0)'),
      engine('cluster/replica.ts', 'if (digestOf(record) !== digest)', "if (digest === '')"),
      engine('cluster/instance-role.ts', 'if (ahead !== undefined)', 'if (false)'),
    ],
    foundBy: 'definitions',
    seed: 335,
  },
  {
    what: 'a task that is moved while it starts is told of both starts, and lives twice',
    edits: [
      runtime(
        'host/hosted-task.ts',
        'const isOver = (): boolean => attempt !== this.#restarts;',
        'const isOver = (): boolean => attempt < 0;',
      ),
    ],
    foundBy: 'hosts',
    seed: 104,
  },
  {
    what: 'the state of a task goes when its host dies',
    edits: [
      engine(
        'tasks/snapshots.ts',
        '(unit) => !running.has(unit) && !this.#options.isEnabled(taskOfUnit(unit)),',
        '(unit) => !running.has(unit),',
      ),
    ],
    foundBy: 'tasks',
    seed: 31,
  },
  {
    what: 'a body that one message cannot carry is not cut',
    edits: [
      engine(
        'shared-log/point-log.ts',
        'const pieces = cutLines(write.body, this.#roomBeside(label));',
        'const pieces = [write.body];',
      ),
    ],
    foundBy: 'answers',
    seed: 1,
  },
  {
    what: 'points that were looped back before are looped back again',
    edits: [
      engine('shared-log/looped-points.ts', 'if (!isBehind(position, logged)) continue;', ''),
    ],
    foundBy: 'points',
    seed: 1,
  },
  {
    what: 'looped points of the last leader are appended behind the same ones of the next',
    edits: [
      engine(
        'shared-log/point-log.ts',
        '{ subject: LOOPED, after: last };',
        '{ subject: LOOPED };',
      ),
    ],
    foundBy: 'points',
    seed: 549,
  },
  {
    what: 'a leader does not know what was looped back before it',
    edits: [engine('shared-log/point-log.ts', 'if (first < last)', 'if (first > last)')],
    foundBy: 'points',
    seed: 50,
  },
  {
    what: 'a leader changes its tables before the log has the change',
    edits: [
      engine(
        'store/metadata.ts',
        'await log.commit(sealed, (made) => this.#transact(made));',
        'await this.#transact(sealed); await log.commit(sealed, (made) => this.#transact(made));',
      ),
    ],
    foundBy: 'definitions',
    seed: 15,
  },
  {
    what: 'a record is appended whatever the last one is',
    edits: [engine('cluster/leader-log.ts', 'after: this.#last, signal });', 'signal });')],
    foundBy: 'definitions',
    seed: 182,
  },
  {
    what: 'points are purged that a saved state does not contain',
    edits: [
      engine(
        'run-tasks.ts',
        'shared.points.forget(synced.saved(through));',
        'shared.points.forget(shared.points.dispatched);',
      ),
    ],
    foundBy: 'points',
    seed: 2,
  },
  {
    what: 'a leader that leads no more purges points of tasks that it does not know to run',
    edits: [engine('run-tasks.ts', 'if (!shared.mayAct() || shared.role.aborted) return;', '')],
    foundBy: 'points',
    seed: 1323,
  },
  {
    what: 'why a task failed is stored with the definition from before a change',
    edits: [
      engine(
        'tasks/task-starts.ts',
        'await lock.one(id, async () => {',
        'await (async (run: () => Promise<void>) => run())(async () => {',
      ),
    ],
    foundBy: 'definitions',
    seed: 90,
  },
  {
    what: 'tasks whose host fails while they start do not run',
    edits: [
      runtime(
        'host/host-pool.ts',
        'if (isOfLocation || !isOver) this.#displaced.set(task, { isSuspect });',
        'if (isOfLocation) this.#displaced.set(task, { isSuspect });',
      ),
    ],
    foundBy: 'tasks',
    seed: 80,
  },
  {
    what: 'a part that is started again while others start is given everything twice',
    edits: [engine('tasks/executor.ts', 'if (unit.isRestarting) unit.source.suspend();', '')],
    foundBy: 'hosts',
    seed: 414,
  },
  {
    what: 'where a task has begun is not stored before its first state',
    edits: [
      engine('tasks/snapshots.ts', 'if (changes.length > 0) await metadata.commit(changes);', ''),
    ],
    foundBy: 'points',
    seed: 153,
  },
  {
    what: 'an instance that was suspended tells of events after another has',
    edits: [
      {
        file: 'packages/alerting/src/delivery.ts',
        from: 'if (this.#options.mayDeliver?.() === false) throw',
        to: 'if (false) throw',
      },
      engine(
        'open-stores.ts',
        '? sender.send({ ...request, maySend: mayAct }, signal)',
        '|| true ? sender.send(request, signal)',
      ),
    ],
    foundBy: 'events',
    seed: 36,
  },
  {
    what: 'an instance does not know its own definitions in the log that it began',
    edits: [engine('cluster/replica.ts', 'if (this.isOwn && !hasBegun)', 'if (this.isOwn)')],
    foundBy: 'definitions',
    seed: 226,
  },
  {
    what: 'events that were told before are told again',
    edits: [runtime('event-cause.ts', 'isPublished: !isBehind', 'isPublished: false')],
    foundBy: 'events',
    seed: 1,
  },
  {
    what: 'a task that begins again without a state takes its last event for where it was',
    edits: [
      engine(
        'tasks/executor.ts',
        'return beginning && fromBeginning(beginning);',
        'return undefined;',
      ),
    ],
    foundBy: 'events',
    seed: 100_134,
  },
  {
    what: 'points of tasks that die while their leader gives up the lead are purged',
    edits: [engine('run-tasks.ts', ' || shared.role.aborted', '')],
    foundBy: 'points',
    seed: 62_966,
  },
  {
    what: 'the state of a part is saved while other parts of its task start',
    edits: [
      engine('tasks/snapshots.ts', 'if (source === undefined) return undefined;', ''),
      engine(
        'tasks/snapshots.ts',
        '{ run, sequence } = source;',
        '{ run, sequence } = source ?? {};',
      ),
    ],
    foundBy: 'events',
    seed: 92_809,
  },
  {
    what: 'a start reports why a part was ended instead of why another one failed',
    edits: [
      engine(
        'tasks/executor.ts',
        'if (shown.task.error !== undefined) throw new InvalidRequest(shown.task.error);',
        'if (starts.length === 0) throw new InvalidRequest(shown.id);',
      ),
    ],
    foundBy: 'tasks',
    seed: 91_945,
  },
];
