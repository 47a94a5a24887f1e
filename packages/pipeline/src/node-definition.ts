// How a node describes itself: edges, parameters, properties with types, defaults and rules. One
// row per node; from it come validation, completion, the reference page and the options that the
// runtime reads.
import type { EdgeType, HandlerSpec, LambdaSpec, SpecValue } from './pipeline.ts';
import type { NodeProblem } from './node-problem.ts';
import { Arguments, parameter, sampleValue } from './evaluate/parameter.ts';
import type { Parameter } from './evaluate/parameter.ts';
import type { Value } from './evaluate/value.ts';

/**
 * `value`: exactly one value is assigned. `call`: takes the parameters as listed. The two differ in
 * their recorded error texts and in that a value can be read (`node.measurement`).
 */
export type PropertyDefinition<Options> = {
  readonly name: string;
  readonly summary: string;
  readonly style: 'value' | 'call';
  readonly parameters: readonly Parameter[];
  readonly apply: (options: Options, values: Arguments) => Options;
  readonly read?: ((options: Options) => SpecValue | undefined) | undefined;
};

export type NodeCategory =
  | 'source'
  | 'transformation'
  | 'function'
  | 'combination'
  | 'output'
  | 'internal';

/** What a rule that needs more than the node's own options may look at. */
type ValidationContext = { readonly parentCount: number };

/** What is known when a task starts. */
export type StartContext = {
  readonly dbrps: readonly { readonly database: string; readonly retentionPolicy: string }[];
};

export type NodeDefinition<Options> = {
  /** Name of the method that makes the node, `httpOut`; also `NodeSpec.type`. */
  readonly type: string;
  /** First part of the name of the node, `http_out`. */
  readonly label: string;
  /** Name of the implementation in recorded error texts. */
  readonly className: string;
  readonly category: NodeCategory;
  readonly summary: string;
  readonly wants: EdgeType | 'any';
  readonly provides: EdgeType | 'same' | 'none';
  /** Refused on this edge, with the recorded text. */
  readonly refuses?:
    | { readonly edge: EdgeType; readonly text: string; readonly hint: string }
    | undefined;
  readonly parameters: readonly Parameter[];
  /** Options of a node whose method was called with these arguments and without properties. */
  readonly create: (values: Arguments) => Options;
  readonly properties: readonly PropertyDefinition<Options>[];
  /** Takes handlers (`.slack()`) as properties. */
  readonly withHandlers?:
    | ((options: Options, handlers: readonly HandlerSpec[]) => Options)
    | undefined;
  /** Checked when the script is defined. */
  readonly validate?:
    | ((options: Options, context: ValidationContext) => NodeProblem | undefined)
    | undefined;
  /** Checked when the task starts; the first is what existing tools see. */
  readonly checkStart?:
    | ((options: Options, context: StartContext) => readonly NodeProblem[])
    | undefined;
};

/** Options that are being set by a script; hides their type. */
export interface OptionsDraft {
  /** Calls a property. The values have been checked against its parameters. */
  apply(property: string, values: readonly Value[]): void;
  read(property: string): SpecValue | undefined;
  validate(context: ValidationContext): NodeProblem | undefined;
  checkStart(context: StartContext): readonly NodeProblem[];
  addHandlers(handlers: readonly HandlerSpec[]): void;
  /** The options as they stand. */
  options(): unknown;
}

export type PropertyRow = Pick<
  PropertyDefinition<unknown>,
  'name' | 'summary' | 'style' | 'parameters'
> & {
  /** Value before any call, where it can be read. */
  readonly defaultValue: SpecValue | undefined;
};

/** The property that every node has. */
export const QUIET: PropertyRow = {
  name: 'quiet',
  summary: 'errors of this node are counted but not logged',
  style: 'call',
  parameters: [],
  defaultValue: undefined,
};

/** A row of the registry: a definition whose options' type is hidden. */
export type NodeRow = Omit<
  NodeDefinition<unknown>,
  'create' | 'properties' | 'validate' | 'checkStart' | 'withHandlers'
> & {
  readonly properties: readonly PropertyRow[];
  readonly hasHandlers: boolean;
  readonly draft: (values: readonly Value[]) => OptionsDraft;
};

/** Makes the registry row of a node. */
export function defineNode<Options>(definition: NodeDefinition<Options>): NodeRow {
  const draft = (values: readonly Value[]) => new TypedDraft(definition, values);
  const sample = draft(definition.parameters.map((each) => sampleValue(each.type)));
  return {
    type: definition.type,
    label: definition.label,
    className: definition.className,
    category: definition.category,
    summary: definition.summary,
    wants: definition.wants,
    provides: definition.provides,
    refuses: definition.refuses,
    parameters: definition.parameters,
    properties: definition.properties.map(({ name, summary, style, parameters }) => ({
      name,
      summary,
      style,
      parameters,
      defaultValue: sample.read(name),
    })),
    hasHandlers: definition.withHandlers !== undefined,
    draft,
  };
}

class TypedDraft<Options> implements OptionsDraft {
  readonly #definition: NodeDefinition<Options>;
  readonly #deferred: NodeProblem[] = [];
  #options: Options;

  constructor(definition: NodeDefinition<Options>, values: readonly Value[]) {
    this.#definition = definition;
    this.#options = definition.create(this.#arguments(values));
  }

  apply(property: string, values: readonly Value[]): void {
    const found = this.#definition.properties.find((each) => each.name === property);
    if (found === undefined) throw new TypeError(`no property ${property}`);
    this.#options = found.apply(this.#options, this.#arguments(values, property));
  }

  read(property: string): SpecValue | undefined {
    const found = this.#definition.properties.find((each) => each.name === property);
    return found?.read?.(this.#options);
  }

  validate(context: ValidationContext): NodeProblem | undefined {
    return this.#deferred[0] ?? this.#definition.validate?.(this.#options, context);
  }

  checkStart(context: StartContext): readonly NodeProblem[] {
    return this.#definition.checkStart?.(this.#options, context) ?? [];
  }

  addHandlers(handlers: readonly HandlerSpec[]): void {
    this.#options = this.#definition.withHandlers?.(this.#options, handlers) ?? this.#options;
  }

  options(): unknown {
    return this.#options;
  }

  #arguments(values: readonly Value[], property?: string): Arguments {
    const properties = property === undefined ? [] : [property];
    return new Arguments(values, (text, details) =>
      this.#deferred.push({ text, properties, ...details }),
    );
  }
}

/** `.name('text')`, kept under `key`. */
export function stringProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'string')],
    apply: <O extends Readonly<Record<K, string>>>(options: O, values: Arguments): O => ({
      ...options,
      [key]: values.string(0),
    }),
    read: (options: Readonly<Record<K, string>>): SpecValue => ({
      kind: 'string',
      value: options[key],
    }),
  } as const;
}

/** `.name(10s)`. */
export function durationProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'duration')],
    apply: <O extends Readonly<Record<K, bigint>>>(options: O, values: Arguments): O => ({
      ...options,
      [key]: values.nanos(0),
    }),
    read: (options: Readonly<Record<K, bigint>>): SpecValue => ({
      kind: 'duration',
      nanos: options[key],
    }),
  } as const;
}

/** `.name(5)`. */
export function integerProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'int')],
    apply: <O extends Readonly<Record<K, bigint>>>(options: O, values: Arguments): O => ({
      ...options,
      [key]: values.integer(0),
    }),
    read: (options: Readonly<Record<K, bigint>>): SpecValue => ({
      kind: 'integer',
      value: options[key],
    }),
  } as const;
}

/** `.name(TRUE)`. */
export function booleanProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'bool')],
    apply: <O extends Readonly<Record<K, boolean>>>(options: O, values: Arguments): O => ({
      ...options,
      [key]: values.boolean(0),
    }),
    read: (options: Readonly<Record<K, boolean>>): SpecValue => ({
      kind: 'boolean',
      value: options[key],
    }),
  } as const;
}

/** `.name(lambda: …)`. */
export function lambdaProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'lambda')],
    apply: <O extends Readonly<Record<K, LambdaSpec | undefined>>>(
      options: O,
      values: Arguments,
    ): O => ({ ...options, [key]: values.lambda(0) }),
    read: (options: Readonly<Record<K, LambdaSpec | undefined>>): SpecValue | undefined =>
      options[key],
  } as const;
}

/** `.name()` without arguments: sets `key` to true. */
export function flagProperty<K extends string>(name: string, key: K, summary: string) {
  return {
    name,
    summary,
    style: 'call',
    parameters: [],
    apply: <O extends Readonly<Record<K, boolean>>>(options: O): O => ({ ...options, [key]: true }),
  } as const;
}

/** A property with parameters of its own. */
export function callProperty<Options>(
  name: string,
  parameters: readonly Parameter[],
  summary: string,
  apply: (options: Options, values: Arguments) => Options,
): PropertyDefinition<Options> {
  return { name, summary, style: 'call', parameters, apply };
}
