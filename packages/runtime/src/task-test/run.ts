// Runs task tests in process, in virtual time. Facts about the format: parse.ts and docs/guide/task-tests.md.
import { formatRfc3339, parseRfc3339 } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { HttpOutOptions, Var } from '@tidemark/pipeline';
import { parseDuration } from '../lambda/duration.ts';
import { rowJson, rowsJson } from '../data/rows.ts';
import { lineErrorMessage, parsePrecision } from '@tidemark/line-protocol';
import { WriteParser } from '../ingest/parse-write.ts';
import type {
  AlertEvent,
  AlertLevelName,
  AlertSink,
  ResultRow,
  TaskServices,
} from '../services.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import { VirtualTimers } from '../timers.ts';
import type { TapMessage } from '../running-task.ts';
import { parseTaskTest } from './parse.ts';
import type { Section } from './parse.ts';

export type TaskTestFailure = {
  readonly line: number;
  readonly message: string;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
};

export type TaskTestResult = {
  readonly failures: readonly TaskTestFailure[];
  /** Expectations that were checked. */
  readonly checkCount: number;
};

/** Wall time at the start of every test. */
const START = 1_704_067_200_000_000_000n;

/** Runs a test file's text. Never throws for what the text says. */
export async function runTaskTest(text: string): Promise<TaskTestResult> {
  const { sections, mistakes } = parseTaskTest(text);
  const failures: TaskTestFailure[] = mistakes.map(({ line, text: message }) => ({
    line,
    message,
    expected: [],
    actual: [],
  }));
  if (failures.length > 0) return { failures, checkCount: 0 };
  return new Run(sections).run();
}

type LoggedEvent = { readonly event: AlertEvent; readonly previousLevel: AlertLevelName };

class Run implements AlertSink {
  readonly #sections: readonly Section[];
  readonly #failures: TaskTestFailure[] = [];
  #checkCount = 0;
  readonly #timers = new VirtualTimers(START);
  readonly #parser = new WriteParser();
  #dbrp = { database: 'd', retentionPolicy: 'r' };
  #precision = 's';
  readonly #vars = new Map<string, Var>();
  #task: InlineTask | undefined;
  #startError: string | undefined;
  readonly #rows = new Map<string, ResultRow[]>();
  readonly #labels = new Map<string, string>();
  readonly #states = new Map<string, AlertEvent>();
  #events: LoggedEvent[] = [];
  #lastEvent: AlertEvent | undefined;

  constructor(sections: readonly Section[]) {
    this.#sections = sections;
  }

  async run(): Promise<TaskTestResult> {
    for (const section of this.#sections) await this.#step(section);
    if (this.#task?.error === undefined) await this.#task?.close();
    return { failures: this.#failures, checkCount: this.#checkCount };
  }

  openAnonymousTopic(): void {}

  closeAnonymousTopic(): void {}

  publish(topic: string, event: AlertEvent): void {
    const key = `${topic}\u0000${event.id}`;
    const previousLevel = this.#states.get(key)?.level ?? 'OK';
    this.#states.set(key, event);
    // The same event goes to the anonymous and to the named topic: written down once.
    if (event !== this.#lastEvent) this.#events.push({ event, previousLevel });
    this.#lastEvent = event;
  }

  eventState(topic: string, id: string): AlertEvent | undefined {
    return this.#states.get(`${topic}\u0000${id}`);
  }

  updateEvent(topic: string, event: AlertEvent): void {
    this.#states.set(`${topic}\u0000${event.id}`, event);
  }

  async #step(section: Section): Promise<void> {
    switch (section.kind) {
      case 'dbrp': {
        const [database = '', retentionPolicy = ''] = section.argument.split('.');
        this.#dbrp = { database, retentionPolicy };
        break;
      }
      case 'precision':
        this.#precision = section.argument;
        break;
      case 'var':
        this.#var(section);
        break;
      case 'script':
        await this.#start(section);
        break;
      case 'write':
        await this.#write(section);
        break;
      case 'query-result':
        await this.#queryResult(section);
        break;
      case 'advance':
        this.#advance(section);
        await this.#task?.drain();
        break;
      case 'finish':
        await this.#task?.close();
        break;
      case 'fails':
        this.#check(
          section,
          [section.argument],
          [this.#startError ?? this.#task?.error ?? 'does not fail'],
        );
        break;
      default:
        this.#expect(section);
    }
  }

  #expect(section: Section): void {
    switch (section.kind) {
      case 'emits': {
        const node = this.#labels.get(section.argument) ?? section.argument;
        const rows = this.#rows.get(node) ?? [];
        this.#rows.set(node, []);
        this.#check(
          section,
          section.lines.map(normalise),
          rows.map((row) => normalise(rowJson(row))),
        );
        break;
      }
      case 'output': {
        const rows = this.#task?.httpOutput(section.argument) ?? [];
        this.#check(section, section.lines.map(normalise), [normalise(rowsJson(rows))]);
        break;
      }
      case 'events': {
        const events = this.#events;
        this.#events = [];
        const actual = events.map(eventLine);
        this.#check(
          section,
          section.lines.map((line) => line.trim()),
          actual,
        );
        break;
      }
      default: {
        const [node = '', count = '0'] = section.argument.split(/\s+/);
        const errors = this.#task?.stats().nodes.get(node)?.errors;
        this.#check(section, [count], [String(errors ?? 'no such node')]);
      }
    }
  }

  #check(section: Section, expected: readonly string[], actual: readonly string[]): void {
    this.#checkCount++;
    const isSame =
      expected.length === actual.length && expected.every((line, i) => line === actual[i]);
    if (isSame) return;
    const message = `${section.kind} ${section.argument}`.trim();
    this.#failures.push({ line: section.line, message, expected, actual });
  }

  #fail(section: Section, message: string): void {
    this.#failures.push({ line: section.line, message, expected: [], actual: [] });
  }

  /** `var name type value`, types and values as in the API. */
  #var(section: Section): void {
    const match = /^(\w+)\s+(string|int|float|bool|duration|list)\s+(.*)$/.exec(section.argument);
    const [, name = '', type, value = ''] = match ?? [];
    const parsed = type === undefined ? undefined : varOf(type, value);
    if (parsed === undefined) this.#fail(section, 'expected `var <name> <type> <value>`');
    else this.#vars.set(name, parsed);
  }

  async #start(section: Section): Promise<void> {
    const built = buildPipeline(section.lines.join('\n'), { vars: this.#vars });
    if (built.pipeline === undefined) {
      this.#startError = built.error?.text ?? 'invalid script';
      return;
    }
    const pipeline = { ...built.pipeline, dbrps: [this.#dbrp] };
    const timers = this.#timers;
    const clock = {
      now: () => timers.now(),
      monotonicMs: () => 0,
      sleep: () => new Promise<void>(() => undefined),
    };
    try {
      const task = createTask(pipeline, this.#services(), { taskId: 'test', clock, timers });
      for (const { name, type, options } of pipeline.nodes) {
        // An httpOut is also known by its endpoint.
        const label = type === 'httpOut' ? (options as HttpOutOptions).endpoint : name;
        this.#labels.set(label, name);
        this.#rows.set(name, []);
        task.tap(name, (message) => this.#seen(name, message));
      }
      await task.start();
      this.#task = task;
    } catch (cause) {
      this.#startError = cause instanceof Error ? cause.message : String(cause);
    }
  }

  #seen(name: string, message: TapMessage): void {
    const rows = this.#rows.get(name);
    if (message.kind === 'point') {
      const { point } = message;
      const names = [...point.fields.keys()];
      rows?.push({
        name: point.name,
        tags: Object.fromEntries(point.tags),
        columns: ['time', ...names],
        values: [[point.time, ...names.map((field) => point.fields.get(field) ?? null)]],
      });
    } else if (message.kind === 'batch') {
      rows?.push(message.row);
    }
  }

  async #write(section: Section): Promise<void> {
    const body = new TextEncoder().encode(section.lines.join('\n'));
    const [database, retentionPolicy] =
      section.argument === ''
        ? [this.#dbrp.database, this.#dbrp.retentionPolicy]
        : section.argument.split('.');
    const { batch, errors } = this.#parser.parse(body, {
      database: database ?? '',
      retentionPolicy: retentionPolicy ?? '',
      precision: parsePrecision(this.#precision) ?? 'ns',
      now: this.#timers.now(),
    });
    for (const error of errors) this.#fail(section, lineErrorMessage(error));
    if (this.#task === undefined) {
      this.#fail(section, `no task runs: ${this.#startError ?? 'the script comes first'}`);
      return;
    }
    this.#task.push(batch);
    await this.#task.drain();
  }

  /** `query-result <node> <stop>`, then one JSON series a line. */
  async #queryResult(section: Section): Promise<void> {
    const [node = '', stop = ''] = section.argument.split(/\s+/);
    type Series = {
      readonly name: string;
      readonly tags?: Readonly<Record<string, string>>;
      readonly columns: readonly string[];
      readonly values: readonly (readonly (string | number | boolean | null)[])[];
    };
    const result = section.lines.map((line) => {
      const { name, tags, columns, values } = JSON.parse(line) as Series;
      const rows = values.map(([time, ...rest]) => [parseRfc3339(String(time)) ?? 0n, ...rest]);
      return { name, tags: tags ?? {}, columns, values: rows };
    });
    this.#task?.pushQueryResult(node, result, { stop: parseRfc3339(stop) ?? 0n });
    await this.#task?.drain();
  }

  #advance(section: Section): void {
    const nanos = parseDuration(section.argument);
    if (nanos === undefined) this.#fail(section, 'expected a duration, for example `advance 10s`');
    else this.#timers.advanceTo(this.#timers.now() + nanos);
  }

  #services(): TaskServices {
    return {
      alerts: this,
      database: {
        write: () => Promise.resolve(),
        execute: () => Promise.resolve(),
        query: () => Promise.resolve([]),
      },
      loopback: { write: () => undefined },
      http: { send: () => Promise.resolve({ status: 200, body: '' }), endpoint: () => undefined },
      log: { log: () => undefined },
      server: { hostname: 'localhost', clusterId: '', serverId: '' },
    };
  }
}

/** JSON without insignificant differences: blanks and the order of tags. */
function normalise(json: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(json.trim())));
  } catch {
    // No JSON: compared as it is.
    return json.trim();
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** `time | id | level | previous level | duration ns | message | values`. */
function eventLine({ event, previousLevel }: LoggedEvent): string {
  const rows = JSON.parse(rowsJson(event.data)) as { series: { values?: unknown }[] | null };
  const values = JSON.stringify(rows.series?.[0]?.values ?? null);
  const parts = [
    formatRfc3339(event.time),
    event.id,
    event.level,
    previousLevel,
    String(event.durationNanos),
    event.message,
    values,
  ];
  return parts.join(' | ');
}

function varOf(type: string, value: string): Var | undefined {
  const description = '';
  switch (type) {
    case 'string':
      return { type: 'string', value: { kind: 'string', value }, description };
    case 'int':
      return { type: 'int', value: { kind: 'integer', value: BigInt(value) }, description };
    case 'float':
      return { type: 'float', value: { kind: 'float', value: Number(value) }, description };
    case 'bool':
      return { type: 'bool', value: { kind: 'boolean', value: value === 'true' }, description };
    case 'duration': {
      const nanos = parseDuration(value);
      if (nanos === undefined) return undefined;
      return { type: 'duration', value: { kind: 'duration', nanos }, description };
    }
    default: {
      const items = value
        .split(',')
        .map((item) =>
          item.trim() === '*'
            ? ({ kind: 'star' } as const)
            : ({ kind: 'string', value: item.trim() } as const),
        );
      return { type: 'list', value: { kind: 'list', items }, description };
    }
  }
}
