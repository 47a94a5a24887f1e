// The results of a try-out so far, by node and in the order of its clock.
import type { Cell } from '@tidemark/client';

export type Tags = Readonly<Record<string, string>>;

/** A point that left a node. A batch leaves at one moment with points of many times. */
export type LeftPoint = {
  readonly atMs: number;
  readonly time: string;
  readonly name: string;
  readonly tags: Tags;
  readonly fields: Readonly<Record<string, Cell>>;
};

export type Condition = {
  readonly label: string;
  readonly text: string;
  readonly result?: unknown;
  readonly error?: string | undefined;
  readonly isPart?: boolean | undefined;
  readonly values: Readonly<Record<string, unknown>>;
};

/** Why a node did what it did with a point. */
export type Why = {
  readonly atMs: number;
  readonly time: string;
  readonly group: string;
  readonly outcome: string;
  readonly conditions: readonly Condition[];
};

export type Level = 'OK' | 'INFO' | 'WARNING' | 'CRITICAL';

/** An alert that would be published. */
export type Fired = {
  readonly atMs: number;
  readonly time: string;
  readonly id: string;
  readonly level: Level;
  readonly previous: Level;
  readonly message: string;
  readonly tags: Tags;
  /** '' is the topic of the script's own handlers. */
  readonly topics: readonly string[];
  readonly handlers: readonly string[];
};

/** A side effect that would have happened. */
export type Effect = {
  readonly atMs: number;
  readonly what: 'write' | 'loopback' | 'request' | 'statement';
  readonly target: string;
  readonly text: string;
};

export type Logged = {
  readonly atMs: number;
  readonly level: string;
  readonly node: string;
  readonly message: string;
  readonly context: Readonly<Record<string, string>>;
};

export type TriedNode = {
  readonly name: string;
  readonly type: string;
  /** Whether it publishes alert events. */
  readonly isAlerting: boolean;
};

export type TriedTask = {
  readonly type: 'stream' | 'batch';
  readonly start: string;
  readonly nodes: readonly TriedNode[];
  readonly dot: string;
  readonly warnings: readonly string[];
};

type Stats = {
  readonly 'node-stats'?: Readonly<Record<string, Readonly<Record<string, number>>>>;
};

export type Ended = {
  readonly count: number;
  readonly problem: string;
  readonly stats: Stats;
};

type Message = { readonly kind: string; readonly node?: string; readonly time?: string };

type BatchMessage = {
  readonly name: string;
  readonly time: string;
  readonly points: readonly Pick<LeftPoint, 'time' | 'tags' | 'fields'>[];
};

/** Grows with every line; the code that adds lines notifies readers. */
export class Outcome {
  task: TriedTask | undefined;
  end: Ended | undefined;
  readonly points = new Map<string, LeftPoint[]>();
  readonly whys = new Map<string, Why[]>();
  readonly events: Fired[] = [];
  readonly effects: Effect[] = [];
  readonly logs: Logged[] = [];
  /** Messages dropped because there were too many. */
  droppedCount = 0;
  readonly #moments = new Set<number>();
  #nowMs = 0;

  /** Moments at which something happened, in order. */
  moments(): readonly number[] {
    return [...this.#moments].toSorted((a, b) => a - b);
  }

  /** Adds one message of the answer. */
  add(message: object): void {
    const { kind, node = '', time = '' } = message as Message;
    const atMs = time === '' ? this.#nowMs : Date.parse(time);
    switch (kind) {
      case 'task':
        this.task = message as TriedTask;
        this.#nowMs = Date.parse(this.task.start);
        return;
      case 'clock':
        this.#nowMs = atMs;
        return;
      case 'end':
        this.end = message as Ended;
        return;
      case 'point':
        this.#left(node, [{ ...(message as Omit<LeftPoint, 'atMs'>), atMs }]);
        break;
      case 'batch': {
        const { name, points } = message as BatchMessage;
        this.#left(
          node,
          points.map((point) => ({ ...point, name, atMs })),
        );
        break;
      }
      case 'why':
        listOf(this.whys, node).push({ ...(message as Omit<Why, 'atMs'>), atMs });
        break;
      case 'event':
        this.events.push({ ...(message as Omit<Fired, 'atMs'>), atMs });
        break;
      case 'effect':
        this.effects.push({ ...(message as Omit<Effect, 'atMs'>), atMs });
        return;
      case 'log':
        this.logs.push({ ...(message as Omit<Logged, 'atMs'>), atMs });
        return;
      case 'dropped':
        this.droppedCount += (message as { readonly count: number }).count;
        return;
      default:
        return;
    }
    this.#moments.add(atMs);
  }

  #left(node: string, points: readonly LeftPoint[]): void {
    listOf(this.points, node).push(...points);
  }
}

function listOf<T>(map: Map<string, T[]>, key: string): T[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}

export type Rows = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
};

/** Points as one table: time, tags, fields. */
export function rowsOf(points: readonly LeftPoint[]): Rows {
  const tags = namesOf(points, (point) => point.tags);
  const fields = namesOf(points, (point) => point.fields);
  return {
    columns: ['time', ...tags, ...fields.map((name) => (tags.includes(name) ? `${name} ` : name))],
    rows: points.map((point) => [
      point.time,
      ...tags.map((name) => point.tags[name] ?? null),
      ...fields.map((name) => point.fields[name] ?? null),
    ]),
  };
}

function namesOf(
  points: readonly LeftPoint[],
  of: (point: LeftPoint) => Readonly<Record<string, unknown>>,
): readonly string[] {
  return [...new Set(points.flatMap((point) => Object.keys(of(point))))].toSorted();
}

/** Points by series, in order of time, as charts take them. */
export function seriesOf(points: readonly LeftPoint[]): readonly (Rows & {
  readonly name: string;
  readonly tags: Tags;
})[] {
  const bySeries = new Map<string, LeftPoint[]>();
  for (const point of points) {
    listOf(bySeries, JSON.stringify([point.name, point.tags])).push(point);
  }
  return [...bySeries.values()].map((all) => {
    const sorted = all.toSorted((a, b) => Date.parse(a.time) - Date.parse(b.time));
    const columns = namesOf(all, ({ fields }) => fields);
    return {
      name: all[0]?.name ?? '',
      tags: all[0]?.tags ?? {},
      columns: ['time', ...columns],
      rows: sorted.map(({ time, fields }) => [
        time,
        ...columns.map((name) => fields[name] ?? null),
      ]),
    };
  });
}
