// The definition of a node: edges, options with types, rules and effects. It is the only
// description of a node: validation, completion, the JSON form, reference pages and the options
// that the runtime reads come from it.
import { assert } from '@tidemark/core';
import type { EdgeType, HandlerSpec, NodeSpec, SpecValue } from '../pipeline.ts';
import { Arguments, sampleValue } from '../evaluate/parameter.ts';
import type { Parameter } from '../evaluate/parameter.ts';
import type { Value } from '../evaluate/value.ts';
import type { UdfInfo } from '../udf.ts';
import { NO_EFFECTS } from './effects.ts';
import type { NodeEffects } from './effects.ts';
import type { NodeDiagnostic } from './node-diagnostic.ts';
import type { Option, OptionsOf, OptionTable, Property } from './option.ts';
import type { NodeSplit, SplitRule } from './split.ts';

export type NodeCategory =
  | 'source'
  | 'transformation'
  | 'function'
  | 'combination'
  | 'output'
  | 'internal';

/** The context of a rule that needs more than the node's own options. */
type ValidationContext = { readonly parentCount: number };

/** The context of a task's start. */
export type StartContext = {
  readonly dbrps: readonly { readonly database: string; readonly retentionPolicy: string }[];
};

/** Where a chain may contain the method of a node. */
export type ChainRule = {
  /**
   * Types of nodes that it may follow; by default any but the sources of tasks, empty for nodes
   * without a method.
   */
  readonly follows?: readonly string[] | undefined;
  /** Hints for wrong predecessors, by their type. */
  readonly hintsBelow?: Readonly<Record<string, string>> | undefined;
};

/** The common members of a definition and its row. */
type NodeBasics = ChainRule & {
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
  /** An edge on which the node is refused, with the recorded text. */
  readonly refuses?:
    | { readonly edge: EdgeType; readonly text: string; readonly hint: string }
    | undefined;
  /** Tasks of this kind begin with the node, and have its name. */
  readonly isRoot?: true | undefined;
  /** Parameter for further parents besides the chain's. */
  readonly parents?: Parameter | undefined;
  /** Its last value is a node that is not a parent: the one that it counts. */
  readonly isCounting?: true | undefined;
  /** Created with another node; scripts cannot write it. */
  readonly isImplied?: true | undefined;
  /** Creates the row of a configured function. */
  readonly forFunction?: ((name: string, info: UdfInfo) => NodeRow) | undefined;
};

export type NodeDefinition<Table extends OptionTable> = NodeBasics & {
  readonly options: Table;
  /** Checked when the script is defined. */
  readonly validate?: (
    options: OptionsOf<Table>,
    context: ValidationContext,
  ) => NodeDiagnostic | undefined;
  /** Checked when the task starts; existing tools see the first one. */
  readonly checkStart?: (
    options: OptionsOf<Table>,
    context: StartContext,
  ) => readonly NodeDiagnostic[];
  readonly effects?: (options: OptionsOf<Table>) => NodeEffects;
  /** Which points must stay together when its task is split. */
  readonly split: SplitRule<OptionsOf<Table>>;
};

/** Options being set by a script; hides their type. */
export interface OptionsDraft {
  /** Calls a property. The values have been checked against its parameters. */
  apply(property: string, values: readonly Value[]): void;
  read(property: string): SpecValue | undefined;
  validate(context: ValidationContext): NodeDiagnostic | undefined;
  checkStart(context: StartContext): readonly NodeDiagnostic[];
  addHandlers(handlers: readonly HandlerSpec[]): void;
  /** The current options. */
  options(): unknown;
}

export type PropertyRow = Pick<Property<unknown>, 'name' | 'summary' | 'style' | 'parameters'> & {
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

/** Recognises specs of one type of node, whose options have one type. */
export type NodeKind<Options> = {
  readonly type: string;
  readonly isOf: (spec: NodeSpec) => spec is NodeSpec<Options>;
};

/** A definition in use; its `Options` are known to modules that import the node's own row. */
export type NodeRow<Options = unknown> = NodeBasics &
  NodeKind<Options> & {
    readonly parameters: readonly Parameter[];
    readonly properties: readonly PropertyRow[];
    readonly hasHandlers: boolean;
    readonly draft: (values: readonly Value[]) => OptionsDraft;
    readonly effectsOf: (spec: NodeSpec) => NodeEffects;
    readonly splitOf: (spec: NodeSpec) => NodeSplit;
  };

/** The type of a row's options. */
export type OptionsOfNode<Row> = Row extends NodeRow<infer Options> ? Options : never;

/** Creates the row of a node. */
export function defineNode<const Table extends OptionTable>(
  definition: NodeDefinition<Table>,
): NodeRow<OptionsOf<Table>> {
  const { options, validate: _, checkStart: __, effects, split, ...basics } = definition;
  const rows = Object.values(options);
  const own = rows.map((option) => option.parameter).filter((each) => each !== undefined);
  const parameters = basics.parents === undefined ? own : [...own, basics.parents];
  const draft = (values: readonly Value[]) => new TypedDraft(definition, values);
  const sample = draft(own.map((each) => sampleValue(each.type)));
  const isOf = (spec: NodeSpec): spec is NodeSpec<OptionsOf<Table>> => spec.type === basics.type;
  return {
    ...basics,
    parameters,
    properties: rows.flatMap((option) =>
      (option.properties ?? []).map(({ name, summary, style, parameters: list }) => ({
        name,
        summary,
        style,
        parameters: list,
        defaultValue: sample.read(name),
      })),
    ),
    hasHandlers: rows.some((option) => option.isHandlers === true),
    draft,
    isOf,
    effectsOf: (spec) => (isOf(spec) ? effects?.(spec.options) : undefined) ?? NO_EFFECTS,
    splitOf: (spec) => {
      assert(isOf(spec), 'a row is asked about its own nodes');
      return typeof split === 'function' ? split(spec.options, spec.wants) : split;
    },
  };
}

class TypedDraft<Table extends OptionTable> implements OptionsDraft {
  readonly #definition: NodeDefinition<Table>;
  #deferred: { readonly problem: NodeDiagnostic; readonly subject: string | undefined }[] = [];
  #options: OptionsOf<Table>;

  constructor(definition: NodeDefinition<Table>, values: readonly Value[]) {
    this.#definition = definition;
    this.#options = this.#create(this.#arguments(values));
  }

  #create(values: Arguments): OptionsOf<Table> {
    let index = 0;
    const entries = Object.entries(this.#definition.options).map(([key, option]) => {
      const place = option.parameter === undefined ? -1 : index++;
      return [key, option.from === undefined ? option.initial : option.from(values, place)];
    });
    // Each key has the type of its row: the only place where a table becomes options.
    return Object.fromEntries(entries) as OptionsOf<Table>;
  }

  apply(property: string, values: readonly Value[]): void {
    const { key, found } = this.#find(property);
    if (found === undefined) throw new TypeError(`no property ${property}`);
    const next = found.apply(this.#options[key], this.#arguments(values, property));
    this.#options = { ...this.#options, [key]: next };
  }

  read(property: string): SpecValue | undefined {
    const { key, found } = this.#find(property);
    return found?.read?.(this.#options[key]);
  }

  validate(context: ValidationContext): NodeDiagnostic | undefined {
    return this.#deferred[0]?.problem ?? this.#definition.validate?.(this.#options, context);
  }

  checkStart(context: StartContext): readonly NodeDiagnostic[] {
    return this.#definition.checkStart?.(this.#options, context) ?? [];
  }

  addHandlers(handlers: readonly HandlerSpec[]): void {
    for (const [key, { isHandlers }] of this.#rows()) {
      if (isHandlers === true) this.#options = { ...this.#options, [key]: handlers };
    }
  }

  options(): unknown {
    return this.#options;
  }

  #rows(): readonly (readonly [key: string, row: Option<unknown>])[] {
    return Object.entries(this.#definition.options);
  }

  #find(property: string): { key: string; found: Property<unknown> | undefined } {
    for (const [key, { properties = [] }] of this.#rows()) {
      const found = properties.find((each) => each.name === property);
      if (found !== undefined) return { key, found };
    }
    return { key: '', found: undefined };
  }

  #arguments(values: readonly Value[], property?: string): Arguments {
    const properties = property === undefined ? [] : [property];
    return new Arguments(
      values,
      (text, details, subject) => {
        this.#deferred.push({ problem: { text, properties, ...details }, subject });
      },
      (subject) => {
        this.#deferred = this.#deferred.filter((each) => each.subject !== subject);
      },
    );
  }
}
