// Moving in: copies templates, tasks, topic handlers and the states of events from a running Kapacitor 1.x (or another
// engine) into a running engine, over the API of both. What exists already is brought up to date, so a copy that was
// interrupted can be made again. Order: templates before their tasks, topics before the tasks that publish to them, so
// that nobody is told again what was told there.
import { compileGlob } from '@tidemark/alerting';
import { AppError, Unavailable } from '@tidemark/core';
import { asObject, parseJson, printJson } from '../http/json.ts';

export type MoveInOptions = {
  /** Where to copy from, with user and password if it wants them. */
  readonly from: string;
  /** The running engine. */
  readonly to: string;
  /** Tasks arrive disabled, for example because the old system still runs. */
  readonly isDisabled?: boolean | undefined;
  /** Only tasks and templates whose id matches this glob. */
  readonly pattern?: string | undefined;
  /** Looks and reports, changes nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Told about each thing when it is done. */
  readonly onStep?: ((step: MoveInStep) => void) | undefined;
};

export type MoveInStep = {
  readonly kind: 'template' | 'task' | 'handler' | 'event';
  readonly id: string;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  /** Why it failed, or what to look at. */
  readonly note: string;
};

type Json = Readonly<Record<string, unknown>>;

const PAGE = 100;
const REQUEST_TIMEOUT_MS = 30_000;
const OLD_BASE = '/kapacitor/v1';
const NEW_BASE = '/engine/v1';

/** Copies everything that can be copied; what can not is a step `failed`. Rejects when a server does not answer. */
export async function moveIn(options: MoveInOptions): Promise<readonly MoveInStep[]> {
  const from = await Server.find(options.from);
  const to = await Server.find(options.to);
  return new MoveIn(from, to, options).run();
}

/** A refusal of one of the servers, in its words. */
class Refused extends AppError {
  override readonly name = 'Refused';
  readonly code = 'REFUSED';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

class Server {
  readonly #origin: string;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: URL, base: string) {
    this.#origin = url.origin;
    this.#base = base;
    const user = decodeURIComponent(url.username);
    const pair = Buffer.from(`${user}:${decodeURIComponent(url.password)}`).toString('base64');
    this.#headers = user === '' ? {} : { Authorization: `Basic ${pair}` };
  }

  /** Finds out under which path the API answers. */
  static async find(text: string): Promise<Server> {
    const url = new URL(text);
    for (const base of [NEW_BASE, OLD_BASE]) {
      const server = new Server(url, base);
      const status = await server.#status('GET', `${base}/ping`);
      if (status === 204 || status === 200) return server;
      if (status === 401) throw new Refused(401, `${url.host} wants a user and a password`);
    }
    throw new Unavailable(`no task engine answers at ${url.origin}`);
  }

  get(path: string): Promise<Json> {
    return this.send('GET', path);
  }

  /** `preview/…` is below the preview path. Rejects with `Refused` when it is not answered with success. */
  async send(method: string, path: string, body?: unknown): Promise<Json> {
    const url = path.startsWith('preview/')
      ? `${this.#base}preview/${path.slice('preview/'.length)}`
      : `${this.#base}/${path}`;
    const response = await this.#fetch(method, url, body);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) {
      return bytes.length === 0 ? {} : asObject(parseJson(bytes, ''), 'expected an object');
    }
    throw new Refused(response.status, reasonOf(bytes, response.status));
  }

  async *list(path: string, name: string): AsyncIterable<Json> {
    for (let offset = 0; ; offset += PAGE) {
      const separator = path.includes('?') ? '&' : '?';
      const page = await this.get(`${path}${separator}offset=${offset}&limit=${PAGE}`);
      const items = Array.isArray(page[name]) ? (page[name] as readonly Json[]) : [];
      yield* items;
      if (items.length < PAGE) return;
    }
  }

  async #status(method: string, path: string): Promise<number> {
    const response = await this.#fetch(method, path);
    await response.arrayBuffer();
    return response.status;
  }

  async #fetch(method: string, path: string, body?: unknown): Promise<Response> {
    try {
      return await fetch(this.#origin + path, {
        method,
        headers: this.#headers,
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        ...(body === undefined ? {} : { body: printJson(body) }),
      });
    } catch (cause) {
      throw new Unavailable(`${this.#origin} does not answer: ${String(cause)}`, { cause });
    }
  }
}

function reasonOf(bytes: Uint8Array, status: number): string {
  try {
    const { error } = asObject(parseJson(bytes, ''), '');
    return typeof error === 'string' ? error : `answered ${status}`;
  } catch {
    // Not JSON: the bare text is the reason.
    return Buffer.from(bytes).toString('utf8').trim() || `answered ${status}`;
  }
}

class MoveIn {
  readonly #from: Server;
  readonly #to: Server;
  readonly #options: MoveInOptions;
  readonly #steps: MoveInStep[] = [];

  constructor(from: Server, to: Server, options: MoveInOptions) {
    this.#from = from;
    this.#to = to;
    this.#options = options;
  }

  async run(): Promise<readonly MoveInStep[]> {
    await this.#templates();
    await this.#topics();
    await this.#tasks();
    return this.#steps;
  }

  async #templates(): Promise<void> {
    for await (const template of this.#from.list('templates?script-format=raw', 'templates')) {
      const id = textOf(template, 'id');
      if (!this.#wants(id)) continue;
      const { type, script } = template;
      await this.#step('template', id, () => this.#put('templates', { id, type, script }));
    }
  }

  // Topics of scripts come along with their events only; their handlers are part of the scripts. Servers list all
  // topics at once, whatever page is asked for.
  async #topics(): Promise<void> {
    const { topics } = await this.#from.get('preview/alerts/topics?limit=-1');
    for (const topic of (topics ?? []) as readonly Json[]) {
      const id = textOf(topic, 'id');
      const path = `preview/alerts/topics/${encodeURIComponent(id)}`;
      const { handlers } = await this.#from.get(`${path}/handlers?limit=-1`);
      for (const handler of (handlers ?? []) as readonly Json[]) {
        const { link: _link, ...spec } = handler;
        const name = textOf(handler, 'id');
        await this.#step('handler', `${id}/${name}`, () => this.#putHandler(path, name, spec));
      }
      const { events } = await this.#from.get(`${path}/events?limit=-1`);
      for (const event of (events ?? []) as readonly Json[]) {
        const name = textOf(event, 'id');
        const { state } = event;
        const eventPath = `${path}/events/${encodeURIComponent(name)}`;
        await this.#step('event', `${id}/${name}`, async () => {
          await this.#to.send('PUT', eventPath, { state });
          return 'created';
        });
      }
    }
  }

  async #tasks(): Promise<void> {
    for await (const listed of this.#from.list('tasks?fields=status', 'tasks')) {
      const id = textOf(listed, 'id');
      if (!this.#wants(id)) continue;
      await this.#step('task', id, async () => {
        // Lists do not tell from which template a task was made.
        const task = await this.#from.get(`tasks/${encodeURIComponent(id)}?script-format=raw`);
        return this.#putTask(id, task);
      });
    }
  }

  async #putTask(id: string, task: Json): Promise<MoveInStep['outcome']> {
    const templateId = textOf(task, 'template-id');
    const script = textOf(task, 'script');
    const hasOwnDbrps = /^\s*dbrp\s+"/m.test(script);
    const definition = {
      id,
      ...(templateId === '' ? { type: task['type'], script } : { 'template-id': templateId }),
      ...(hasOwnDbrps ? {} : { dbrps: task['dbrps'] }),
      vars: task['vars'] ?? {},
    };
    const outcome = await this.#put('tasks', { ...definition, status: 'disabled' });
    const isEnabled = task['status'] === 'enabled' && this.#options.isDisabled !== true;
    if (isEnabled) {
      await this.#to.send('PATCH', `tasks/${encodeURIComponent(id)}`, { status: 'enabled' });
    }
    return outcome;
  }

  /** Creates a task or template, or brings it up to date. */
  async #put(kind: 'tasks' | 'templates', definition: Json): Promise<MoveInStep['outcome']> {
    const path = `${kind}/${encodeURIComponent(textOf(definition, 'id'))}`;
    if (await this.#exists(path)) {
      const { id: _id, ...changes } = definition;
      await this.#to.send('PATCH', path, changes);
      return 'updated';
    }
    await this.#to.send('POST', kind, definition);
    return 'created';
  }

  async #putHandler(path: string, id: string, spec: Json): Promise<MoveInStep['outcome']> {
    const handlerPath = `${path}/handlers/${encodeURIComponent(id)}`;
    if (await this.#exists(handlerPath)) {
      await this.#to.send('PUT', handlerPath, spec);
      return 'updated';
    }
    await this.#to.send('POST', `${path}/handlers`, spec);
    return 'created';
  }

  async #exists(path: string): Promise<boolean> {
    try {
      await this.#to.get(path);
      return true;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return false;
      throw error;
    }
  }

  async #step(
    kind: MoveInStep['kind'],
    id: string,
    act: () => Promise<MoveInStep['outcome']>,
  ): Promise<void> {
    let step: MoveInStep;
    try {
      const outcome = this.#options.isDryRun === true ? 'unchanged' : await act();
      step = { kind, id, outcome, note: '' };
    } catch (error) {
      // One thing that is refused is reported and does not keep the others back; a server that is gone does.
      if (!(error instanceof AppError) || error instanceof Unavailable) throw error;
      step = { kind, id, outcome: 'failed', note: error.message };
    }
    this.#steps.push(step);
    this.#options.onStep?.(step);
  }

  #wants(id: string): boolean {
    const { pattern } = this.#options;
    if (pattern === undefined) return true;
    return compileGlob(pattern)?.(id) === true;
  }
}

function textOf(object: Json, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}
