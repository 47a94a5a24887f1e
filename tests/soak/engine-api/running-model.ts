// The model of a running task, live or in a replay: its last row, and the state of its alert node.
import { isTime } from './call.ts';
import type { Expected } from './call.ts';
import { timeText } from './alerts-model.ts';
import type { AlertsModel, Instant, Level } from './alerts-model.ts';
import { thresholdOf, written } from './scripts.ts';
import type { DbrpSpec, ScriptSpec, VarsSpec } from './steps.ts';

/** A point of the stream. */
export type ModelPoint = {
  readonly db: string;
  readonly measurement: string;
  readonly time: Instant;
  readonly value: number;
};

export type Runnable = {
  readonly script: ScriptSpec;
  readonly vars: VarsSpec;
  readonly dbrps: readonly DbrpSpec[];
  /** Tells one enabling from another. */
  readonly enabling: number;
};

type AlertNode = {
  readonly level: Level;
  readonly first: Instant;
  readonly last: Instant;
  /** It came from a snapshot, which may be older than what the topic remembers. */
  readonly isUnchecked: boolean;
};

/** The state of a task saved by a clean stop. */
export type SavedState = {
  readonly definition: string;
  readonly row: ModelPoint | undefined;
  readonly alert: AlertNode | undefined;
};

const NEVER: Instant = { seconds: 0, shift: '' };

export class RunningModel {
  readonly script: ScriptSpec;
  readonly dbrps: readonly DbrpSpec[];
  readonly #taskId: string;
  readonly #threshold: number;
  readonly #definition: string;
  #row: ModelPoint | undefined;
  #alert: AlertNode | undefined;

  constructor(taskId: string, task: Runnable) {
    this.script = task.script;
    this.dbrps = task.dbrps;
    this.#taskId = taskId;
    this.#threshold = thresholdOf(task.script, task.vars);
    const vars = Object.entries(task.vars).sort();
    this.#definition = JSON.stringify([written(task.script), vars, task.enabling]);
  }

  save(): SavedState {
    return { definition: this.#definition, row: this.#row, alert: this.#alert };
  }

  /** State belongs to one definition, from one enabling to the next disabling. */
  restore(saved: SavedState | undefined): void {
    if (saved?.definition !== this.#definition) return;
    this.#row = saved.row;
    this.#alert = saved.alert === undefined ? undefined : { ...saved.alert, isUnchecked: true };
  }

  isFor(point: ModelPoint): boolean {
    return this.script.form === 'stream' && point.measurement === this.script.measurement;
  }

  push(point: ModelPoint, alerts: AlertsModel): void {
    if (!this.isFor(point)) return;
    if (point.value !== this.#threshold) this.#row = point;
    if (this.script.topic !== '') this.#check(point, alerts);
  }

  /** The table of alert states for one condition. */
  #check(point: ModelPoint, alerts: AlertsModel): void {
    const { topic } = this.script;
    const before = this.#alertBefore(alerts);
    const level = point.value > this.#threshold ? 'CRITICAL' : 'OK';
    this.#alert = before;
    if (level === 'OK' && before.level === 'OK') return;
    const last = point.time;
    const first = before.level === 'OK' ? last : before.first;
    this.#alert = { level, first, last, isUnchecked: false };
    // Times of two clocks cannot be subtracted.
    const duration = first.shift === last.shift ? last.seconds - first.seconds : undefined;
    alerts.collect(topic, { id: this.#taskId, level, time: last, duration });
  }

  /** A new node, and one that was restored, goes on from what its topic remembers. */
  #alertBefore(alerts: AlertsModel): AlertNode {
    const own = this.#alert ?? { level: 'OK', first: NEVER, last: NEVER, isUnchecked: true };
    const remembered = own.isUnchecked ? alerts.event(this.script.topic, this.#taskId) : undefined;
    if (remembered === undefined || remembered.time.seconds <= own.last.seconds) {
      return { ...own, isUnchecked: false };
    }
    const { level, time, duration } = remembered;
    const first =
      duration === undefined
        ? { seconds: 0, shift: 'unknown' }
        : { seconds: time.seconds - duration, shift: time.shift };
    return { level, first, last: time, isUnchecked: false };
  }

  /** The response of its `httpOut`. */
  output(): Expected {
    const row = this.#row;
    if (row === undefined) return { series: null };
    const time = row.time.shift === '' ? timeText(row.time.seconds) : isTime;
    const values = [[time, row.value]];
    return { series: [{ name: row.measurement, columns: ['time', 'v'], values }] };
  }
}
