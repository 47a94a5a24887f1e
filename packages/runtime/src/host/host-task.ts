// One task inside a task host: its queue of messages, and its share of the thread. Work is cut into
// slices, so that a busy task delays its neighbours by milliseconds, whatever the size of its
// writes.
import type { Clock } from '@tidemark/core';
import type { RowSelection } from '../data/row-selection.ts';
import type { RowSource } from '../data/row-source.ts';
import type { Due } from '../running-task.ts';
import type { InlineTask } from '../task.ts';

/**
 * After this time a turn ends with the present slice; one slice is planned for up to twice as long.
 */
const TURN_MS = 8;
/** Rows of the first slice of a task, while the cost of its rows is unknown. */
const FIRST_SLICE_ROWS = 64;
const SLICE_ROWS_MIN = 16;

/** A write that several tasks of the host read. It is settled after the last of them. */
export class SharedRows {
  readonly source: RowSource;
  #useCount = 0;

  constructor(source: RowSource) {
    this.source = source;
  }

  retain(count: number): void {
    this.#useCount += count;
  }

  release(): void {
    this.#useCount--;
    if (this.#useCount === 0) this.source.settle();
  }
}

type Work =
  | {
      readonly kind: 'rows';
      readonly rows: SharedRows;
      /** In virtual time. */
      readonly due: Due | undefined;
      /** Those that the task reads; determined in its turn. */
      selection: RowSelection | undefined;
      next: number;
    }
  /** Runs when everything sent before it is done; later messages wait for it. Never rejects. */
  | ({ readonly kind: 'step' } & Step);

/** `drop` is called instead of `run` when the task ends before it. */
export type Step = {
  readonly run: (task: InlineTask) => Promise<void> | void;
  readonly drop?: (() => void) | undefined;
};

export class HostTask {
  readonly id: number;
  readonly isReplay: boolean;
  /**
   * Rows processed, or dropped after the task's end, that have not been reported to the engine's
   * thread.
   */
  takenRows = 0;
  /** Milliseconds of work since the last ping. */
  busyMs = 0;
  /** It waits for its turn. */
  isLinedUp = false;
  /** Activity in the last pong. */
  reportedActivity = 0;
  #task: InlineTask | undefined;
  #isWaiting = true;
  #isEnded = false;
  #msPerRow = 0;
  #queue: Work[] = [];
  #head = 0;
  readonly #clock: Clock;
  readonly #wake: () => void;

  /** `wake` is called when a waiting task has work. It waits until `begin`. */
  constructor(
    id: number,
    options: {
      readonly isReplay: boolean;
      readonly clock: Clock;
      readonly wake: () => void;
    },
  ) {
    this.id = id;
    this.isReplay = options.isReplay;
    this.#clock = options.clock;
    this.#wake = options.wake;
  }

  get task(): InlineTask | undefined {
    return this.#task;
  }

  /** The task has started. */
  begin(task: InlineTask): void {
    this.#task = task;
    this.#isWaiting = false;
    this.#wake();
  }

  get canRun(): boolean {
    return !this.#isWaiting && this.#head < this.#queue.length;
  }

  get hasWork(): boolean {
    return this.#head < this.#queue.length;
  }

  addRows(rows: SharedRows, due?: Due): void {
    if (this.#isEnded) this.#drop(rows, 0);
    else this.#queue.push({ kind: 'rows', rows, due, selection: undefined, next: 0 });
  }

  addStep({ run, drop }: Step): void {
    if (this.#isEnded) drop?.();
    else this.#queue.push({ kind: 'step', run, drop });
  }

  /**
   * Works for one turn. Failures of nodes end the task inside; other exceptions are bugs and end
   * the thread.
   */
  turn(): void {
    const task = this.#task;
    if (task === undefined) return;
    const started = this.#clock.monotonicMs();
    const until = started + TURN_MS;
    let now = started;
    while (this.canRun && now < until) {
      const work = this.#queue[this.#head] as Work;
      if (work.kind === 'step') {
        this.#next();
        this.#runStep(task, work.run);
        now = this.#clock.monotonicMs();
        continue;
      }
      const count = this.#slice(task, work);
      const before = now;
      now = this.#clock.monotonicMs();
      this.#measured(count, now - before);
    }
    this.busyMs += now - started;
  }

  /** Drops waiting messages. */
  end(): void {
    this.#isEnded = true;
    this.#isWaiting = true;
    for (; this.#head < this.#queue.length; this.#next()) {
      const work = this.#queue[this.#head] as Work;
      if (work.kind === 'rows') this.#drop(work.rows, work.next);
      else work.drop?.();
    }
  }

  /** Returns the number of rows. */
  #slice(task: InlineTask, work: Work & { kind: 'rows' }): number {
    const selection = (work.selection ??= task.select(work.rows.source));
    const { due, next: start } = work;
    const end = start + this.#sliceRows(selection.count - start);
    let next: number | undefined = end;
    if (due === undefined) task.pushRows(selection, start, end);
    else next = task.pushDueRows(selection, { due, start, end });
    this.takenRows += (next ?? start) - start;
    work.next = next ?? start;
    if (next === selection.count) {
      // Those that it does not read are done with.
      this.#drop(work.rows, next);
      this.#next();
    }
    // Answers from outside are awaited, so that the number of messages waiting inside the task
    // stays bounded.
    const ready = task.ready();
    if (ready !== undefined) this.#waitFor(ready);
    return work.next - start;
  }

  /**
   * All remaining rows unless that would take too long: every slice has a cost for each series of
   * the write.
   */
  #sliceRows(left: number): number {
    if (this.#msPerRow === 0) return Math.min(left, FIRST_SLICE_ROWS);
    if (left * this.#msPerRow <= 2 * TURN_MS) return left;
    return Math.min(left, Math.max(SLICE_ROWS_MIN, Math.ceil(TURN_MS / this.#msPerRow)));
  }

  /**
   * A moving average: rows of one task cost much the same, apart from those that close a window.
   */
  #measured(count: number, ms: number): void {
    // Timers only.
    if (count === 0) return;
    const perRow = ms / count;
    this.#msPerRow = this.#msPerRow === 0 ? perRow : this.#msPerRow * 0.75 + perRow * 0.25;
  }

  #runStep(task: InlineTask, run: (task: InlineTask) => Promise<void> | void): void {
    const running = run(task);
    if (running !== undefined) this.#waitFor(running);
  }

  #waitFor(work: Promise<void>): void {
    this.#isWaiting = true;
    work.then(
      () => {
        this.#isWaiting = this.#isEnded;
        if (this.canRun) this.#wake();
      },
      // Steps and tasks handle their failures; an exception is a bug and ends the thread.
      (cause: unknown) => {
        setImmediate(() => {
          throw cause;
        });
      },
    );
  }

  #drop(rows: SharedRows, next: number): void {
    this.takenRows += rows.source.rowCount - next;
    rows.release();
  }

  #next(): void {
    this.#queue[this.#head] = NOTHING;
    this.#head++;
    if (this.#head < this.#queue.length && this.#head < 1024) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }
}

/** Replaces finished work, whose rows must not stay in memory. */
const NOTHING: Work = { kind: 'step', run: () => undefined };
