// The engine as its specification describes it: tables of states and statuses, without files,
// threads or time.
import { gzipSync } from 'node:zlib';
import { AlertsModel } from './alerts-model.ts';
import type { Call } from './call.ts';
import { isAnything } from './call.ts';
import { ConfigModel } from './config-model.ts';
import { DATA_BEGIN, JobsModel } from './jobs-model.ts';
import { listCall } from './lists.ts';
import { FIXED_REQUESTS } from './requests.ts';
import type { Step } from './steps.ts';
import { TasksModel } from './tasks-model.ts';

export class Model {
  readonly #alerts: AlertsModel;
  readonly #tasks: TasksModel;
  readonly #jobs: JobsModel;
  readonly #config: ConfigModel;
  #now = DATA_BEGIN;

  /** `peer` is the URL of the database and of the receiver of alerts. */
  constructor(peer: string) {
    this.#alerts = new AlertsModel(() => peer);
    this.#tasks = new TasksModel(this.#alerts);
    this.#jobs = new JobsModel(this.#tasks, this.#alerts);
    this.#config = new ConfigModel(() => peer);
  }

  /** Takes a step and gives the requests that it means, each with its predicted answer. */
  apply(step: Step): readonly Call[] {
    switch (step.kind) {
      case 'write':
        return this.#write(step);
      case 'list':
        return [listCall(step, this.#ids(step.what))];
      case 'invalid':
        return FIXED_REQUESTS[step.which % FIXED_REQUESTS.length] ?? [];
      case 'check':
        return this.checks();
      case 'restart':
        this.#tasks.restart(step.how);
        this.#jobs.restart();
        return this.checks();
      default: {
        const calls =
          this.#tasks.apply(step) ??
          this.#jobs.apply(step, this.#now) ??
          this.#alerts.apply(step) ??
          this.#config.apply(step) ??
          [];
        return [...calls, ...this.#alerts.tidy(step)];
      }
    }
  }

  /** Requests whose answers show all there is. */
  checks(): readonly Call[] {
    return [
      ...this.#tasks.checks(),
      ...this.#jobs.checks(),
      ...this.#alerts.checks(),
      ...this.#config.checks(),
    ];
  }

  #ids(what: 'tasks' | 'templates' | 'recordings' | 'replays'): readonly string[] {
    const maps = {
      tasks: this.#tasks.tasks,
      templates: this.#tasks.templates,
      recordings: this.#jobs.recordings,
      replays: this.#jobs.replays,
    };
    return [...maps[what].keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  #write(step: Extract<Step, { kind: 'write' }>): readonly Call[] {
    const { db, measurement, values, form } = step;
    this.#now += step.gap;
    const isInSeconds = form === 'seconds';
    const time = isInSeconds ? String(this.#now) : `${this.#now}000000000`;
    const lines = values.map((value) => `${measurement} v=${value} ${time}`);
    if (form === 'bad-line') lines.push(`${measurement} v= ${time}`);
    const text = lines.join('\n');
    const search = new URLSearchParams({
      ...(form === 'no-db' ? {} : { db }),
      ...(form === 'no-rp' ? {} : { rp: 'r' }),
      ...(isInSeconds ? { precision: 's' } : {}),
    });
    const call = {
      method: 'POST',
      path: `${form === 'alias' ? '/' : ''}write?${search}`,
      body: form === 'gzip' ? gzipSync(text) : text,
    } as const;
    if (form === 'bad-line' || form === 'no-db' || form === 'no-rp') {
      return [{ ...call, status: 400, json: isAnything }];
    }
    const at = { seconds: this.#now, shift: '' };
    const points = values.map((value) => ({ db, measurement, time: at, value }));
    return [{ ...call, status: 204 }, ...this.#tasks.write(points), ...this.#jobs.write(points)];
  }
}
