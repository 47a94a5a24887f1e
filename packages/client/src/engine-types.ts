// Documents of the task engine's API: its resources and their fields.
import type { ScriptDiagnostic } from './http.ts';

export type Dbrp = { readonly db: string; readonly rp: string };

export type TaskVar = {
  readonly type: string;
  readonly value: unknown;
  readonly description?: string | undefined;
};

export type Task = {
  readonly id: string;
  readonly 'template-id'?: string | undefined;
  readonly type: 'stream' | 'batch';
  readonly dbrps: readonly Dbrp[];
  readonly script: string;
  readonly vars?: Readonly<Record<string, TaskVar>> | undefined;
  readonly dot: string;
  readonly status: 'enabled' | 'disabled';
  readonly executing: boolean;
  readonly error: string;
  readonly stats?: unknown;
  readonly created: string;
  readonly modified: string;
  readonly 'last-enabled'?: string | undefined;
  /** Requested number of parts; absent if not set. */
  readonly split?: number | undefined;
  /** It runs with its previous definition; absent when it runs as shown. */
  readonly 'needs-restart'?: true | undefined;
  /** Waiting rows, and the time of the last one received, if the request asked for them. */
  readonly lag?: { readonly waiting?: number; readonly newest?: string } | undefined;
  /** Why it cannot start, if the request asked for it. */
  readonly diagnostics?: readonly ScriptDiagnostic[] | undefined;
  /** Mistakes that let it start but fail for every point, if the request asked for them. */
  readonly warnings?: readonly ScriptDiagnostic[] | undefined;
};

/** The properties that a definition or a change may set. */
export type TaskChange = {
  readonly id?: string | undefined;
  readonly 'template-id'?: string | undefined;
  readonly type?: string | undefined;
  readonly dbrps?: readonly Dbrp[] | undefined;
  readonly script?: string | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
  readonly vars?: Readonly<Record<string, TaskVar>> | undefined;
  /** Number of parts; 0 leaves it to the configuration. */
  readonly split?: number | undefined;
  /** Whether an enabled task restarts with the change at once. */
  readonly restart?: boolean | undefined;
};

/** A current or earlier definition of a task. */
export type TaskVersion = {
  readonly number: number;
  readonly time: string;
  /** '' without authentication. */
  readonly user: string;
  readonly 'template-id'?: string | undefined;
  readonly type: string;
  readonly dbrps: readonly Dbrp[];
  readonly script: string;
  readonly vars: Readonly<Record<string, TaskVar>>;
  readonly split?: number | undefined;
};

export type Template = {
  readonly id: string;
  readonly type: string;
  readonly script: string;
  readonly vars: Readonly<Record<string, TaskVar>>;
  readonly dot: string;
  readonly error: string;
  readonly created: string;
  readonly modified: string;
};

export type RunStatus = 'running' | 'failed' | 'finished';

export type Recording = {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly date: string;
  readonly error: string;
  readonly status: RunStatus;
  readonly progress: number;
};

export type Replay = {
  readonly id: string;
  readonly task: string;
  readonly recording: string;
  readonly clock: string;
  readonly 'recording-time': boolean;
  readonly status: RunStatus;
  readonly progress: number;
  readonly error: string;
  readonly date?: string | undefined;
};

export type Topic = { readonly id: string; readonly level: string; readonly collected: number };

export type TopicEvent = {
  readonly id: string;
  readonly state: {
    readonly level: string;
    readonly message: string;
    readonly details?: string | undefined;
    readonly time: string;
    readonly duration: string;
  };
};

/** A part of a topic's events, and the numbers of all that match. */
export type SevereEvents = {
  readonly total: number;
  /** By level. */
  readonly levels: Readonly<Record<string, number>>;
  readonly events: readonly TopicEvent[];
};

export type HandlerAction = {
  readonly kind: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
};

export type Handler = {
  readonly id: string;
  readonly actions?: readonly HandlerAction[] | undefined;
  readonly kind?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly match?: string | undefined;
  /** Reasons why it cannot deliver anything now, if the request asked for them. */
  readonly warnings?: readonly HandlerWarning[] | undefined;
};

/** Why a handler delivers nothing as the configuration is, with what to do. */
export type HandlerWarning = { readonly message: string; readonly hint: string };

/** An undeliverable event. `handler` is the id within the topic. */
export type DeadLetter = {
  readonly id: string;
  readonly topic: string;
  readonly handler: string;
  readonly event: string;
  readonly level: string;
  readonly message: string;
  readonly reason: string;
  readonly time: string;
};

/** Selects dead letters. */
export type DeadLetterChoice = {
  readonly ids?: readonly string[] | undefined;
  readonly topic?: string | undefined;
  readonly handler?: string | undefined;
  /** All of them; excludes the other members. */
  readonly all?: true | undefined;
};

export type ServiceTest = {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
};
export type ServiceTestResult = { readonly success: boolean; readonly message: string };

export type ListOptions = {
  readonly pattern?: string | undefined;
  readonly fields?: readonly string[] | undefined;
};

/** A task to try out, with its input. */
export type TryOut = {
  readonly task: TaskChange;
  readonly source:
    | { readonly recording: string }
    | { readonly start: string; readonly stop: string }
    | { readonly points: string; readonly precision: string };
  /** How far the clock continues after the last input, such as `10m`. */
  readonly 'goes-on'?: string | undefined;
};

/** An instance of a cluster of engines. */
export type ClusterMember = {
  readonly id: string;
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly state: 'alive' | 'draining' | 'gone';
  readonly leader: boolean;
  /** Tasks that it runs, counting parts of split tasks. */
  readonly tasks: number;
  /** How many of these are parts. */
  readonly parts: number;
  /** Points that they recently received. */
  readonly 'points-per-second': number;
  /** Memory of their state. */
  readonly 'held-bytes': number;
  /** Memory of its process. */
  readonly 'memory-bytes': number;
  /** Records of the shared log that its copy lacks. */
  readonly 'copy-lag': number;
  /** Writes that the slowest of its tasks has not received. */
  readonly 'task-lag': number;
  /** Why it cannot lead, for example because it is too old. */
  readonly problem?: string | undefined;
};

/** A running task of a cluster of engines, or a part of a split one. */
export type ClusterTask = {
  readonly id: string;
  /** Number of the part and of all parts, from 1. */
  readonly part?: number | undefined;
  readonly parts?: number | undefined;
  /** Id of the instance that runs it. */
  readonly instance: string;
  /** Writes that it has not received. */
  readonly lag: number;
};

/** An event that changed its level. */
export type LevelChange = {
  readonly topic: string;
  readonly id: string;
  readonly level: string;
  readonly previous: string;
  readonly time: string;
  readonly duration: string;
  /** Where the event came from; changes that earlier versions stored do not have it. */
  readonly task?: string | undefined;
  readonly measurement?: string | undefined;
  /** The tags of the event's group. */
  readonly group?: Readonly<Record<string, string>> | undefined;
};

/** A group of an alert node, with its present level. */
export type AlertGroup = {
  /** Its id: `tag=value`, several joined by commas; empty for data without groups. */
  readonly group: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly level: string;
  /** When it left OK; absent while it is OK. */
  readonly since?: string | undefined;
  readonly 'last-event'?: string | undefined;
  /** Id and message of that event, if they are known. */
  readonly event?: string | undefined;
  readonly message?: string | undefined;
  readonly flapping: boolean;
};

/** Counters of a topic's handler, and its last delivery. */
export type HandlerState = {
  readonly delivered: number;
  readonly repeated: number;
  readonly failed: number;
  readonly refused: number;
  readonly waiting: number;
  readonly lastError?: string | undefined;
  readonly recent: readonly {
    readonly event: string;
    readonly level: string;
    readonly time: string;
    readonly outcome: 'delivered' | 'stopped' | 'repeated' | 'failed';
    readonly reason: string;
  }[];
};

/** An event for testing a handler. */
export type TestEvent = {
  readonly id?: string | undefined;
  readonly level?: string | undefined;
  readonly message?: string | undefined;
  readonly details?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
};

/** The result of one action of a handler. */
export type TriedAction = {
  readonly kind: string;
  readonly success: boolean;
  readonly message: string;
};

/** An option of the configuration. */
export type ConfigOption = {
  readonly type: string;
  readonly doc: string;
  readonly allowed?: readonly string[] | undefined;
  readonly default: unknown;
  readonly isSecret: boolean;
};

export type ConfigElement = {
  /** '' in a section that is no list. */
  readonly element: string;
  /** For secrets only whether they are set. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly redacted: readonly string[];
  /** Whether clients have added it. */
  readonly isAdded: boolean;
  /** Options that clients have set. */
  readonly overridden: readonly string[];
};

/** A section of the configuration that clients may change. */
export type ConfigSection = {
  readonly elements: readonly ConfigElement[];
  readonly description: {
    readonly doc: string;
    /** The option that names the elements; '' in a section that is no list. */
    readonly elementKey: string;
    readonly options: Readonly<Record<string, ConfigOption>>;
  };
};

export type ConfigChange = {
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  readonly delete?: readonly string[] | undefined;
  readonly add?: Readonly<Record<string, unknown>> | undefined;
  readonly remove?: readonly string[] | undefined;
};
