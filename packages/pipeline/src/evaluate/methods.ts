// The names after `|`, `.` and `@`: new nodes, properties, handlers, user-defined functions. Error
// messages are those that existing tools know.
import type { Span } from '@tidemark/core';
import { findHandler, HANDLERS } from '../definition/handler-registry.ts';
import { MAX_CALLS_PER_NODE } from '../limits.ts';
import { QUIET } from '../definition/node-definition.ts';
import type { PropertyRow } from '../definition/node-definition.ts';
import { findMacro, findNode } from '../definition/registry.ts';
import { udfRow } from '../nodes/udf.ts';
import type { UdfRegistry } from '../udf.ts';
import { chainMethodsOf } from './chain-methods.ts';
import type { DraftHandler, DraftNode } from './draft.ts';
import { ArgumentFailure, EvaluationFailure } from './failure.ts';
import type { FailureDetails } from './failure.ts';
import type { DeadmanConfig } from './deadman-config.ts';
import type { Graph } from './graph.ts';
import { didYouMean, typePhrase, usage } from './hints.ts';
import { Arguments, checkAssignment, checkCall, quoteMistake } from './parameter.ts';
import type { Parameter } from './parameter.ts';
import { specValueOf } from './value.ts';
import type { Value } from './value.ts';

export type Operator = '|' | '.' | '@';

/** A call on a node or on one of its handlers. */
export type MethodCall = {
  readonly operator: Operator;
  readonly name: string;
  readonly values: readonly Value[];
  readonly span: Span;
};

type Target = { readonly node: DraftNode; readonly handler?: DraftHandler | undefined };

/** Calls methods on the nodes of one graph. */
export class Methods {
  readonly #graph: Graph;
  readonly #udfs: UdfRegistry;
  readonly #deadman: DeadmanConfig;

  constructor(graph: Graph, udfs: UdfRegistry, deadman: DeadmanConfig) {
    this.#graph = graph;
    this.#udfs = udfs;
    this.#deadman = deadman;
  }

  /** The value of the chain after this call. Throws `EvaluationFailure`. */
  call(target: Target, call: MethodCall): Value {
    try {
      return this.#dispatch(target, call);
    } catch (error) {
      if (!(error instanceof ArgumentFailure)) throw error;
      const type = classOf(target);
      const text = `error calling func "${call.name}" on obj ${type}: ${error.message}`;
      throw refused('TICK_WRONG_ARGUMENTS', text, call, error.details);
    }
  }

  /** `node.name` without parentheses. */
  read(target: Target, name: string, span: Span): Value {
    const row = target.node.row.properties.find((each) => isSameName(each.name, name));
    const value = row === undefined ? undefined : target.node.options.read(row.name);
    if (value !== undefined) return value;
    const text = `object ${classOf(target)} has no property ${name}`;
    const hint = row === undefined ? undefined : usage({ operator: '.', name }, row.parameters);
    throw new EvaluationFailure('TICK_UNKNOWN_PROPERTY', text, { span, isPositioned: true, hint });
  }

  #dispatch(target: Target, call: MethodCall): Value {
    const { node } = target;
    if (node.properties.length + node.handlers.length >= MAX_CALLS_PER_NODE.value) {
      const text = `too many properties on one node: it may have ${MAX_CALLS_PER_NODE.value}`;
      throw refused('TICK_TOO_LARGE', text, call);
    }
    const handlerProperty = target.handler?.row.properties.find((each) =>
      isSameName(each.name, call.name),
    );
    const property = this.#property(node, call.name);
    const handler = node.row.hasHandlers ? handlerNamed(call.name) : undefined;
    const chain = chainMethodsOf(node.row).find((each) => isSameName(each, call.name));
    const hasProperty = handlerProperty !== undefined || property !== undefined;
    if (call.operator === '.') {
      if (handlerProperty !== undefined && target.handler !== undefined) {
        return this.#setOnHandler(target, target.handler, handlerProperty, call);
      }
      if (property !== undefined) return this.#set(target, property, call);
      if (handler !== undefined) return this.#addHandler(node, handler, call);
    }
    if (call.operator === '|' && chain !== undefined) return this.#chain(node, chain, call);
    if (call.operator === '@' && this.#udfs.has(call.name)) return this.#udf(node, call);
    throw this.#unknown(target, call, {
      '.': hasProperty || handler !== undefined,
      '|': chain !== undefined,
      '@': this.#udfs.has(call.name),
    });
  }

  #property(node: DraftNode, name: string): PropertyRow | undefined {
    if (isSameName(name, QUIET.name)) return QUIET;
    return node.row.properties.find((each) => isSameName(each.name, name));
  }

  #set(target: Target, property: PropertyRow, call: MethodCall): Value {
    const { node } = target;
    checkValues(target, property, call);
    if (property === QUIET) node.isQuiet = true;
    else node.options.apply(property.name, call.values);
    node.properties.push({ name: property.name, values: specsOf(call.values), span: call.span });
    // After a value assigned to the alert, properties of the handler can still follow.
    return target.handler !== undefined && property.style === 'value'
      ? { kind: 'handler', node, handler: target.handler }
      : { kind: 'node', node };
  }

  #addHandler(node: DraftNode, row: DraftHandler['row'], call: MethodCall): Value {
    checkParameters(row.parameters, call);
    const handler: DraftHandler = {
      row,
      arguments: specsOf(call.values),
      properties: [],
      options: row.draft(call.values),
      span: call.span,
    };
    node.handlers.push(handler);
    return { kind: 'handler', node, handler };
  }

  #setOnHandler(
    target: Target,
    handler: DraftHandler,
    property: DraftHandler['row']['properties'][number],
    call: MethodCall,
  ): Value {
    if (handler.properties.length >= MAX_CALLS_PER_NODE.value) {
      const text = `too many properties on one handler: it may have ${MAX_CALLS_PER_NODE.value}`;
      throw refused('TICK_TOO_LARGE', text, call);
    }
    checkValues(target, property, call);
    handler.options.apply(property.name, call.values);
    handler.properties.push({ name: property.name, values: specsOf(call.values), span: call.span });
    return { kind: 'handler', node: target.node, handler };
  }

  #chain(node: DraftNode, method: string, call: MethodCall): Value {
    const { values, span } = call;
    const macro = findMacro(method);
    if (macro !== undefined && 'refusal' in macro) {
      const { text, hint } = macro.refusal;
      throw refused('TICK_UNSUPPORTED', text, call, { found: call.name, hint });
    }
    const row = findNode(method);
    checkParameters((macro ?? row)?.parameters ?? [], call);
    const given = new Arguments(values, () => undefined);
    if (macro !== undefined) {
      const [graph, deadman] = [this.#graph, this.#deadman];
      return {
        kind: 'node',
        node: macro.apply({ graph, source: node, values: given, deadman, span }),
      };
    }
    if (row === undefined) throw new TypeError(`chain method without a row: ${method}`);
    const others = row.parents === undefined ? [] : given.nodes(0);
    return {
      kind: 'node',
      node: this.#graph.add(row, {
        parents: [node, ...others],
        values: row.parents === undefined ? values : [],
        span,
      }),
    };
  }

  #udf(node: DraftNode, call: MethodCall): Value {
    const info = this.#udfs.get(call.name);
    if (info === undefined) throw new TypeError(`no user-defined function ${call.name}`);
    checkParameters([], call);
    const row = udfRow(call.name, info);
    return {
      kind: 'node',
      node: this.#graph.add(row, { parents: [node], values: [], span: call.span }),
    };
  }

  #unknown(
    target: Target,
    call: MethodCall,
    exists: Readonly<Record<Operator, boolean>>,
  ): EvaluationFailure {
    const type = classOf(target);
    const asked = { '|': 'chaining', '.': 'property', '@': 'dynamic' }[call.operator];
    const other = (['.', '|', '@'] as const).find((each) => exists[each]);
    if (other === undefined) {
      const text = `no method or property "${call.name}" on ${type}`;
      return refused('TICK_UNKNOWN_METHOD', text, call, this.#suggestion(target, call));
    }
    const found = { '|': 'chaining method', '.': 'property', '@': 'dynamic method' }[other];
    const text = `no ${asked} method "${call.name}" on ${type}, but ${found} does exist. Use '${other}' operator instead: 'node${other}${call.name}(..)'.`;
    const expected = [`${other}${call.name}`];
    return refused('TICK_WRONG_OPERATOR', text, call, {
      found: `${call.operator}${call.name}`,
      expected,
      hint: `write ${other}${call.name}(…)`,
    });
  }

  #suggestion({ node, handler }: Target, call: MethodCall): FailureDetails {
    const found = `${call.operator}${call.name}`;
    const names = [
      ...(handler?.row.properties.map((each) => each.name) ?? []),
      ...node.row.properties.map((each) => each.name),
      ...(node.row.hasHandlers ? HANDLERS.map((each) => each.name) : []),
      ...chainMethodsOf(node.row),
      ...this.#udfs.keys(),
    ];
    return { found, hint: hintFor(node, call) ?? didYouMean(call.name, names) };
  }
}

function hintFor({ row }: DraftNode, { operator, name }: MethodCall): string | undefined {
  if (operator === '@')
    return 'user-defined functions are named in the configuration, in [udf.functions]';
  if (operator === '|' && row.provides === 'none')
    return `nothing follows |${row.type}(): begin a new chain before it`;
  return (findMacro(name) ?? findNode(name))?.hintsBelow?.[row.type];
}

/** Names are the same when they differ at most in the case of their first letter. */
function isSameName(known: string, given: string): boolean {
  return (
    known.length === given.length &&
    known.charAt(0).toUpperCase() === given.charAt(0).toUpperCase() &&
    known.slice(1) === given.slice(1)
  );
}

function handlerNamed(name: string): DraftHandler['row'] | undefined {
  return findHandler(name) ?? findHandler(name.charAt(0).toLowerCase() + name.slice(1));
}

function classOf({ node, handler }: Target): string {
  return `*pipeline.${handler?.row.className ?? node.row.className}`;
}

function specsOf(values: readonly Value[]): DraftNode['arguments'] {
  return values.map(specValueOf).filter((each) => each !== undefined);
}

function refused(
  code: string,
  text: string,
  { span }: { readonly span: Span },
  details: FailureDetails = {},
): EvaluationFailure {
  return new EvaluationFailure(code, text, { span, isPositioned: true, ...details });
}

type Callable = Pick<PropertyRow, 'name' | 'style' | 'parameters'>;

/** Assigned properties have their own rules and texts. */
function checkValues(target: Target, property: Callable, call: MethodCall): void {
  const [parameterOfValue] = property.parameters;
  if (property.style === 'call' || parameterOfValue === undefined) {
    checkParameters(property.parameters, call);
    return;
  }
  const [value] = call.values;
  if (value === undefined || call.values.length > 1) {
    const name = property.name.charAt(0).toUpperCase() + property.name.slice(1);
    const text = `too many arguments to set property ${name} on ${classOf(target)}`;
    throw refused('TICK_WRONG_ARGUMENTS', text, call, {
      found: `${call.values.length} values`,
      expected: ['one value'],
      hint: usage(call, property.parameters),
    });
  }
  const mistake = quoteMistake(parameterOfValue.type, value);
  if (mistake !== undefined) throw quoteRefusal(mistake, call, parameterOfValue);
  checkAssignment(parameterOfValue.type, value);
}

function checkParameters(parameters: readonly Parameter[], call: MethodCall): void {
  for (const [index, value] of call.values.entries()) {
    const each = parameters[Math.min(index, parameters.length - 1)];
    const mistake = each === undefined ? undefined : quoteMistake(each.type, value);
    if (each !== undefined && mistake !== undefined) throw quoteRefusal(mistake, call, each);
  }
  try {
    checkCall(parameters, call.values);
  } catch (error) {
    if (!(error instanceof ArgumentFailure)) throw error;
    // A wrong number of values gets the form of the call as a hint.
    const hint = error.details.hint ?? usage(call, parameters);
    throw new ArgumentFailure(error.message, { ...error.details, hint });
  }
}

function quoteRefusal(text: string, call: MethodCall, { type }: Parameter): EvaluationFailure {
  return refused('TICK_WRONG_QUOTES', text, call, {
    found: 'reference',
    expected: [typePhrase(type)],
    hint:
      type === 'lambda'
        ? 'write lambda: before the expression'
        : "strings are written in single quotes: 'text'",
  });
}
