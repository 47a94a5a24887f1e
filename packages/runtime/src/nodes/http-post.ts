// httpPost: posts every point or batch to a URL or a configured endpoint, then passes it on.
import { messageOf } from '@tidemark/core';
import { httpPostNode } from '@tidemark/pipeline';
import { AsyncQueue } from '../async-queue.ts';
import type { BatchCode, PointCode } from '../data/codec.ts';
import { decodeBatch, decodePoint, encodeBatch, encodePoint } from '../data/codec.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { batchRow, pointRow, rowsJson } from '../data/rows.ts';
import { formatFloatPlain } from '../lambda/text.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import type { ResultRow } from '../services.ts';
import { JSON_FUNCTIONS } from '../template/functions.ts';
import { TemplateSyntaxError } from '../template/lex.ts';
import { Template, TemplateExecutionError } from '../template/template.ts';
import type { TemplateValue } from '../template/value.ts';
import { TemplateMap, TemplateStruct, TemplateTime } from '../template/value.ts';
import { addedTo } from '../node-parts/augment.ts';
import { GroupStates } from '../group-states.ts';

type Target = {
  readonly url: Template;
  readonly row: Template | undefined;
  readonly headers: Readonly<Record<string, string>>;
};

type Request = { readonly url: string; readonly body: string };

/** A request that has no answer yet, and with a status field the message that waits for it. */
type Pending = {
  readonly request: Request | undefined;
  readonly message: Point | Batch | undefined;
};

type PendingCode = {
  readonly request: Request | undefined;
  readonly point?: PointCode | undefined;
  readonly batch?: BatchCode | undefined;
};

export class HttpPostNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {
    starting: this,
    waiting: this,
    closing: this,
    state: this,
  };
  readonly #ctx: ContextOf<typeof httpPostNode>;
  readonly #target: Target;
  readonly #queue = new AsyncQueue();
  /** In the order of the queue. */
  readonly #pending = new Set<Pending>();
  #restored: readonly Pending[] = [];
  readonly #groups = new GroupStates(() => true);
  readonly #abort = new AbortController();

  constructor(ctx: ContextOf<typeof httpPostNode>) {
    this.#ctx = ctx;
    this.#target = findTarget(ctx);
  }

  get groupCount(): number {
    return this.#groups.count;
  }

  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  point(point: Point): void {
    this.#groups.get(point.group);
    this.#post(point, pointRow(point));
  }

  batch(batch: Batch): void {
    this.#groups.get(batch.group);
    this.#post(batch, batchRow(batch));
  }

  barrier(barrier: Barrier): void {
    this.#later(() => this.#ctx.out.barrier(barrier));
  }

  deleteGroup(group: Group): void {
    this.#groups.delete(group);
    this.#later(() => this.#ctx.out.deleteGroup(group));
  }

  close(): void {
    this.#abort.abort();
  }

  start(): Promise<void> {
    for (const pending of this.#restored) this.#queueUp(pending);
    this.#restored = [];
    return Promise.resolve();
  }

  /** What was not answered yet is sent again. */
  snapshot(): unknown {
    if (this.#pending.size === 0) return undefined;
    return [...this.#pending].map(({ request, message }): PendingCode => {
      if (message === undefined) return { request };
      if (message instanceof Batch) return { request, batch: encodeBatch(message) };
      return { request, point: encodePoint(message) };
    });
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    this.#restored = (state as readonly PendingCode[]).map(({ request, point, batch }) => {
      if (point !== undefined) return { request, message: decodePoint(task, point) };
      return { request, message: batch === undefined ? undefined : decodeBatch(task, batch) };
    });
  }

  /**
   * Without a status field the nodes below do not wait for the answer; only the order of requests
   * matters.
   */
  #later(forward: () => void): void {
    if (this.#ctx.options.codeField === '') forward();
    else this.#queue.add(() => Promise.resolve(this.#ctx.task.guard(forward)));
  }

  #post(message: Point | Batch, row: ResultRow): void {
    const request = this.#request(row);
    if (this.#ctx.options.codeField !== '') this.#queueUp({ request, message });
    else {
      if (request !== undefined) this.#queueUp({ request, message: undefined });
      this.#forward(message);
    }
  }

  #queueUp(pending: Pending): void {
    const { request, message } = pending;
    this.#pending.add(pending);
    this.#queue.add(async () => {
      const code = request === undefined ? 0 : await this.#send(request);
      this.#pending.delete(pending);
      if (message === undefined) return;
      const { codeField: name } = this.#ctx.options;
      const fields = [{ name, type: 'int' as const, value: BigInt(code) }];
      this.#ctx.task.guard(() =>
        this.#forward(addedTo(this.#ctx, message, { tags: new Map(), fields })),
      );
    });
  }

  #forward(message: Point | Batch): void {
    if (message instanceof Batch) this.#ctx.out.batch(message);
    else this.#ctx.out.point(message);
  }

  #request(row: ResultRow): Request | undefined {
    try {
      const data = templateRow(row);
      const url = this.#target.url.execute(data);
      const template = this.#target.row;
      if (template !== undefined) return { url, body: template.execute(data) };
      const strange = notANumberOfJson(row);
      if (strange !== undefined) {
        const reason = `json: unsupported value: ${formatFloatPlain(strange)}`;
        this.#ctx.fail('failed to POST data', `failed to marshal row data json: ${reason}`);
        return undefined;
      }
      return { url, body: `${rowsJson([row])}\n` };
    } catch (cause) {
      if (!(cause instanceof TemplateExecutionError)) throw cause;
      this.#ctx.fail('failed to POST data', cause.message);
      return undefined;
    }
  }

  /** Returns the status, 0 when there was no answer. */
  async #send(request: Request): Promise<number> {
    const { options, task } = this.#ctx;
    const timeoutMs =
      options.timeoutNanos > 0n ? Number(options.timeoutNanos / 1_000_000n) : undefined;
    const contentType: Readonly<Record<string, string>> =
      this.#target.row === undefined ? { 'Content-Type': 'application/json' } : {};
    try {
      const response = await task.services.http.send(
        {
          method: 'POST',
          url: request.url,
          headers: {
            ...contentType,
            ...this.#target.headers,
            ...Object.fromEntries(options.headers),
          },
          body: request.body,
          timeoutMs,
        },
        this.#abort.signal,
      );
      if (response.status < 200 || response.status > 299) {
        const hint = 'unknown error, use .captureResponse() to capture the HTTP response';
        this.#ctx.fail(
          'POST returned non 2xx status code',
          options.isCapturingResponse ? response.body : hint,
        );
      }
      return response.status;
    } catch (cause) {
      this.#ctx.fail('failed to POST data', messageOf(cause));
      return 0;
    }
  }
}

function findTarget(ctx: ContextOf<typeof httpPostNode>): Target {
  const { url, endpoint } = ctx.options;
  try {
    if (endpoint === '') return { url: new Template('url', url), row: undefined, headers: {} };
    const found = ctx.task.services.http.endpoint(endpoint);
    if (found === undefined) {
      throw new StartError(`endpoint '${endpoint}' does not exist`, {
        properties: ['endpoint'],
        hint: 'endpoints are sections [[httppost]] of the configuration',
      });
    }
    const { rowTemplate } = found;
    return {
      url: new Template('url', found.url),
      row:
        rowTemplate === undefined || rowTemplate === ''
          ? undefined
          : new Template('row-template', rowTemplate, { functions: JSON_FUNCTIONS }),
      headers: found.headers,
    };
  } catch (cause) {
    if (cause instanceof TemplateSyntaxError) throw new StartError(cause.message, { cause });
    throw cause;
  }
}

/**
 * The first infinite or NaN value: receivers of rows expect numbers in columns of numbers, so such
 * a row is not sent, as recorded. It is counted as an error, and passed on to the nodes below.
 */
function notANumberOfJson(row: ResultRow): number | undefined {
  for (const line of row.values ?? []) {
    for (const value of line) {
      if (typeof value === 'number' && !Number.isFinite(value)) return value;
    }
  }
  return undefined;
}

/** The data of row templates: `.Name`, `.Tags` and `.Values`, one map by column for each line. */
function templateRow(row: ResultRow): TemplateValue {
  const columns = row.columns ?? [];
  const values = (row.values ?? []).map((line) => {
    const entries = columns.map((name, i): [string, TemplateValue] => {
      const value = line[i];
      return [name, i === 0 ? new TemplateTime(value as bigint) : value];
    });
    return new TemplateMap(entries, undefined);
  });
  return new TemplateStruct('models.Row', {
    Name: row.name,
    Tags: new TemplateMap(Object.entries(row.tags ?? {}), ''),
    Values: values,
  });
}

export const runningHttpPost = implement(httpPostNode, (ctx) => new HttpPostNode(ctx));
