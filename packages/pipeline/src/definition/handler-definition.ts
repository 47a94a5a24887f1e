// The definition of a kind of handler: the options of topic handlers with their types, and how
// scripts write them. The file of the same name in `alerting` delivers events, or acts on the chain
// of a handler.
import { formatClockDuration } from '@tidemark/core';
import type { OptionSpec, OptionTable } from '@tidemark/settings/tables';
import { ArgumentFailure } from '../evaluate/failure.ts';
import { scriptTypeName } from '../evaluate/hints.ts';
import { Arguments, parameter, variadic } from '../evaluate/parameter.ts';
import type { Parameter, ParameterType } from '../evaluate/parameter.ts';
import type { Value } from '../evaluate/value.ts';
import type { HandlerOption } from '../pipeline.ts';
import type { NodeDiagnostic } from './node-diagnostic.ts';

/** Options as topic handlers have them in JSON; those that a script does not set are absent. */
export type HandlerOptions = { readonly [name: string]: HandlerOption };

/** The value that a script gives an option of each type; durations are texts such as `1m30s`. */
type ScriptValues = {
  string: string;
  boolean: boolean;
  integer: number;
  float: number;
  duration: string;
  size: number;
  strings: readonly string[];
  'string-map': Readonly<Record<string, string>>;
  json: HandlerOption;
};

type ScriptValue<Spec extends OptionSpec> = ScriptValues[Spec['type']];

/** The options of a table that a script has set. */
type ScriptOptions<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: ScriptValue<Table[Name]>;
};

/** A property of a handler as scripts and tools see it. */
export type HandlerProperty = {
  readonly name: string;
  readonly summary: string;
  readonly style: 'value' | 'call';
  readonly parameters: readonly Parameter[];
};

/** What a property does to its option. */
type Setter<T> = { readonly apply: (before: T | undefined, values: Arguments) => T };

/** A property that does more than set the value of an option. */
type OwnProperty<T> = Partial<Omit<HandlerProperty, 'name'> & Setter<T>>;

/** A property whose specifics have the type of its option. */
type PropertyOf<Table extends OptionTable> = {
  [Name in keyof Table & string]: OwnProperty<ScriptValue<Table[Name]>> & { readonly option: Name };
}[keyof Table & string];

/** The form of a kind in scripts. */
export type ScriptForm<Table extends OptionTable> = {
  /** `slack`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Name of the implementation in recorded error texts. */
  readonly className: string;
  /** Options set by the call's arguments, in order. */
  readonly arguments?: readonly {
    readonly option: keyof Table & string;
    readonly name: string;
    readonly isOptional?: true;
  }[];
  /** Properties with the options that they set, and their specifics. */
  readonly properties?: Readonly<Record<string, (keyof Table & string) | PropertyOf<Table>>>;
  /** Checked when the script is defined. */
  readonly validate?: (options: ScriptOptions<Table>) => NodeDiagnostic | undefined;
  /** Checked when the task starts. */
  readonly checkStart?: (options: ScriptOptions<Table>) => NodeDiagnostic | undefined;
};

export type HandlerDefinition<Table extends OptionTable = OptionTable> = {
  /** The kind of topic handlers, such as `chat`. */
  readonly kind: string;
  readonly aliases?: readonly string[];
  /** One sentence. */
  readonly doc: string;
  readonly options: Table;
  /** The form in scripts; absent for kinds that only topic handlers have. */
  readonly script?: HandlerRow | undefined;
};

/** A kind as scripts see it. */
export type HandlerRow = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: string;
  readonly className: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly properties: readonly HandlerProperty[];
  /** The handler that a script creates with these values, which have been checked. */
  readonly draft: (values: readonly Value[]) => HandlerDraft;
};

/** Options of a handler being set by a script; hides their type. */
export interface HandlerDraft {
  /** Calls a property. The values have been checked against its parameters. */
  apply(property: string, values: readonly Value[]): void;
  validate(): NodeDiagnostic | undefined;
  checkStart(): NodeDiagnostic | undefined;
  /** The current options. */
  options(): HandlerOptions;
}

/** Creates the definition of a kind. */
export function defineHandler<const Table extends OptionTable>({
  script,
  ...definition
}: Omit<HandlerDefinition<Table>, 'script'> & {
  readonly script?: ScriptForm<Table>;
}): HandlerDefinition<Table> {
  return script === undefined ? definition : { ...definition, script: rowOf(definition, script) };
}

function rowOf<Table extends OptionTable>(
  { kind, doc, options }: Omit<HandlerDefinition<Table>, 'script'>,
  script: ScriptForm<Table>,
): HandlerRow {
  const specOf = (name: string): OptionSpec => {
    const spec = options[name];
    if (spec === undefined) throw new TypeError(`the kind ${kind} has no option ${name}`);
    return spec;
  };
  const given = (script.arguments ?? []).map((argument) => ({
    ...argument,
    spec: specOf(argument.option),
  }));
  const properties = Object.entries(script.properties ?? {}).map(([name, target]) => {
    const { option, ...own } = typeof target === 'string' ? { option: target } : target;
    // The types of `PropertyOf` say that what is its own fits its option.
    return { option, ...propertyOf(name, specOf(option)), ...own } as DraftProperty;
  });
  return {
    name: script.name,
    aliases: script.aliases ?? [],
    kind,
    className: script.className,
    summary: summaryOf(doc),
    parameters: given.map(({ name, isOptional, spec: { type, reaches } }) => {
      const isVariadic = type === 'strings' || isOptional === true;
      return { ...parameter(name, 'string'), ...(isVariadic ? { isVariadic } : {}), reaches };
    }),
    properties: properties.map(({ name, summary, style, parameters }) => ({
      name,
      summary,
      style,
      parameters,
    })),
    draft: (values) => {
      const texts = new Arguments(values, () => undefined);
      const entries = given.flatMap(({ option, spec }, index) => {
        const items = texts.strings(index);
        const value = spec.type === 'strings' ? items : items[0];
        return items.length === 0 || value === undefined ? [] : [[option, value] as const];
      });
      return new TypedDraft(script, properties, Object.fromEntries(entries));
    },
  };
}

/** A property with the option that it sets. */
type DraftProperty = HandlerProperty & Setter<HandlerOption> & { readonly option: string };

class TypedDraft<Table extends OptionTable> implements HandlerDraft {
  readonly #script: ScriptForm<Table>;
  readonly #properties: readonly DraftProperty[];
  readonly #deferred: NodeDiagnostic[] = [];
  #options: HandlerOptions;

  constructor(
    script: ScriptForm<Table>,
    properties: readonly DraftProperty[],
    options: HandlerOptions,
  ) {
    this.#script = script;
    this.#properties = properties;
    this.#options = options;
  }

  apply(property: string, values: readonly Value[]): void {
    const found = this.#properties.find(({ name }) => name === property);
    if (found === undefined) throw new TypeError(`no property ${property}`);
    const given = new Arguments(values, (text, details) => {
      this.#deferred.push({ text, properties: [property], ...details });
    });
    const { option, apply } = found;
    this.#options = { ...this.#options, [option]: apply(this.#options[option], given) };
  }

  validate(): NodeDiagnostic | undefined {
    return this.#deferred[0] ?? this.#script.validate?.(this.#typed());
  }

  checkStart(): NodeDiagnostic | undefined {
    return this.#script.checkStart?.(this.#typed());
  }

  options(): HandlerOptions {
    return this.#options;
  }

  // Each name has the type of its row: the only place where a script's options get their types.
  #typed(): ScriptOptions<Table> {
    return this.#options as ScriptOptions<Table>;
  }
}

/** The documentation as reference pages and completion show it: part of a sentence. */
function summaryOf(doc: string): string {
  const text = doc.replace(/\.$/, '');
  return /^[A-Z][^A-Z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

const SINGLE: Partial<Record<OptionSpec['type'], ParameterType>> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int',
  float: 'float',
  duration: 'duration',
};

/** The property that sets an option according to its type. */
function propertyOf(
  name: string,
  { type, doc }: OptionSpec,
): HandlerProperty & Setter<HandlerOption> {
  const summary = summaryOf(doc);
  const single = SINGLE[type];
  if (single !== undefined) {
    const parameters = [parameter(name, single)];
    return { name, summary, style: 'value', parameters, apply: (_, values) => optionOf(values, 0) };
  }
  if (type === 'strings') {
    const parameters = [variadic(name, 'string')];
    return {
      name,
      summary,
      style: 'call',
      parameters,
      apply: (before, values) => appended(before, ...values.strings(0)),
    };
  }
  return {
    name,
    summary,
    style: 'call',
    parameters: [parameter('key', 'string'), parameter('value', 'any')],
    apply: (before, values) => ({
      ...(isRecord(before) ? before : {}),
      [values.string(0)]: optionOf(values, 1),
    }),
  };
}

/** `.name()`: sets an option to true. */
export function flag<Name extends string>(
  option: Name,
): OwnProperty<boolean> & { readonly option: Name } {
  return { option, style: 'call', parameters: [], apply: () => true };
}

/** The items of an option that is a list, and more. */
export function appended(
  before: HandlerOption | undefined,
  ...items: readonly HandlerOption[]
): readonly HandlerOption[] {
  return [...(Array.isArray(before) ? before : []), ...items];
}

/** A property refuses its argument at once, with the position of the call. */
export function callRefusal(text: string): ArgumentFailure {
  return new ArgumentFailure(text);
}

function isRecord(option: HandlerOption | undefined): option is HandlerOptions {
  return typeof option === 'object' && !Array.isArray(option);
}

/** A value in the JSON form of topic handlers; durations are texts such as `1m30s`. */
function optionOf(values: Arguments, index: number): HandlerOption {
  const value = values.values[index];
  switch (value?.kind) {
    case 'string':
    case 'boolean':
    case 'float':
      return value.value;
    case 'integer':
      // Modes, qualities of service and transaction ids are small.
      return Number(value.value);
    case 'duration':
      return formatClockDuration(value.nanos);
    default:
      values.refuseLater(`unsupported value for handler option ${values.string(0)}`, {
        found: value === undefined ? 'nothing' : scriptTypeName(value),
        expected: ['string', 'bool', 'int', 'float', 'duration'],
      });
      return '';
  }
}
