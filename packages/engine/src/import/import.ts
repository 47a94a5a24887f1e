// Import: copies templates, tasks, topic handlers and event states from a running Kapacitor 1.x (or
// another engine) into a running engine, over the APIs of both. Definitions that are the same are
// left alone, so an interrupted copy can be repeated; a definition that differs is replaced only on
// request. Order: templates before their tasks, topics before the tasks that publish to them, so
// that alerts that were delivered there are not delivered again.
import { AppError, Unavailable } from '@tidemark/core';
import { compileGlob } from '@tidemark/settings';
import { differences, sortedDbrps } from './compare.ts';
import { Refused, Server } from './server.ts';
import type { Json } from './server.ts';

export type ImportOptions = {
  /** Address of the source, with user and password if it requires them. */
  readonly from: string;
  /** Address of the running engine. */
  readonly to: string;
  /** Token for it, instead of user and password. */
  readonly toToken?: string | undefined;
  /** Sent with every request to it. */
  readonly toHeaders?: Readonly<Record<string, string>> | undefined;
  /** Tasks are copied disabled, for example because the old system still runs. */
  readonly isDisabled?: boolean | undefined;
  /** Only tasks and templates whose id matches this glob. */
  readonly pattern?: string | undefined;
  /** Replaces existing definitions that differ. */
  readonly isOverwriting?: boolean | undefined;
  /** Reports what would be done, and changes nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Called after each step. */
  readonly onStep?: ((step: ImportStep) => void) | undefined;
  /** Ends the import. */
  readonly signal?: AbortSignal | undefined;
};

/** `kept`: exists already with differences, and is left as it is. */
type Outcome = 'created' | 'replaced' | 'unchanged' | 'kept' | 'failed';

export type ImportStep = {
  readonly kind: 'template' | 'task' | 'topic' | 'handler' | 'event';
  readonly id: string;
  readonly outcome: Outcome;
  /** Why it failed, or the differences. */
  readonly note: string;
};

/** A definition to copy, and how. */
type Item = {
  readonly wanted: Json;
  /** The existing definition, in the form of `wanted`. */
  readonly existing: Json | undefined;
  readonly create: () => Promise<unknown>;
  readonly replace: () => Promise<unknown>;
};

/**
 * Copies everything possible; failures are steps `failed`. Rejects with `Unavailable` when a server
 * does not answer; `onStep` has been called for everything done before.
 */
export async function importDefinitions(options: ImportOptions): Promise<readonly ImportStep[]> {
  const { signal } = options;
  const from = await Server.open(options.from, { signal });
  const to = await Server.open(options.to, {
    token: options.toToken,
    headers: options.toHeaders,
    signal,
  });
  return new Import(from, to, options).run();
}

class Import {
  readonly #from: Server;
  readonly #to: Server;
  readonly #options: ImportOptions;
  readonly #steps: ImportStep[] = [];

  constructor(from: Server, to: Server, options: ImportOptions) {
    this.#from = from;
    this.#to = to;
    this.#options = options;
  }

  async run(): Promise<readonly ImportStep[]> {
    await this.#templates();
    await this.#topics();
    await this.#tasks();
    return this.#steps;
  }

  async #templates(): Promise<void> {
    for await (const template of this.#from.list('templates?script-format=raw', 'templates')) {
      const id = textOf(template, 'id');
      if (!this.#wants(id)) continue;
      const path = `templates/${encodeURIComponent(id)}`;
      const { type, script } = template;
      await this.#step('template', id, async () => ({
        wanted: { type, script },
        existing: await this.#to.find(`${path}?script-format=raw`),
        create: () => this.#to.send('POST', 'templates', { id, type, script }),
        replace: () => this.#to.send('PATCH', path, { type, script }),
      }));
    }
  }

  // Topics of scripts are copied with their events only; their handlers are part of the scripts.
  // Servers list all topics at once, whatever page is requested.
  async #topics(): Promise<void> {
    const { topics } = await this.#from.get('preview/alerts/topics?limit=-1');
    for (const topic of (topics ?? []) as readonly Json[]) {
      const id = textOf(topic, 'id');
      const path = `preview/alerts/topics/${encodeURIComponent(id)}`;
      for (const handler of await this.#partsOf(id, path, 'handlers')) {
        await this.#handler(id, path, handler);
      }
      for (const event of await this.#partsOf(id, path, 'events')) {
        await this.#event(id, path, event);
      }
    }
  }

  /**
   * The handlers or events of a topic; none, and a failed step, if the server refuses to list them.
   */
  async #partsOf(id: string, path: string, name: 'handlers' | 'events'): Promise<readonly Json[]> {
    try {
      const { [name]: parts } = await this.#from.get(`${path}/${name}?limit=-1`);
      return (parts ?? []) as readonly Json[];
    } catch (error) {
      // The other topics are independent of this one.
      if (!(error instanceof Refused)) throw error;
      this.#tell({ kind: 'topic', id, outcome: 'failed', note: `${name}: ${error.message}` });
      return [];
    }
  }

  async #handler(topic: string, topicPath: string, handler: Json): Promise<void> {
    const { link: _link, ...spec } = handler;
    const id = textOf(handler, 'id');
    const path = `${topicPath}/handlers/${encodeURIComponent(id)}`;
    await this.#step('handler', `${topic}/${id}`, async () => ({
      wanted: spec,
      existing: await this.#to.find(path),
      create: () => this.#to.send('POST', `${topicPath}/handlers`, spec),
      replace: () => this.#to.send('PUT', path, spec),
    }));
  }

  async #event(topic: string, topicPath: string, event: Json): Promise<void> {
    const id = textOf(event, 'id');
    const { state } = event;
    const path = `${topicPath}/events/${encodeURIComponent(id)}`;
    const put = (): Promise<unknown> => this.#to.send('PUT', path, { state });
    await this.#step('event', `${topic}/${id}`, async () => ({
      wanted: { state },
      existing: await this.#to.find(path),
      create: put,
      replace: put,
    }));
  }

  async #tasks(): Promise<void> {
    for await (const listed of this.#from.list('tasks?fields=status', 'tasks')) {
      const id = textOf(listed, 'id');
      if (!this.#wants(id)) continue;
      await this.#step('task', id, async () => {
        // Lists do not contain the template of a task.
        const path = `tasks/${encodeURIComponent(id)}`;
        return this.#task(path, await this.#from.get(`${path}?script-format=raw`));
      });
    }
  }

  async #task(path: string, task: Json): Promise<Item> {
    const templateId = textOf(task, 'template-id');
    const script = textOf(task, 'script');
    const hasOwnDbrps = /^\s*dbrp\s+"/m.test(script);
    const isEnabled = task['status'] === 'enabled' && this.#options.isDisabled !== true;
    const status = isEnabled ? 'enabled' : 'disabled';
    const source =
      templateId === '' ? { type: task['type'], script } : { 'template-id': templateId };
    const definition = {
      ...source,
      ...(hasOwnDbrps ? {} : { dbrps: task['dbrps'] }),
      vars: task['vars'] ?? {},
    };
    // Enabled only when everything else is copied.
    const enable = async (): Promise<void> => {
      if (isEnabled) await this.#to.send('PATCH', path, { status });
    };
    const existing = await this.#to.find(`${path}?script-format=raw`);
    return {
      wanted: { ...definition, dbrps: sortedDbrps(task['dbrps']), status },
      existing: existing && { ...existing, dbrps: sortedDbrps(existing['dbrps']) },
      create: async () => {
        await this.#to.send('POST', 'tasks', { id: task['id'], ...definition, status: 'disabled' });
        await enable();
      },
      replace: async () => {
        await this.#to.send('PATCH', path, { ...definition, status: 'disabled' });
        await enable();
      },
    };
  }

  async #step(kind: ImportStep['kind'], id: string, prepare: () => Promise<Item>): Promise<void> {
    try {
      this.#tell({ kind, id, ...(await this.#copy(await prepare())) });
    } catch (error) {
      // A refusal is reported and does not stop the import; an unavailable server does.
      if (!(error instanceof AppError) || error instanceof Unavailable) throw error;
      this.#tell({ kind, id, outcome: 'failed', note: error.message });
    }
  }

  async #copy(item: Item): Promise<{ readonly outcome: Outcome; readonly note: string }> {
    const { isDryRun = false, isOverwriting = false } = this.#options;
    if (item.existing === undefined) {
      if (!isDryRun) await item.create();
      return { outcome: 'created', note: '' };
    }
    const different = differences(item.wanted, item.existing);
    if (different.length === 0) return { outcome: 'unchanged', note: '' };
    const note = `differs in ${different.join(', ')}`;
    if (!isOverwriting) return { outcome: 'kept', note };
    if (!isDryRun) await item.replace();
    return { outcome: 'replaced', note };
  }

  #tell(step: ImportStep): void {
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
