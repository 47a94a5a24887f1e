// What a kind of handler adds to its definition; one file per kind under handlers/.
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

/** What a service test sends: its options with defaults, and the act. */
export type ServiceTestSpec<Table extends OptionTable = OptionTable> = {
  readonly name: string;
  readonly options: Table;
  /** Options whose default is what the service's section has under the same name. */
  readonly configured?: readonly string[];
  run(options: OptionsOf<Table>, context: HandlerContext): Promise<void>;
};

/** A service test with the options that its own table describes. */
export function defineTest<const Table extends OptionTable>(
  test: ServiceTestSpec<Table> & { readonly configured?: readonly (keyof Table)[] },
): ServiceTestSpec<Table> {
  return test;
}

/** Data that templates of handler options see. */
export type TemplateScope = Readonly<Record<string, unknown>>;

/** The world of handlers. Implemented by the engine; tests pass their own. */
export type HandlerContext = {
  /** Options of a section's element, secrets resolved. */
  readonly section: Sections['section'];
  readonly http: HttpSender;
  readonly clock: Clock;
  /** Renders a text template. Throws when the template or its execution fails. */
  render(template: string, scope: TemplateScope): string;
  /** What is wrong with the syntax of a template; `name` appears in the text. */
  checkTemplate(name: string, template: string): string | undefined;
  /**
   * The secret that a text stands for: itself, or what `env:NAME` or `file:/path` refers to. Throws
   * `InvalidRequest` when there is none or it may not be used.
   */
  resolveSecret(text: string): string;
  /** Publishes into another topic. */
  publish(topic: string, event: TopicEvent): void;
  /** Why a program or file may not be used; `undefined` when it may. */
  readonly access: AccessPolicy;
  readonly server: { readonly hostname: string; readonly url: string; readonly product: string };
  /** Aborted when the handler is stopped or took too long. */
  readonly signal: AbortSignal;
  /** Connections that are kept between events, by a key that names all that they depend on. */
  readonly connections: ConnectionCache;
};

export type Closable = { close(): Promise<void> | void };

/** Keeps one thing per key, made on first use, closed after the idle time or at the end. */
export interface ConnectionCache {
  use<T extends Closable>(key: string, idleMs: number, open: () => Promise<T>): Promise<T>;
  /** Forgets and closes what failed. */
  discard(key: string): Promise<void>;
}

/** What a kind has besides its definition, whether it delivers or not. */
type HandlerParts<Table extends OptionTable> = {
  /**
   * Section of the configuration; the kind is usable only while the section's `enabled` is true, if
   * it has one.
   */
  readonly section?: SectionSpec | undefined;
  /**
   * The option that names an element of the section; the only or the default one is meant where it
   * is empty.
   */
  readonly element?: (keyof Table & string) | undefined;
  /** Why these options cannot be used; checked when the handler is defined. */
  validate?(options: OptionsOf<Table>, context: HandlerContext): string | undefined;
  readonly tests?: readonly ServiceTestSpec[];
};

/** Tells the outside. */
type Sending<Table extends OptionTable> = {
  /**
   * Delivers one event. Rejects with `Unavailable` when repeating it later may work, with anything
   * else when not.
   */
  send(event: TopicEvent, options: OptionsOf<Table>, context: HandlerContext): Promise<void>;
};

/** Where in a chain a step stands, and what it may use. */
export type StepPlace = {
  readonly index: number;
  readonly delivery: Delivery;
  readonly context: Omit<HandlerContext, 'signal'>;
};

/** Acts on the chain of a handler instead of on the outside. */
type Stepping<Table extends OptionTable> = {
  makeStep(options: OptionsOf<Table>, place: StepPlace): ChainStep;
};

/** A definition at work. */
export type HandlerKind<Table extends OptionTable = OptionTable> = HandlerDefinition<Table> &
  HandlerParts<Table> &
  (Sending<Table> | Stepping<Table>);

/** Joins a definition and what delivers its events. */
export function deliver<const Table extends OptionTable>(
  definition: HandlerDefinition<Table>,
  parts: HandlerParts<Table> & Sending<Table>,
): HandlerDefinition<Table> & HandlerParts<Table> & Sending<Table> {
  return { ...definition, ...parts };
}

/** Joins a definition and the step of a chain that it is. */
export function act<const Table extends OptionTable>(
  definition: HandlerDefinition<Table>,
  parts: HandlerParts<Table> & Stepping<Table>,
): HandlerDefinition<Table> & HandlerParts<Table> & Stepping<Table> {
  return { ...definition, ...parts };
}

/** The names that templates of handler options know. */
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
