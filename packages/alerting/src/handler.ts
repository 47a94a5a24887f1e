// The part of a kind of handler besides its definition; one file per kind under handlers/.
import type { Clock } from '@tidemark/core';
import type { HandlerDefinition } from '@tidemark/pipeline';
import { TemplateDuration, TemplateTime } from '@tidemark/runtime';
import type {
  AccessPolicy,
  HttpSender,
  OptionTable,
  OptionsOf,
  SectionSpec,
  Sections,
} from '@tidemark/settings';
import type { ChainStep, Delivery } from './delivery.ts';
import type { TopicEvent } from './event.ts';

/** A service test: its options with defaults, and the function that sends. */
export type ServiceTestSpec<Table extends OptionTable = OptionTable> = {
  readonly name: string;
  readonly options: Table;
  /** Options with the default of the same name in the service's section. */
  readonly configured?: readonly string[];
  run(options: OptionsOf<Table>, context: HandlerContext): Promise<void>;
};

/** A service test with the options that its own table describes. */
export function defineTest<const Table extends OptionTable>(
  test: ServiceTestSpec<Table> & { readonly configured?: readonly (keyof Table)[] },
): ServiceTestSpec<Table> {
  return test;
}

/** Data of templates in handler options. */
export type TemplateScope = Readonly<Record<string, unknown>>;

/** The environment of handlers. Implemented by the engine; tests pass their own. */
export type HandlerContext = {
  /** Options of a section's element, secrets resolved. */
  readonly section: Sections['section'];
  readonly http: HttpSender;
  readonly clock: Clock;
  /** Renders a text template. Throws when the template or its execution fails. */
  render(template: string, scope: TemplateScope): string;
  /** The syntax error of a template; `name` appears in the text. */
  checkTemplate(name: string, template: string): string | undefined;
  /**
   * The value of a secret: the text itself, or what `env:NAME` or `file:/path` refers to. Throws
   * `InvalidRequest` when there is none or it is not permitted.
   */
  resolveSecret(text: string): string;
  /** Publishes into another topic. */
  publish(topic: string, event: TopicEvent): void;
  /** Why a program or file is not permitted; `undefined` when it is. */
  readonly access: AccessPolicy;
  readonly server: { readonly hostname: string; readonly url: string; readonly product: string };
  /** Aborted when the handler is stopped or took too long. */
  readonly signal: AbortSignal;
  /** Connections kept between events, by a key of everything that they depend on. */
  readonly connections: ConnectionCache;
};

export type Closable = { close(): Promise<void> | void };

/** Keeps one object per key, created on first use, closed after the idle time or at the end. */
export interface ConnectionCache {
  use<T extends Closable>(key: string, idleMs: number, open: () => Promise<T>): Promise<T>;
  /** Removes and closes a failed one. */
  discard(key: string): Promise<void>;
}

/** The parts of a kind besides its definition, whether it delivers or not. */
type HandlerParts<Table extends OptionTable> = {
  /**
   * Section of the configuration; the kind is usable only while the section's `enabled` is true, if
   * it has one.
   */
  readonly section?: SectionSpec | undefined;
  /** The option that selects an element of the section; the only or default one if it is empty. */
  readonly element?: (keyof Table & string) | undefined;
  /** Why these options cannot be used; checked when the handler is defined. */
  validate?(options: OptionsOf<Table>, context: HandlerContext): string | undefined;
  readonly tests?: readonly ServiceTestSpec[];
};

/** A kind that sends events to other systems. */
type Sending<Table extends OptionTable> = {
  /**
   * Delivers one event. Rejects with `Unavailable` when a later retry may work, with other errors
   * when not.
   */
  send(event: TopicEvent, options: OptionsOf<Table>, context: HandlerContext): Promise<void>;
};

/** The position of a step in a chain, and its context. */
export type StepPosition = {
  readonly index: number;
  readonly delivery: Delivery;
  readonly context: Omit<HandlerContext, 'signal'>;
};

/** A kind that acts on the chain of a handler instead. */
type Stepping<Table extends OptionTable> = {
  makeStep(options: OptionsOf<Table>, position: StepPosition): ChainStep;
};

/** A definition with its implementation. */
export type HandlerKind<Table extends OptionTable = OptionTable> = HandlerDefinition<Table> &
  HandlerParts<Table> &
  (Sending<Table> | Stepping<Table>);

/** Joins a definition and the function that delivers its events. */
export function deliver<const Table extends OptionTable>(
  definition: HandlerDefinition<Table>,
  parts: HandlerParts<Table> & Sending<Table>,
): HandlerDefinition<Table> & HandlerParts<Table> & Sending<Table> {
  return { ...definition, ...parts };
}

/** Joins a definition and its step in a chain. */
export function act<const Table extends OptionTable>(
  definition: HandlerDefinition<Table>,
  parts: HandlerParts<Table> & Stepping<Table>,
): HandlerDefinition<Table> & HandlerParts<Table> & Stepping<Table> {
  return { ...definition, ...parts };
}

/** The names in templates of handler options. */
export function templateScope(event: TopicEvent): TemplateScope {
  const { context } = event;
  return {
    ID: event.id,
    Message: event.message,
    Details: event.details,
    Level: event.level,
    Time: new TemplateTime(event.time),
    Duration: new TemplateDuration(event.durationNanos),
    Name: context.name,
    TaskName: context.taskName,
    Group: context.group,
    Category: context.category,
    Tags: context.tags,
    Fields: context.fields,
  };
}
