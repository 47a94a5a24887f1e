// Clients of a run: they define tasks, write points, and record the responses.
import { messageOf, Unavailable } from '@tidemark/core';
import type { ListenerPoint } from '@tidemark/listeners';
import { POINTS_LEVEL } from '../../../../packages/engine/src/shared-log/point-record.ts';
import type { Model, Outcome } from '../model/model.ts';
import type { Instance } from '../world/instance.ts';
import type { LeaderEngine } from '../world/leader-engine.ts';
import { START_MS } from '../world/timeline.ts';
import type { Plan, PlannedPoint, WriteForm } from './plan.ts';
import { definitionInput, GROUPS, taskInput } from './tasks.ts';
import type { TaskName } from './tasks.ts';

/** Above the numbers of a plan: of the points that close all windows in the end. */
const LAST_NUMBER = 1_000_000;
const LAST_MS = 10_000;

/** More than one record has room for. */
const LONG_BYTES = 3000;

export type ClientsWorld = {
  readonly nowMs: () => number;
  readonly leader: () => Instance | undefined;
  readonly note: (line: string) => void;
  readonly mark: (what: string) => void;
  /** Something was answered that must not be. */
  readonly failed: (failure: string) => void;
};

type Asked = { readonly of: Instance; readonly lost: () => void };

export class Clients {
  readonly #plan: Plan;
  readonly #model: Model;
  readonly #world: ClientsWorld;
  /** Tasks that have to be defined yet. */
  readonly #missing: Set<TaskName>;
  readonly #defining = new Set<TaskName>();
  /** Requests that have no answer yet; those to a process that ends never have one. */
  readonly #asked = new Set<Asked>();
  #lastWrites = 0;

  constructor(plan: Plan, model: Model, world: ClientsWorld) {
    this.#plan = plan;
    this.#model = model;
    this.#world = world;
    this.#missing = new Set(plan.tasks);
  }

  /** All tasks are there; points are written from now on. */
  get isReady(): boolean {
    return this.#missing.size === 0;
  }

  hasDefined(name: TaskName): boolean {
    return !this.#missing.has(name);
  }

  define(id: string, value: string | undefined): void {
    const { leader, mark, note } = this.#world;
    const instance = leader();
    const engine = instance?.serving;
    if (instance === undefined || engine === undefined || this.#model.isBusy(id))
      return mark('nobody to ask');
    const change = this.#model.begin(id, value);
    const answer = (outcome: Outcome, reason: string): void => {
      this.#model.end(change, outcome);
      if (outcome === 'acknowledged') return;
      mark(`a change was ${outcome}`);
      note(`${id}=${value} ${outcome}: ${reason}`);
    };
    const input = value === undefined ? undefined : definitionInput(value);
    this.#ask(instance, engine.define(id, input), {
      done: () => answer('acknowledged', ''),
      refused: (error) => {
        const isUnknown = messageOf(error).includes('may have been made');
        answer(isUnknown ? 'unknown' : 'refused', messageOf(error));
      },
      lost: () => answer('unknown', 'its instance has ended'),
    });
  }

  /** Called again and again until all are there. */
  defineTasks(): void {
    const { leader, note } = this.#world;
    const instance = leader();
    const engine = instance?.serving;
    if (instance === undefined || engine === undefined) return;
    for (const name of this.#missing) {
      if (this.#defining.has(name)) continue;
      if (engine.has(name) && engine.problemOf(name) === undefined) {
        this.#missing.delete(name);
        continue;
      }
      this.#defining.add(name);
      const end = (): void => void this.#defining.delete(name);
      this.#ask(instance, engine.define(name, taskInput(name, this.#plan.parts)), {
        done: end,
        refused: (error) => {
          note(`${name} is not defined: ${messageOf(error)}`);
          end();
        },
        lost: end,
      });
    }
  }

  write(form: WriteForm, planned: readonly PlannedPoint[]): void {
    const instance = this.#world.leader();
    if (instance === undefined || !this.isReady) return this.#world.mark('nobody to ask');
    this.#send(instance, { form, planned }, () => undefined);
  }

  /** Points behind all others close all windows; `answered` is told whether they are there. */
  writeLast(answered: (isThere: boolean) => void): void {
    const instance = this.#world.leader();
    if (instance === undefined || !this.isReady) return answered(false);
    // One that was refused may have been kept all the same.
    const first = LAST_NUMBER + GROUPS.length * this.#lastWrites++;
    const planned = GROUPS.map((g, i) => ({ n: first + i, g, v: 0, agoMs: -LAST_MS }));
    this.#send(instance, { form: 'lines', planned }, answered);
  }

  /** The process of an instance has ended: what it was asked for is not answered any more. */
  instanceEnded(instance: Instance): void {
    for (const asked of this.#asked) {
      if (asked.of !== instance) continue;
      this.#asked.delete(asked);
      asked.lost();
    }
  }

  #send(
    instance: Instance,
    { form, planned }: { readonly form: WriteForm; readonly planned: readonly PlannedPoint[] },
    answered: (isThere: boolean) => void,
  ): void {
    const { nowMs, note, failed } = this.#world;
    const { serving: engine, level } = instance;
    if (engine === undefined) return answered(false);
    const answer = (outcome: Outcome): void => {
      for (const { n } of planned) this.#model.points.set(n, outcome);
      if (outcome !== 'under way') answered(outcome === 'acknowledged');
    };
    const atMs = START_MS + Math.round(nowMs());
    answer('under way');
    this.#ask(instance, written(engine, { form, planned, atMs }), {
      done: (leftOut) => {
        answer(leftOut > 0 ? 'refused' : 'acknowledged');
        // As long as an instance may know lines only.
        if (leftOut > 0 && level >= POINTS_LEVEL) failed('points that records carry were left out');
      },
      refused: (error) => {
        answer('unknown');
        note(`a write failed: ${messageOf(error)}`);
        if (!(error instanceof Unavailable)) failed(`a write was refused: ${messageOf(error)}`);
      },
      lost: () => answer('unknown'),
    });
  }

  #ask<T>(
    of: Instance,
    work: Promise<T>,
    told: {
      readonly done: (value: T) => void;
      readonly refused: (error: unknown) => void;
      readonly lost: () => void;
    },
  ): void {
    const asked = { of, lost: told.lost };
    this.#asked.add(asked);
    work.then(
      (value) => this.#asked.delete(asked) && told.done(value),
      (error: unknown) => this.#asked.delete(asked) && told.refused(error),
    );
  }
}

/** How many points were left out. */
async function written(
  engine: LeaderEngine,
  of: {
    readonly form: WriteForm;
    readonly planned: readonly PlannedPoint[];
    readonly atMs: number;
  },
): Promise<number> {
  const { form, planned, atMs } = of;
  if (form === 'points') return engine.writePoints(planned.map((each) => inputOf(each, atMs)));
  await engine.write(planned.map((each) => lineOf(each, atMs, form)).join('\n'));
  return 0;
}

function lineOf({ n, g, v, agoMs }: PlannedPoint, nowMs: number, form: WriteForm): string {
  const text = form === 'long' ? `,text="${'x'.repeat(LONG_BYTES)}"` : '';
  return `m,g=${g} n=${n}i,v=${v}i${text} ${nowMs - agoMs}000000`;
}

/** With a tag that no line can carry. */
function inputOf({ n, g, v, agoMs }: PlannedPoint, nowMs: number): ListenerPoint {
  const tags = [
    ['g', g],
    ['odd', `${n}\n\\`],
  ] as const;
  const fields = [
    ['n', BigInt(n)],
    ['v', BigInt(v)],
  ] as const;
  return { measurement: 'm', tags, fields, time: BigInt(nowMs - agoMs) * 1_000_000n };
}
