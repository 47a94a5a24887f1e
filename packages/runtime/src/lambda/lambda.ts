// Lambdas: compiled once per task, specialised once per shape of points (schema and tag keys), then
// run as closures over typed slots. Functions: docs/reference/lambda-functions.md.
import type { LambdaSpec } from '@tidemark/pipeline';
import { checkLambda } from '@tidemark/tickscript';
import type { ExpressionNode, FunctionNode } from '@tidemark/tickscript';
import type { Point } from '../data/point.ts';
import type { Schema, ValueType } from '../data/schema.ts';
import type { TagKeys } from '../data/series.ts';
import { CompileError, EvaluationError } from './errors.ts';
import type { CallContext, FunctionRow, FunctionState } from './function.ts';
import { FUNCTIONS } from './functions.ts';
import { specialise } from './specialise.ts';
import type { Frame, Run, Typed } from './typed.ts';

/** Types of results of earlier expressions, by name (`eval`). */
export type EarlierResults = ReadonlyMap<
  string,
  { readonly index: number; readonly type: ValueType }
>;

const NO_RESULTS: EarlierResults = new Map();

/** Functions by name. */
export type FunctionTable = ReadonlyMap<string, FunctionRow>;

/** A lambda specialised for points of one shape. */
export type Specialised = {
  readonly typed: Typed;
  /** Why no point of this shape can be evaluated at all. */
  readonly scopeFailure: EvaluationError | undefined;
  /** The result as a predicate; throws `EvaluationError`. */
  readonly test: Run<boolean>;
  /** The result depends on tags only, and evaluating has no effect: one answer per series. */
  readonly isTagOnly: boolean;
};

/**
 * The state of each call: calls of one name in one lambda share it; nested lambdas have their own.
 */
export type StateSlots = ReadonlyMap<ExpressionNode, ReadonlyMap<string, number>>;

export class Lambda {
  readonly expression: ExpressionNode;
  /** Names of fields and tags, without `time`, in order of appearance. */
  readonly references: readonly string[];
  readonly isStateful: boolean;
  readonly #slots: StateSlots;
  readonly #rows: FunctionRow[] = [];
  readonly #isContextual: boolean;
  #lastSchema: Schema | undefined;
  #lastKeys: TagKeys | undefined;
  #last: Specialised | undefined;
  readonly #specialised = new Map<Schema, Map<TagKeys, Specialised>>();

  readonly #functions: FunctionTable;

  /** Throws `CompileError` when operands with known types do not fit. */
  constructor(spec: LambdaSpec, functions: FunctionTable = FUNCTIONS) {
    this.expression = spec.expression;
    this.#functions = functions;
    const [problem] = checkLambda(spec.expression).problems;
    if (problem !== undefined) throw new CompileError(problem.text);
    const references = new Set<string>();
    const slots = new Map<ExpressionNode, Map<string, number>>();
    this.#isContextual = this.#collect(spec.expression, spec.expression, { references, slots });
    this.references = [...references];
    this.#slots = slots;
    this.isStateful = this.#rows.length > 0;
  }

  /** State of a new instance. */
  frame(context: CallContext): Frame {
    return { states: this.#rows.map((row) => row.init?.() ?? {}), results: [], context };
  }

  /** The frame of an instance with these states. */
  restoreFrame(states: readonly FunctionState[], context: CallContext): Frame {
    const fresh = this.frame(context);
    states.forEach((state, i) => {
      if (i < fresh.states.length) fresh.states[i] = { ...state };
    });
    return fresh;
  }

  /** The code for points of this shape. */
  for(schema: Schema, keys: TagKeys): Specialised {
    if (schema === this.#lastSchema && keys === this.#lastKeys) return this.#last as Specialised;
    let byKeys = this.#specialised.get(schema);
    if (byKeys === undefined) {
      if (this.#specialised.size >= SHAPES_MAX) this.#specialised.clear();
      byKeys = new Map();
      this.#specialised.set(schema, byKeys);
    }
    let specialised = byKeys.get(keys);
    if (specialised === undefined) {
      if (byKeys.size >= SHAPES_MAX) byKeys.clear();
      specialised = this.specialise(schema, keys, NO_RESULTS);
      byKeys.set(keys, specialised);
    }
    this.#lastSchema = schema;
    this.#lastKeys = keys;
    this.#last = specialised;
    return specialised;
  }

  /** Evaluates as a predicate. Throws `EvaluationError`. */
  test(point: Point, frame: Frame): boolean {
    return this.for(point.schema, point.series.keys).test(point, frame);
  }

  /** Specialises without caching; `eval` has its own cache by shape. */
  specialise(schema: Schema, keys: TagKeys, earlier: EarlierResults): Specialised {
    const scopeFailure = this.#scopeFailure(schema, keys);
    const typed = specialise(this.expression, {
      schema,
      keys,
      earlier,
      slots: this.#slots,
      functions: this.#functions,
    });
    const isTagOnly =
      !this.isStateful &&
      !this.#isContextual &&
      !hasTime(this.expression) &&
      this.references.every((name) => !schema.indexOf.has(name));
    return { typed, scopeFailure, test: predicate(typed, scopeFailure), isTagOnly };
  }

  #scopeFailure(schema: Schema, keys: TagKeys): EvaluationError | undefined {
    for (const name of this.references) {
      const field = schema.field(name);
      if (field === undefined) continue;
      if (keys.indexOf.has(name)) {
        return new EvaluationError(`cannot have field and tags with same name "${name}"`);
      }
      if (field.type === 'null') return new EvaluationError(`referenced value "${name}" is nil.`);
    }
    return undefined;
  }

  /**
   * Records references and state; returns whether a function depends on more than its arguments.
   */
  #collect(
    node: ExpressionNode,
    owner: ExpressionNode,
    found: { references: Set<string>; slots: Map<ExpressionNode, Map<string, number>> },
  ): boolean {
    switch (node.kind) {
      case 'reference':
        if (node.name !== 'time') found.references.add(node.name);
        return false;
      case 'unary':
        return this.#collect(node.operand, owner, found);
      case 'binary': {
        const left = this.#collect(node.left, owner, found);
        return this.#collect(node.right, owner, found) || left;
      }
      case 'lambda':
        return this.#collect(node.expression, node.expression, found);
      case 'function':
        return this.#collectFunction(node, owner, found);
      default:
        return false;
    }
  }

  #collectFunction(
    node: FunctionNode,
    owner: ExpressionNode,
    found: { references: Set<string>; slots: Map<ExpressionNode, Map<string, number>> },
  ): boolean {
    const row = this.#functions.get(node.name);
    if (row?.init !== undefined) {
      let slots = found.slots.get(owner);
      if (slots === undefined) found.slots.set(owner, (slots = new Map()));
      if (!slots.has(node.name)) slots.set(node.name, this.#rows.push(row) - 1);
    }
    let isContextual = row?.isContextual === true;
    for (const argument of node.arguments) {
      if (this.#collect(argument, owner, found)) isContextual = true;
    }
    return isContextual;
  }
}

/** Shapes in the cache of one lambda; with ever new shapes it starts over. */
const SHAPES_MAX = 1024;

/** Turns an expression into a predicate with the recorded errors. */
function predicate(typed: Typed, scopeFailure: EvaluationError | undefined): Run<boolean> {
  const failure = scopeFailure ?? predicateFailure(typed);
  if (failure === undefined) return typed.run as Run<boolean>;
  return () => {
    throw failure;
  };
}

function predicateFailure(typed: Typed): EvaluationError | undefined {
  if (typed.failure !== undefined) return typed.failure;
  if (typed.type === 'boolean') return undefined;
  if (typed.type === 'missing') return new EvaluationError(`missing value: "${typed.name}"`);
  return new EvaluationError(
    `TypeGuard: expression returned unexpected type ${typed.type}, expected boolean`,
  );
}

/** Why the value of an expression cannot become a field, `undefined` when it can. */
export function valueFailure(specialised: Specialised): EvaluationError | undefined {
  const { typed, scopeFailure } = specialised;
  if (scopeFailure !== undefined) return scopeFailure;
  if (typed.failure !== undefined) return typed.failure;
  if (typed.type === 'missing') return new EvaluationError(`missing value: "${typed.name}"`);
  if (typed.type === 'time' || typed.type === 'regex' || typed.type === 'invalid') {
    return new EvaluationError(`expression returned unexpected type ${typed.type}`);
  }
  return undefined;
}

function hasTime(node: ExpressionNode): boolean {
  switch (node.kind) {
    case 'reference':
      return node.name === 'time';
    case 'unary':
      return hasTime(node.operand);
    case 'binary':
      return hasTime(node.left) || hasTime(node.right);
    case 'lambda':
      return hasTime(node.expression);
    case 'function':
      return node.arguments.some(hasTime);
    default:
      return false;
  }
}
