// A pipeline as JSON: nodes with the calls that created them. Reading it applies the same rows and
// rules as a script.
import { formatExpression, parseLambda } from '@tidemark/tickscript';
import { unreachable } from '@tidemark/core';
import { finishPipeline } from './evaluate/finish.ts';
import { ArgumentFailure, EvaluationFailure } from './evaluate/failure.ts';
import { DEFAULT_DEADMAN } from './evaluate/deadman-config.ts';
import { Graph } from './evaluate/graph.ts';
import { Methods } from './evaluate/methods.ts';
import { checkCall } from './evaluate/parameter.ts';
import type { DraftNode } from './evaluate/draft.ts';
import type { Value } from './evaluate/value.ts';
import { validateNodes } from './evaluate/validate.ts';
import { valueOfVar } from './evaluate/var-values.ts';
import { HANDLERS } from './definition/handler-registry.ts';
import type { NodeRow } from './definition/node-definition.ts';
import { effectsOf, findNode } from './definition/registry.ts';
import type { HandlerSpec, NodeSpec, Pipeline, PropertyCall, SpecValue } from './pipeline.ts';
import type { UdfRegistry } from './udf.ts';
import { integerOfJson, isRecord, nanosOfJson, printInteger } from './vars-json.ts';

/** Value of a call. Integers and durations (in nanoseconds) beyond 2^53 are `bigint`. */
export type JsonValue =
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int' | 'duration'; readonly value: number | bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'string' | 'regex' | 'lambda'; readonly value: string }
  | { readonly type: 'star' }
  | { readonly type: 'list'; readonly value: readonly JsonValue[] };

export type JsonCall = { readonly name: string; readonly values: readonly JsonValue[] };

export type JsonHandler = {
  readonly kind: string;
  readonly arguments: readonly JsonValue[];
  readonly properties: readonly JsonCall[];
};

export type JsonNode = {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  /** Name of a user-defined function. */
  readonly function?: string;
  /** The node whose output a stats node counts. */
  readonly source?: number;
  readonly parents: readonly number[];
  readonly arguments: readonly JsonValue[];
  readonly properties: readonly JsonCall[];
  readonly handlers?: readonly JsonHandler[];
};

export type JsonPipeline = {
  readonly type: 'stream' | 'batch';
  readonly dbrps: readonly { readonly db: string; readonly rp: string }[];
  readonly nodes: readonly JsonNode[];
};

/** A pipeline in a form that can be stored and read with `parsePipeline`. */
export function printPipeline(pipeline: Pipeline): JsonPipeline {
  return {
    type: pipeline.type,
    dbrps: pipeline.dbrps.map(({ database, retentionPolicy }) => ({
      db: database,
      rp: retentionPolicy,
    })),
    nodes: pipeline.nodes.map(printNode),
  };
}

function printNode(node: NodeSpec): JsonNode {
  const { id, name, type, parents, calls } = node;
  const printed = {
    id,
    name,
    type,
    parents,
    arguments: (calls?.arguments ?? []).map(printValue),
    properties: (calls?.properties ?? []).map(printCall),
  };
  const { callsFunction, counts, handlers } = effectsOf(node);
  return {
    ...printed,
    ...(callsFunction === undefined ? {} : { function: callsFunction }),
    ...(counts === undefined ? {} : { source: counts }),
    ...(handlers === undefined ? {} : { handlers: handlers.map(printHandler) }),
  };
}

function printHandler({ kind, arguments: list, properties }: HandlerSpec): JsonHandler {
  return { kind, arguments: list.map(printValue), properties: properties.map(printCall) };
}

function printCall({ name, values }: PropertyCall): JsonCall {
  return { name, values: values.map(printValue) };
}

function printValue(value: SpecValue): JsonValue {
  switch (value.kind) {
    case 'boolean':
      return { type: 'bool', value: value.value };
    case 'integer':
      return { type: 'int', value: printInteger(value.value) };
    case 'float':
      return { type: 'float', value: value.value };
    case 'string':
      return { type: 'string', value: value.value };
    case 'duration':
      return { type: 'duration', value: printInteger(value.nanos) };
    case 'regex':
      return { type: 'regex', value: value.pattern };
    case 'lambda':
      return { type: 'lambda', value: formatExpression(value.expression) };
    case 'star':
      return { type: 'star' };
    case 'list':
      return { type: 'list', value: value.items.map(printValue) };
    default:
      return unreachable(value);
  }
}

export type ParsePipelineResult =
  | { readonly pipeline: Pipeline; readonly error?: undefined }
  | { readonly error: string; readonly pipeline?: undefined };

/** Thrown inside this file only. */
class JsonFailure extends Error {
  override readonly name = 'JsonFailure';
}

/** Reads the output of `printPipeline`. Returns the first error; never throws on any value. */
export function parsePipeline(
  json: unknown,
  options: { readonly udfs?: UdfRegistry | undefined } = {},
): ParsePipelineResult {
  try {
    return { pipeline: new PipelineReader(options.udfs ?? new Map()).read(json) };
  } catch (error) {
    const isExpected =
      error instanceof JsonFailure ||
      error instanceof EvaluationFailure ||
      error instanceof ArgumentFailure;
    // Everything else is a bug and goes up.
    if (!isExpected) throw error;
    return { error: error.message };
  }
}

const NOWHERE = { start: 0, end: 0 };

class PipelineReader {
  readonly #graph = new Graph();
  readonly #methods: Methods;
  readonly #udfs: UdfRegistry;

  constructor(udfs: UdfRegistry) {
    this.#udfs = udfs;
    this.#methods = new Methods(this.#graph, udfs, DEFAULT_DEADMAN);
  }

  read(json: unknown): Pipeline {
    const { type, dbrps, nodes } = recordOf(json, 'a pipeline');
    if (type !== 'stream' && type !== 'batch')
      throw new JsonFailure('type must be stream or batch');
    for (const node of listOf(nodes, 'nodes')) this.#node(recordOf(node, 'a node'));
    if (this.#graph.nodes[0]?.row.type !== type) {
      throw new JsonFailure(`the first node must be the ${type} source`);
    }
    const [failure] = validateNodes(this.#graph.nodes);
    if (failure !== undefined) throw failure;
    const pairs = listOf(dbrps ?? [], 'dbrps').map((each) => {
      const { db, rp } = recordOf(each, 'a dbrp');
      return { database: textOf(db, 'db'), retentionPolicy: textOf(rp, 'rp') };
    });
    return finishPipeline(type, this.#graph.nodes, pairs);
  }

  #node(json: Readonly<Record<string, unknown>>): void {
    const row = this.#row(json);
    const parents = listOf(json['parents'], 'parents').map((id) => this.#nodeAt(id));
    const values = valuesOf(json['arguments']);
    if (row.parents === undefined) checkCall(row.parameters, values);
    if (row.isCounting === true) values.push({ kind: 'node', node: this.#nodeAt(json['source']) });
    const node = this.#graph.add(row, { parents, values, span: NOWHERE });
    for (const call of listOf(json['properties'] ?? [], 'properties')) this.#call({ node }, call);
    for (const handler of listOf(json['handlers'] ?? [], 'handlers')) {
      this.#handler(node, recordOf(handler, 'a handler'));
    }
  }

  #row(json: Readonly<Record<string, unknown>>): NodeRow {
    const type = textOf(json['type'], 'type');
    const row = findNode(type);
    if (row === undefined) throw new JsonFailure(`no node type ${type}`);
    if (row.forFunction === undefined) return row;
    const name = textOf(json['function'], 'function');
    const info = this.#udfs.get(name);
    if (info === undefined) throw new JsonFailure(`no user-defined function ${name}`);
    return row.forFunction(name, info);
  }

  #nodeAt(id: unknown): DraftNode {
    const node = typeof id === 'number' ? this.#graph.nodes[id] : undefined;
    if (node === undefined) throw new JsonFailure('nodes refer to earlier nodes by id');
    return node;
  }

  #call(target: Parameters<Methods['call']>[0], json: unknown): void {
    const call = recordOf(json, 'a call');
    const name = textOf(call['name'], 'name');
    const values = valuesOf(call['values']);
    this.#methods.call(target, { operator: '.', name, values, span: NOWHERE });
  }

  #handler(node: DraftNode, json: Readonly<Record<string, unknown>>): void {
    const kind = textOf(json['kind'], 'kind');
    const row = HANDLERS.find((each) => each.kind === kind);
    if (row === undefined) throw new JsonFailure(`no handler kind ${kind}`);
    const values = valuesOf(json['arguments']);
    const call = { operator: '.', name: row.name, values, span: NOWHERE } as const;
    const target = this.#methods.call({ node }, call);
    if (target.kind !== 'handler') throw new JsonFailure(`${kind} is no handler`);
    for (const each of listOf(json['properties'] ?? [], 'properties')) this.#call(target, each);
  }
}

function recordOf(json: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isRecord(json)) throw new JsonFailure(`${what} must be an object`);
  return json;
}

function listOf(json: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(json)) throw new JsonFailure(`${what} must be a list`);
  return json;
}

function textOf(json: unknown, what: string): string {
  if (typeof json !== 'string') throw new JsonFailure(`${what} must be text`);
  return json;
}

function valuesOf(json: unknown): Value[] {
  return listOf(json ?? [], 'values').map((each) => valueOf(each, 0));
}

const MAX_LIST_DEPTH = 3;

function valueOf(json: unknown, depth: number): Value {
  const { type, value } = recordOf(json, 'a value');
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') throw new JsonFailure('a bool must be true or false');
      return { kind: 'boolean', value };
    case 'float':
      if (typeof value !== 'number') throw new JsonFailure('a float must be a number');
      return { kind: 'float', value };
    case 'int':
    case 'duration': {
      const integer = type === 'int' ? integerOfJson(value) : nanosOfJson(value);
      if (integer === undefined) throw new JsonFailure(`a value of type ${type} is wrong`);
      return type === 'int'
        ? { kind: 'integer', value: integer }
        : { kind: 'duration', nanos: integer };
    }
    case 'string':
      return { kind: 'string', value: textOf(value, 'a string') };
    case 'regex':
      return valueOfVar('', { kind: 'regex', pattern: textOf(value, 'a regex') });
    case 'lambda':
      return lambdaOf(textOf(value, 'a lambda'));
    case 'star':
      return { kind: 'star' };
    case 'list': {
      if (depth >= MAX_LIST_DEPTH) throw new JsonFailure('lists are nested too deeply');
      return {
        kind: 'list',
        items: listOf(value, 'a list').map((each) => valueOf(each, depth + 1)),
      };
    }
    default:
      throw new JsonFailure('unknown type of a value');
  }
}

/** Lambdas of a pipeline contain only fields, tags and functions. */
function lambdaOf(text: string): Value {
  const { expression, error } = parseLambda(text, { isNestingAllowed: true });
  if (expression === undefined) throw new JsonFailure(error ?? 'a lambda is wrong');
  return { kind: 'lambda', expression };
}
