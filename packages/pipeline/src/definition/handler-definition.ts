// The definition of a kind of handler: the options of topic handlers with their types, and how
// scripts write them. The file of the same name in `alerting` delivers events, or acts on the chain
// of a handler.
import { formatClockDuration } from '@tidemark/core';
import type { OptionSpec, OptionTable } from '@tidemark/settings/tables';
import { ArgumentFailure } from '../evaluate/failure.ts';
import { scriptTypeName } from '../evaluate/hints.ts';
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments, Parameter, ParameterType } from '../evaluate/parameter.ts';
import type { HandlerOption } from '../pipeline.ts';
import type { NodeDiagnostic } from './node-diagnostic.ts';

export type HandlerOptions = { readonly [name: string]: HandlerOption };

export type HandlerProperty = {
  readonly name: string;
  readonly summary: string;
  readonly style: 'value' | 'call';
  readonly parameters: readonly Parameter[];
  readonly apply: (options: HandlerOptions, values: Arguments) => HandlerOptions;
};

/** A property that does more than set the value of an option. */
type OwnProperty = Partial<Omit<HandlerProperty, 'name'>>;

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
  readonly properties?: Readonly<
    Record<
      string,
      (keyof Table & string) | (OwnProperty & { readonly option: keyof Table & string })
    >
  >;
  /** Checked when the script is defined. */
  readonly validate?: (options: HandlerOptions) => NodeDiagnostic | undefined;
  /** Checked when the task starts. */
  readonly checkStart?: (options: HandlerOptions) => NodeDiagnostic | undefined;
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
  readonly create: (values: Arguments) => HandlerOptions;
  readonly properties: readonly HandlerProperty[];
  readonly validate?: ((options: HandlerOptions) => NodeDiagnostic | undefined) | undefined;
  readonly checkStart?: ((options: HandlerOptions) => NodeDiagnostic | undefined) | undefined;
};

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
  const given = script.arguments ?? [];
  const specOf = (name: string): OptionSpec => {
    const spec = options[name];
    if (spec === undefined) throw new TypeError(`the kind ${kind} has no option ${name}`);
    return spec;
  };
  return {
    name: script.name,
    aliases: script.aliases ?? [],
    kind,
    className: script.className,
    summary: summaryOf(doc),
    parameters: given.map(({ option, name, isOptional }) => {
      const { type, reaches } = specOf(option);
      const isVariadic = type === 'strings' || isOptional === true;
      return { ...parameter(name, 'string'), ...(isVariadic ? { isVariadic } : {}), reaches };
    }),
    create: (values) => {
      const entries = given.flatMap(({ option }, index) => {
        const isList = specOf(option).type === 'strings';
        const value = isList ? values.strings(index) : values.strings(index)[0];
        return value === undefined || (value.length === 0 && isList)
          ? []
          : [[option, value] as const];
      });
      return Object.fromEntries<HandlerOption>(entries);
    },
    properties: Object.entries(script.properties ?? {}).map(([name, target]) => {
      const { option, ...own } = typeof target === 'string' ? { option: target } : target;
      return { ...propertyOf(name, option, specOf(option)), ...own };
    }),
    validate: script.validate,
    checkStart: script.checkStart,
  };
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

function propertyOf(name: string, option: string, { type, doc }: OptionSpec): HandlerProperty {
  const summary = summaryOf(doc);
  const single = SINGLE[type];
  if (single !== undefined) {
    return {
      name,
      summary,
      style: 'value',
      parameters: [parameter(name, single)],
      apply: (options, values) => ({ ...options, [option]: optionOf(values, 0) }),
    };
  }
  return {
    name,
    summary,
    style: 'call',
    ...(type === 'strings'
      ? {
          parameters: [variadic(name, 'string')],
          apply: (options, values) => appended(options, option, values.strings(0)),
        }
      : {
          parameters: [parameter('key', 'string'), parameter('value', 'any')],
          apply: (options, values) => withEntry(options, option, values),
        }),
  };
}

/** `.name()`: sets an option to true. */
export function flag<Name extends string>(option: Name): OwnProperty & { readonly option: Name } {
  return {
    option,
    style: 'call',
    parameters: [],
    apply: (options) => ({ ...options, [option]: true }),
  };
}

/** Adds items to an option that is a list. */
export function appended(
  options: HandlerOptions,
  option: string,
  items: readonly HandlerOption[],
): HandlerOptions {
  const before = options[option];
  return { ...options, [option]: [...(Array.isArray(before) ? before : []), ...items] };
}

/** A property refuses its argument at once, with the position of the call. */
export function callRefusal(text: string): ArgumentFailure {
  return new ArgumentFailure(text);
}

/** `.name('key', 'value')`; each call adds an entry. */
function withEntry(options: HandlerOptions, option: string, values: Arguments): HandlerOptions {
  const before = options[option];
  const entries = isRecord(before) ? before : {};
  return { ...options, [option]: { ...entries, [values.string(0)]: optionOf(values, 1) } };
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
