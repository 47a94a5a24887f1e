// Typed client of the task engine's HTTP API.
import type {
  ConfigChange,
  ConfigSection,
  DeadLetter,
  DeadLetterChoice,
  Handler,
  HandlerState,
  AlertGroup,
  LevelChange,
  ListOptions,
  Recording,
  Replay,
  ServiceTest,
  SevereEvents,
  ClusterMember,
  ClusterTask,
  ServiceTestResult,
  Task,
  TaskChange,
  TaskVersion,
  Template,
  TestEvent,
  Topic,
  TopicEvent,
  TriedAction,
  TryOut,
} from './engine-types.ts';
import { DocumentClient } from './document-client.ts';
import { diagnosticOf, HttpConnection } from './http.ts';
import type { ClientOptions, ResponseDiagnostic } from './http.ts';

const BASE = '/engine/v1';
const PREVIEW = '/engine/v1preview';
const PAGE = 100;
/** `limit` for complete lists. */
const ALL = -1;

const part = encodeURIComponent;

type AnsweredTask = Omit<Task, 'diagnostics' | 'warnings'> & {
  readonly diagnostics?: readonly ResponseDiagnostic[] | undefined;
  readonly warnings?: readonly ResponseDiagnostic[] | undefined;
};

function taskOf({ diagnostics, warnings, ...task }: AnsweredTask): Task {
  return {
    ...task,
    ...(diagnostics === undefined ? {} : { diagnostics: diagnostics.map(diagnosticOf) }),
    ...(warnings === undefined ? {} : { warnings: warnings.map(diagnosticOf) }),
  };
}

/** The response contains all errors of a script, whether it is refused or only cannot run. */
const DEFINING = { search: { diagnostics: 'true' } };

/** Every method throws an `AppError` with the engine's text when the engine refuses. */
export class EngineClient {
  readonly http: HttpConnection;
  readonly documents: DocumentClient;

  constructor(options: ClientOptions) {
    this.http = new HttpConnection(options);
    this.documents = new DocumentClient(this.http, `${BASE}/documents`);
  }

  /** The engine's version. */
  async ping(): Promise<string> {
    return (await this.http.send(`${BASE}/ping`)).headers.get('x-engine-version') ?? '';
  }

  /** All items of a list, page by page. */
  async *#list<T>(collection: string, options: ListOptions): AsyncIterable<T> {
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.http.json<Record<string, readonly T[]>>(`${BASE}/${collection}`, {
        search: { pattern: options.pattern, fields: options.fields, offset, limit: PAGE },
      });
      const items = page[collection] ?? [];
      yield* items;
      if (items.length < PAGE) return;
    }
  }

  tasks(options: ListOptions = {}): AsyncIterable<Task> {
    return this.#list('tasks', options);
  }

  /** A task, with the reasons why it cannot start. */
  async task(
    id: string,
    options: {
      readonly replayId?: string | undefined;
      readonly dotView?: 'attributes' | 'labels';
      readonly scriptFormat?: 'formatted' | 'raw';
    } = {},
  ): Promise<Task> {
    const answer = await this.http.json<AnsweredTask>(`${BASE}/tasks/${part(id)}`, {
      search: {
        ...DEFINING.search,
        'replay-id': options.replayId,
        'dot-view': options.dotView,
        'script-format': options.scriptFormat,
      },
    });
    return taskOf(answer);
  }

  async createTask(task: TaskChange): Promise<Task> {
    const request = { ...DEFINING, method: 'POST', json: task } as const;
    return taskOf(await this.http.json(`${BASE}/tasks`, request));
  }

  async changeTask(id: string, change: TaskChange): Promise<Task> {
    const request = { ...DEFINING, method: 'PATCH', json: change } as const;
    return taskOf(await this.http.json(`${BASE}/tasks/${part(id)}`, request));
  }

  async deleteTask(id: string): Promise<void> {
    await this.http.send(`${BASE}/tasks/${part(id)}`, { method: 'DELETE' });
  }

  /** The definitions of a task, current one first. */
  async taskVersions(id: string): Promise<readonly TaskVersion[]> {
    const { versions } = await this.http.json<{ versions: readonly TaskVersion[] }>(
      `${BASE}/task-versions/${part(id)}`,
    );
    return versions;
  }

  templates(options: ListOptions = {}): AsyncIterable<Template> {
    return this.#list('templates', options);
  }

  template(id: string): Promise<Template> {
    return this.http.json(`${BASE}/templates/${part(id)}`);
  }

  createTemplate(template: {
    readonly id: string;
    readonly type?: string | undefined;
    readonly script: string;
  }): Promise<Template> {
    return this.http.json(`${BASE}/templates`, { ...DEFINING, method: 'POST', json: template });
  }

  changeTemplate(
    id: string,
    change: { readonly type?: string | undefined; readonly script?: string | undefined },
  ): Promise<Template> {
    return this.http.json(`${BASE}/templates/${part(id)}`, {
      ...DEFINING,
      method: 'PATCH',
      json: change,
    });
  }

  async deleteTemplate(id: string): Promise<void> {
    await this.http.send(`${BASE}/templates/${part(id)}`, { method: 'DELETE' });
  }

  recordings(options: ListOptions = {}): AsyncIterable<Recording> {
    return this.#list('recordings', options);
  }

  recording(id: string): Promise<Recording> {
    return this.http.json(`${BASE}/recordings/${part(id)}`);
  }

  /** Starts a recording; `body` has the fields of this kind of recording. */
  record(
    kind: 'stream' | 'batch' | 'query',
    body: Readonly<Record<string, unknown>>,
  ): Promise<Recording> {
    return this.http.json(`${BASE}/recordings/${kind}`, { method: 'POST', json: body });
  }

  async deleteRecording(id: string): Promise<void> {
    await this.http.send(`${BASE}/recordings/${part(id)}`, { method: 'DELETE' });
  }

  replays(options: ListOptions = {}): AsyncIterable<Replay> {
    return this.#list('replays', options);
  }

  replay(id: string): Promise<Replay> {
    return this.http.json(`${BASE}/replays/${part(id)}`);
  }

  /** Starts a replay of a recording (`kind` empty) or of data fetched now. */
  startReplay(
    kind: '' | 'batch' | 'query',
    body: Readonly<Record<string, unknown>>,
  ): Promise<Replay> {
    return this.http.json(`${BASE}/replays/${kind}`, { method: 'POST', json: body });
  }

  async deleteReplay(id: string): Promise<void> {
    await this.http.send(`${BASE}/replays/${part(id)}`, { method: 'DELETE' });
  }

  async topics(
    options: { readonly pattern?: string | undefined; readonly minLevel?: string | undefined } = {},
  ): Promise<readonly Topic[]> {
    const answer = await this.http.json<{ topics: readonly Topic[] }>(`${PREVIEW}/alerts/topics`, {
      search: { pattern: options.pattern, 'min-level': options.minLevel, limit: ALL },
    });
    return answer.topics;
  }

  topic(id: string): Promise<Topic> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(id)}`);
  }

  async deleteTopic(id: string): Promise<void> {
    await this.http.send(`${PREVIEW}/alerts/topics/${part(id)}`, { method: 'DELETE' });
  }

  async events(topic: string, minLevel?: string): Promise<readonly TopicEvent[]> {
    const answer = await this.http.json<{ events: readonly TopicEvent[] }>(
      `${PREVIEW}/alerts/topics/${part(topic)}/events`,
      { search: { 'min-level': minLevel, limit: ALL } },
    );
    return answer.events;
  }

  /** The most severe events of a topic, of one level the newest first. */
  mostSevereEvents(
    topic: string,
    {
      minLevel,
      ...page
    }: {
      readonly minLevel?: string | undefined;
      readonly pattern?: string | undefined;
      readonly limit: number;
    },
  ): Promise<SevereEvents> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(topic)}/events`, {
      search: { 'min-level': minLevel, order: 'level', ...page },
    });
  }

  async handlers(topic: string, pattern?: string): Promise<readonly Handler[]> {
    const answer = await this.http.json<{ handlers: readonly Handler[] | null }>(
      `${PREVIEW}/alerts/topics/${part(topic)}/handlers`,
      {
        search: { ...DEFINING.search, pattern, limit: ALL },
      },
    );
    return answer.handlers ?? [];
  }

  handler(topic: string, id: string): Promise<Handler> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(topic)}/handlers/${part(id)}`, DEFINING);
  }

  createHandler(topic: string, handler: Handler): Promise<Handler> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(topic)}/handlers`, {
      ...DEFINING,
      method: 'POST',
      json: handler,
    });
  }

  replaceHandler(topic: string, id: string, handler: Handler): Promise<Handler> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(topic)}/handlers/${part(id)}`, {
      ...DEFINING,
      method: 'PUT',
      json: handler,
    });
  }

  async deleteHandler(topic: string, id: string): Promise<void> {
    await this.http.send(`${PREVIEW}/alerts/topics/${part(topic)}/handlers/${part(id)}`, {
      method: 'DELETE',
    });
  }

  handlerState(topic: string, id: string): Promise<HandlerState> {
    return this.http.json(`${PREVIEW}/alerts/topics/${part(topic)}/handlers/${part(id)}/state`);
  }

  /** Lets a handler deliver an event at once, whether it is stored or not. */
  async tryHandler(
    topic: string,
    handler: Handler,
    event: TestEvent,
  ): Promise<readonly TriedAction[]> {
    const { results } = await this.http.json<{ results: readonly TriedAction[] }>(
      `${PREVIEW}/alerts/topics/${part(topic)}/handler-tests`,
      { method: 'POST', json: { handler, event } },
    );
    return results;
  }

  /** Level changes, newest first, and their total number. */
  alertHistory(
    options: {
      readonly topic?: string | undefined;
      readonly limit?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<{ readonly total: number; readonly changes: readonly LevelChange[] }> {
    const { topic, limit, signal } = options;
    return this.http.json(`${PREVIEW}/alerts/history`, { search: { topic, limit }, signal });
  }

  /** Groups of an alert node of a running task, the most severe first; `total` counts all. */
  alertGroups(
    id: string,
    node: string,
    options: {
      /** Shell glob that the group's id matches. */
      readonly pattern?: string | undefined;
      readonly offset?: number | undefined;
      readonly limit?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<{ readonly total: number; readonly groups: readonly AlertGroup[] }> {
    const { signal, ...search } = options;
    const path = `${PREVIEW}/alerts/groups/${part(id)}/${part(node)}`;
    return this.http.json(path, { search, signal });
  }

  /** Undeliverable events, newest first, and the number of all that match. */
  async deadLetters(
    choice: Pick<DeadLetterChoice, 'topic' | 'handler'> = {},
    limit: number = ALL,
  ): Promise<{ readonly total: number; readonly letters: readonly DeadLetter[] }> {
    const path = `${PREVIEW}/alerts/dead-letters`;
    const { topic, handler } = choice;
    const { total, 'dead-letters': letters } = await this.http.json<{
      total: number;
      'dead-letters': readonly DeadLetter[];
    }>(path, { search: { topic, handler, limit } });
    return { total, letters };
  }

  /** Retries or drops dead letters; returns how many, and how many are left. */
  changeDeadLetters(
    action: 'retry' | 'drop',
    choice: DeadLetterChoice,
  ): Promise<{ readonly count: number; readonly left: number }> {
    const json = { action, ...choice };
    return this.http.json(`${PREVIEW}/alerts/dead-letters`, { method: 'POST', json });
  }

  async serviceTests(pattern?: string): Promise<readonly ServiceTest[]> {
    const answer = await this.http.json<{ services: readonly ServiceTest[] }>(
      `${BASE}/service-tests`,
      { search: { pattern } },
    );
    return answer.services;
  }

  testService(
    name: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<ServiceTestResult> {
    return this.http.json(`${BASE}/service-tests/${part(name)}`, { method: 'POST', json: options });
  }

  /** The instances of the cluster; empty without a cluster. */
  async members(): Promise<readonly ClusterMember[]> {
    const answer = await this.http.json<{ members: readonly ClusterMember[] }>(
      `${BASE}/cluster/members`,
    );
    return answer.members;
  }

  /** Running tasks of the cluster with their instances; empty without a cluster. */
  async clusterTasks(): Promise<readonly ClusterTask[]> {
    const answer = await this.http.json<{ tasks: readonly ClusterTask[] }>(`${BASE}/cluster/tasks`);
    return answer.tasks;
  }

  /** Drops an instance, given by id or URL, that is gone for good. */
  async forgetMember(instance: string): Promise<void> {
    await this.http.send(`${BASE}/cluster/members/${part(instance)}`, { method: 'DELETE' });
  }

  /** Asks an instance, given by id or URL, not to lead the cluster any more. */
  async drainMember(instance: string): Promise<void> {
    await this.http.send(`${BASE}/cluster/members/${part(instance)}/drain`, { method: 'POST' });
  }

  /** Effective configuration: the file merged with stored overrides, without secrets. */
  config(section = '', element = ''): Promise<unknown> {
    const path = [section, element].filter((text) => text !== '').map((text) => `/${part(text)}`);
    return this.http.json(`${BASE}/config${path.join('')}`);
  }

  /** All sections, with descriptions of their options and which of them clients have set. */
  async describedConfig(): Promise<Readonly<Record<string, ConfigSection>>> {
    const answer = await this.http.json<{
      readonly sections: Readonly<Record<string, ConfigSection>>;
    }>(`${BASE}/config`, { search: { describe: 'true' } });
    return answer.sections;
  }

  /** Changes a section, or one of its elements; '' in a section that is no list. */
  async changeConfig(
    { section, element }: { readonly section: string; readonly element?: string | undefined },
    change: ConfigChange,
  ): Promise<void> {
    const path = element === undefined ? part(section) : `${part(section)}/${part(element)}`;
    await this.http.send(`${BASE}/config/${path}`, { method: 'POST', json: change });
  }

  /** The metadata of the engine as one file. */
  async backup(signal: AbortSignal): Promise<Response> {
    return this.http.send(`${BASE}/storage/backup`, { signal });
  }

  async setLogLevel(level: string): Promise<void> {
    await this.http.send(`${BASE}/loglevel`, { method: 'POST', json: { level } });
  }

  /**
   * The log as it is written, filtered by tags, a line or a JSON object each; ends when `signal`
   * fires.
   */
  async logs(
    filters: Readonly<Record<string, string>>,
    options: { readonly isJson?: boolean | undefined; readonly signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.http.send(`${PREVIEW}/logs`, {
      search: filters,
      signal: options.signal,
      headers: options.isJson === true ? { Accept: 'application/json' } : {},
    });
    if (response.body === null) throw new Error('the log has no body');
    return response.body as ReadableStream<Uint8Array>;
  }

  /**
   * The output of a node of a task, or of a replay of it, one JSON object per line; ends with the
   * task or `signal`.
   */
  async tap(
    id: string,
    node: string,
    options: {
      readonly group?: string | undefined;
      readonly replayId?: string | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<ReadableStream<Uint8Array>> {
    const { group = '', replayId = '', signal } = options;
    const search = {
      ...(group === '' ? {} : { group }),
      ...(replayId === '' ? {} : { 'replay-id': replayId }),
    };
    const response = await this.http.send(`${BASE}/taps/${part(id)}/${part(node)}`, {
      search,
      signal,
    });
    if (response.body === null) throw new Error('the tap has no body');
    return response.body as ReadableStream<Uint8Array>;
  }

  /**
   * Runs an undefined task on past data: one JSON object per line, until it has ended or `signal`
   * fires. Nothing is stored, sent or published.
   */
  async tryOut(tried: TryOut, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.http.send(`${BASE}/try-outs`, {
      search: { diagnostics: 'true' },
      method: 'POST',
      json: tried,
      signal,
    });
    if (response.body === null) throw new Error('the try-out has no body');
    return response.body as ReadableStream<Uint8Array>;
  }

  /** The same run as the text of a task test, which expects its output. */
  async tryOutTest(
    tried: TryOut & { readonly name: string; readonly expects: readonly string[] },
  ): Promise<string> {
    const answer = await this.http.send(`${BASE}/try-outs/task-test`, {
      method: 'POST',
      json: tried,
    });
    return answer.text();
  }

  debugVars(): Promise<Readonly<Record<string, unknown>>> {
    return this.http.json(`${BASE}/debug/vars`);
  }
}
