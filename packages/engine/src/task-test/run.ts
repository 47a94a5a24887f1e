// Runs task tests in process, in virtual time. The format: parse.ts and docs/guide/task-tests.md.
import { AppError, InvalidRequest, messageOf, parseRfc3339 } from '@tidemark/core';
import type { Clock, Precision, Timestamp } from '@tidemark/core';
import { readHandlerSpec } from '@tidemark/alerting';
import { effectsOf } from '@tidemark/pipeline';
import type { Pipeline, Var } from '@tidemark/pipeline';
import { lineErrorMessage, parsePrecision, unknownPrecision } from '@tidemark/line-protocol';
import { createTask, rowsJson, StartError, VirtualTimers, WriteParser } from '@tidemark/runtime';
import type { InlineTask, QueryResultSeries, ResultRow, TapMessage } from '@tidemark/runtime';
import { parseDuration } from '@tidemark/tickscript';
import { queryNodesOf } from '../batch/query-nodes.ts';
import { defineTask, readVars } from '../tasks/definition.ts';
import { parseJson } from '../formats/json.ts';
import { idOrRandom } from '../ids.ts';
import { mergedTicks } from '../jobs/batch-ticks.ts';
import type { Dbrp } from '../store/records.ts';
import { taskOptions } from '../tasks/task-options.ts';
import { logLine, normalise, rowLine, stateLine } from './lines.ts';
import { parseTaskTest } from './parse.ts';
import type { Section, TestCase } from './parse.ts';
import { readVar } from './var.ts';
import { Outbox, TestAlerts, virtualClock } from './world.ts';

/** A failed expectation, or a mistake in the file, for which both lists are empty. */
export type TaskTestFailure = {
  /** One-based line of the section. */
  readonly line: number;
  readonly message: string;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
};

export type TaskTestResult = {
  /** The text after `test`; '' for a file that is one test. */
  readonly name: string;
  readonly line: number;
  readonly failures: readonly TaskTestFailure[];
  /** Expectations that were checked. */
  readonly checkCount: number;
  readonly tookMs: number;
};

/** Wall time at the start of a test that sets none. */
const START = 1_704_067_200_000_000_000n;

export type TaskTestOptions = {
  /** Measures how long each test took. */
  readonly clock: Clock;
  /** Text of the file in `script FILE`; throws when there is none. */
  readonly readScript: (path: string) => string;
};

/**
 * Runs the tests of a file, one after another. Never rejects because of the text; mistakes of the
 * file are failures.
 */
export async function runTaskTests(
  text: string,
  options: TaskTestOptions,
): Promise<readonly TaskTestResult[]> {
  const { clock } = options;
  const { cases, mistakes } = parseTaskTest(text);
  const failures = mistakes.map(({ line, text: message }) => failure(line, message));
  if (failures.length > 0) {
    return [{ name: '', line: failures[0]?.line ?? 1, failures, checkCount: 0, tookMs: 0 }];
  }
  const results: TaskTestResult[] = [];
  for (const each of cases) {
    const startMs = clock.monotonicMs();
    const outcome = await new CaseRun(each, options).run();
    const tookMs = clock.monotonicMs() - startMs;
    results.push({ name: each.name, line: each.line, ...outcome, tookMs });
  }
  return results;
}

function failure(line: number, message: string): TaskTestFailure {
  return { line, message, expected: [], actual: [] };
}

class CaseRun {
  readonly #case: TestCase;
  readonly #options: TaskTestOptions;
  readonly #failures: TaskTestFailure[] = [];
  #checkCount = 0;
  /** The start of the clock, from which on points move it; `undefined` when only the test does. */
  readonly #begin: Timestamp | undefined;
  readonly #timers: VirtualTimers;
  readonly #clock: Clock;
  readonly #parser = new WriteParser();
  readonly #alerts: TestAlerts;
  readonly #outbox = new Outbox();
  #id = 'test';
  /** Set by `dbrp`; `undefined` if the script or the default decides. */
  #given: Dbrp | undefined;
  #isWithoutDbrp = false;
  #source: Dbrp = { db: 'd', rp: 'r' };
  #precision: Precision = 's';
  #vars = new Map<string, Var>();
  #varsJson: string | undefined;
  #pipeline: Pipeline | undefined;
  #task: InlineTask | undefined;
  #problem: string | undefined;
  #isProblemExpected = false;
  readonly #rows = new Map<string, ResultRow[]>();
  readonly #labels = new Map<string, string>();

  constructor(testCase: TestCase, options: TaskTestOptions) {
    this.#case = testCase;
    this.#options = options;
    const clock = testCase.sections.find(({ kind }) => kind === 'clock');
    this.#begin = clock === undefined ? undefined : parseRfc3339(clock.argument);
    this.#timers = new VirtualTimers(this.#begin ?? START);
    this.#clock = virtualClock(this.#timers);
    this.#alerts = new TestAlerts(this.#clock);
  }

  async run(): Promise<Pick<TaskTestResult, 'failures' | 'checkCount'>> {
    try {
      for (const section of this.#case.sections) {
        if (!(await this.#expect(section))) await this.#act(section);
      }
      if (this.#task?.error === undefined) await this.#task?.close();
    } finally {
      await this.#alerts.close();
    }
    const problem = this.#task?.error ?? this.#problem;
    if (problem !== undefined && !this.#isProblemExpected) {
      this.#failures.push(failure(this.#case.line, `the task fails: ${problem}`));
    }
    return { failures: this.#failures, checkCount: this.#checkCount };
  }

  async #act(section: Section): Promise<void> {
    const { argument } = section;
    switch (section.kind) {
      case 'id':
        this.#id = argument;
        break;
      case 'dbrp': {
        const [db = '', rp = ''] = argument.split('.');
        this.#isWithoutDbrp = argument === 'none';
        if (!this.#isWithoutDbrp) this.#given = { db, rp };
        break;
      }
      case 'precision':
        this.#setPrecision(section);
        break;
      case 'clock':
        if (parseRfc3339(argument) === undefined) {
          this.#fail(section, 'expected a time, for example `clock 2026-01-31T10:00:00Z`');
        }
        break;
      case 'var':
        this.#var(section);
        break;
      case 'vars':
        this.#varsJson = section.lines.join('\n');
        break;
      case 'handler':
        await this.#handler(section);
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
        await this.#advance(section);
        break;
      default:
        await this.#task?.close();
    }
  }

  /** Checks an expectation; `false` for other sections. */
  async #expect(section: Section): Promise<boolean> {
    const { argument, lines } = section;
    switch (section.kind) {
      case 'emits': {
        const node = this.#labels.get(argument) ?? argument;
        const rows = this.#rows.get(node);
        if (rows === undefined) {
          const names = [...this.#rows.keys()].join(', ');
          this.#fail(section, `no node ${node}. nodes=\`${names}\``);
          return true;
        }
        this.#rows.set(node, []);
        return this.#check(section, lines.map(normalise), rows.map(rowLine));
      }
      case 'output': {
        const rows = this.#task?.httpOutput(argument);
        const text = rows?.length === 0 ? '{"series":[]}' : rowsJson(rows ?? []);
        return this.#check(section, lines.map(normalise), [normalise(text)]);
      }
      case 'events':
        return this.#check(section, trimmed(lines), this.#alerts.takeEvents());
      case 'details':
        return this.#check(section, trimmed(lines), this.#alerts.takeDetails());
      case 'log':
        return this.#check(
          section,
          trimmed(lines),
          (await this.#alerts.takeLog(argument)).map(logLine),
        );
      case 'topic':
        return this.#check(section, trimmed(lines), await this.#topic(argument));
      case 'writes':
        return this.#check(section, trimmed(lines), this.#outbox.takeWrites());
      case 'requests':
        return this.#check(section, trimmed(lines), this.#outbox.takeRequests());
      case 'queries':
        return this.#check(section, trimmed(lines), this.#queries(section));
      case 'errors': {
        const [node = '', count = '0'] = argument.split(/\s+/);
        const errors = this.#task?.stats().nodes.get(node)?.errors;
        return this.#check(section, [count], [String(errors ?? 'no such node')]);
      }
      case 'fails': {
        this.#isProblemExpected = true;
        const expected = [argument, ...lines].filter((line) => line !== '').join('\n');
        return this.#check(
          section,
          [expected],
          [this.#task?.error ?? this.#problem ?? 'does not fail'],
        );
      }
      default:
        return false;
    }
  }

  #check(section: Section, expected: readonly string[], actual: readonly string[]): true {
    this.#checkCount++;
    const isSame =
      expected.length === actual.length && expected.every((line, i) => line === actual[i]);
    if (!isSame) {
      const message = `${section.kind} ${section.argument}`.trim();
      this.#failures.push({ line: section.line, message, expected, actual });
    }
    return true;
  }

  #fail(section: Section, message: string): void {
    this.#failures.push(failure(section.line, message));
  }

  #setPrecision(section: Section): void {
    const precision = parsePrecision(section.argument);
    if (precision === undefined) this.#fail(section, unknownPrecision(section.argument));
    else this.#precision = precision;
  }

  /** `var name type value`, types and values as in the API. */
  #var(section: Section): void {
    const parsed = readVar(section.argument);
    if (parsed === undefined) this.#fail(section, 'expected `var <name> <type> <value>`');
    else this.#vars.set(...parsed);
  }

  async #handler(section: Section): Promise<void> {
    try {
      const spec = parseJson(new TextEncoder().encode(section.lines.join('\n')), '');
      await this.#alerts.addHandler(section.argument, readHandlerSpec(spec));
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      this.#fail(section, cause.message);
    }
  }

  async #start(section: Section): Promise<void> {
    try {
      const pipeline = this.#define(this.#script(section));
      this.#pipeline = pipeline;
      const options = taskOptions(
        { clock: this.#clock },
        { taskId: this.#id, timers: this.#timers },
      );
      const task = createTask(pipeline, this.#outbox.services(this.#alerts), options);
      for (const node of pipeline.nodes) {
        const { name } = node;
        // A node that serves its rows is known by the name of its endpoint.
        this.#labels.set(effectsOf(node).serves ?? name, name);
        this.#rows.set(name, []);
        task.tap(name, (message) => this.#seen(name, message));
      }
      await task.start();
      this.#task = task;
    } catch (cause) {
      if (!(cause instanceof AppError || cause instanceof StartError)) throw cause;
      this.#problem = cause.message;
    }
  }

  #script(section: Section): string {
    if (section.argument === '') return section.lines.join('\n').trim();
    try {
      return this.#options.readScript(section.argument);
    } catch (cause) {
      const reason = messageOf(cause);
      throw new InvalidRequest(`cannot read the script: ${reason}`, { cause });
    }
  }

  /** As the API defines a task. Throws `InvalidRequest` with the API's text. */
  #define(script: string): Pipeline {
    idOrRandom(this.#id, 'task');
    const vars = new Map(this.#vars);
    if (this.#varsJson !== undefined) {
      const json = parseJson(new TextEncoder().encode(this.#varsJson), '');
      for (const [name, value] of readVars(json)) vars.set(name, value);
    }
    const definition = defineTask(
      {
        script,
        vars,
        dbrps: this.#given === undefined ? [] : [this.#given],
        storedDbrps: this.#isWithoutDbrp ? [] : [this.#source],
      },
      {},
    );
    const [problem] = definition.checkStart();
    if (problem !== undefined) throw new StartError(problem.message);
    const [source] = definition.dbrps;
    if (source !== undefined) this.#source = source;
    const dbrps = definition.dbrps.map(({ db, rp }) => ({ database: db, retentionPolicy: rp }));
    return { ...definition.pipeline, dbrps };
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
    const [db = '', rp = ''] =
      section.argument === '' ? [this.#source.db, this.#source.rp] : section.argument.split('.');
    const { batch, errors } = this.#parser.parse(
      new TextEncoder().encode(section.lines.join('\n')),
      {
        database: db,
        retentionPolicy: rp,
        precision: this.#precision,
        now: this.#timers.now(),
      },
    );
    for (const error of errors) this.#fail(section, lineErrorMessage(error));
    if (this.#task === undefined) {
      this.#fail(section, `no task runs: ${this.#problem ?? 'the script comes first'}`);
      this.#isProblemExpected = true;
      return;
    }
    if (this.#begin === undefined) this.#task.push(batch);
    else this.#task.pushDue(batch, { offset: 0n });
    await this.#task.drain();
  }

  /** `query-result <node> <stop>`, then one JSON series per line. */
  async #queryResult(section: Section): Promise<void> {
    const [node = '', stop = ''] = section.argument.split(/\s+/);
    const stopTime = parseRfc3339(stop);
    if (
      this.#pipeline?.nodes.some(({ name }) => name === node) !== true ||
      stopTime === undefined
    ) {
      this.#fail(section, 'expected `query-result <query node> <stop>`');
      return;
    }
    try {
      this.#task?.pushQueryResult(node, section.lines.map(readSeries), { stop: stopTime });
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      this.#fail(section, cause.message);
    }
    await this.#task?.drain();
  }

  /** Texts of the queries that the task makes after one time, up to another. */
  #queries(section: Section): string[] {
    const [start, stop] = section.argument.split(/\s+/).map((text) => parseRfc3339(text));
    if (start === undefined || stop === undefined) return ['expected `queries <start> <stop>`'];
    if (this.#pipeline === undefined) return [];
    const ticks = mergedTicks(queryNodesOf(this.#pipeline), { start, stop });
    return Array.from(ticks, ({ node, range }) => node.text.forRange(range.start, range.stop));
  }

  async #topic(id: string): Promise<readonly string[]> {
    const service = await this.#alerts.service();
    await service.drained();
    try {
      const { level, collected } = service.topic(id);
      const states = service
        .events(id, { minLevel: 'OK' })
        .map(([event, state]) => stateLine(event, state));
      return [`collected ${collected} level ${level}`, ...states];
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      return [cause.message];
    }
  }

  async #advance(section: Section): Promise<void> {
    const nanos = parseDuration(section.argument);
    if (nanos === undefined) {
      this.#fail(section, 'expected a duration, for example `advance 10s`');
      return;
    }
    await this.#alerts.drained();
    this.#timers.advanceTo(this.#timers.now() + nanos);
    await this.#task?.drain();
    await this.#alerts.drained();
  }
}

/** One series of an answer as the database writes it. Throws `SyntaxError`. */
function readSeries(line: string): QueryResultSeries {
  const { name, tags, columns, values } = JSON.parse(line) as {
    readonly name: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly columns: readonly string[];
    readonly values: readonly (readonly (string | number | boolean | null)[])[];
  };
  const rows = values.map(([time, ...rest]) => [parseRfc3339(String(time)) ?? 0n, ...rest]);
  return { name, tags: tags ?? {}, columns, values: rows };
}

function trimmed(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim());
}
