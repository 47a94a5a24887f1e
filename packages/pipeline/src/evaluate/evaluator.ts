// Evaluation of a script: statements from top to bottom, which define vars and build the graph of
// nodes.
import type { Limit, Span } from '@tidemark/core';
import { unreachable } from '@tidemark/core';
import { MAX_DIAGNOSTICS } from '@tidemark/tickscript';
import type {
  DeclarationStatement,
  ExpressionNode,
  FunctionNode,
  Program,
  Statement,
  TypeDeclarationStatement,
  VarType,
} from '@tidemark/tickscript';
import { rootOf } from '../definition/registry.ts';
import { addGlobalDeadman } from '../nodes/deadman.ts';
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_SIZE } from '../limits.ts';
import type { EdgeType } from '../pipeline.ts';
import type { UdfRegistry } from '../udf.ts';
import type { Var, Vars } from '../vars.ts';
import { isMethodName } from './chain-methods.ts';
import { evaluateConstant, negated } from './constant.ts';
import type { Constant } from './constant.ts';
import type { DraftNode } from './draft.ts';
import { ArgumentFailure, EvaluationFailure, SkippedStatement } from './failure.ts';
import { Graph } from './graph.ts';
import type { DeadmanConfig } from './deadman-config.ts';
import { placedAt, substitute } from './lambda.ts';
import type { Substitution } from './lambda.ts';
import { measureExpression } from './measure.ts';
import { Methods } from './methods.ts';
import { checkCall, variadic } from './parameter.ts';
import { Scope } from './scope.ts';
import { joined, literalText, sourceOf } from './text-source.ts';
import type { TextSource } from './text-source.ts';
import { displayValue, typeName, varTypeOf } from './value.ts';
import type { Value } from './value.ts';
import { isVarType, valueOfVar, varValueOf } from './var-values.ts';

export type EvaluationInput = {
  readonly taskType: EdgeType;
  readonly vars: Vars;
  readonly isTemplate: boolean;
  readonly udfs: UdfRegistry;
  readonly deadman: DeadmanConfig;
};

/** Evaluates one program. The graph and the declared vars are read when it is done. */
export class Evaluator {
  readonly graph = new Graph();
  readonly declaredVars = new Map<string, Var>();
  readonly source: DraftNode;
  readonly #input: EvaluationInput;
  readonly #scope = new Scope(['time']);
  readonly #methods: Methods;
  readonly #substitution: Substitution;
  #expressionSize = 0;

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.#substitution = {
      scope: this.#scope,
      spend: (nodes, span) => this.#spend(nodes, span),
    };
    this.#methods = new Methods(this.graph, input.udfs, input.deadman);
    this.source = this.graph.add(rootOf(input.taskType), {
      parents: [],
      values: [],
      span: { start: 0, end: 0 },
    });
    this.#scope.set(input.taskType, { kind: 'node', node: this.source });
  }

  /**
   * Evaluates all statements and returns their errors in order; empty for a valid script.
   * Statements that depend on a failed one are skipped, so that every finding is independent.
   */
  run(program: Program): readonly EvaluationFailure[] {
    const failures: EvaluationFailure[] = [];
    for (const statement of program.statements) {
      if (failures.length >= MAX_DIAGNOSTICS.value) break;
      try {
        this.#execute(statement);
      } catch (error) {
        const isExpected = error instanceof EvaluationFailure || error instanceof SkippedStatement;
        // Everything else is a bug and is rethrown.
        if (!isExpected) throw error;
        if (error instanceof EvaluationFailure) failures.push(error);
        if (statement.kind === 'declaration' || statement.kind === 'type-declaration') {
          this.#scope.markBroken(statement.name);
        }
      }
    }
    if (failures.length > 0) return failures;
    this.#addGlobalDeadman();
    return this.graph.nodes.length > 1 ? [] : [doesNothing(this.#input.taskType)];
  }

  #execute(statement: Statement): void {
    switch (statement.kind) {
      case 'declaration':
        return this.#declare(statement);
      case 'type-declaration':
        return this.#declareType(statement);
      case 'expression':
        // A bare name or literal has no effect, and is not even looked up, as recorded.
        if (statement.expression.kind === 'chain') this.#evaluate(statement.expression);
        if (statement.expression.kind === 'function') refuseBareCall(statement.expression);
        return;
      case 'dbrp':
      case 'comment':
        return;
      default:
        return unreachable(statement);
    }
  }

  #addGlobalDeadman(): void {
    const { deadman } = this.#input;
    if (!deadman.isGlobal) return;
    const { graph, source } = this;
    addGlobalDeadman({ graph, source, deadman, span: source.span });
  }

  #declare(statement: DeclarationStatement): void {
    const { name, span } = statement;
    const value = this.#evaluate(statement.value);
    this.#refuseRedefinition(name, span);
    const type = varTypeOf(value);
    if (type === undefined) {
      this.#scope.set(name, value);
      return;
    }
    const description = descriptionOf(statement);
    this.declaredVars.set(name, { type, value: varValueOf(value), description });
    this.#scope.set(name, this.#given(name, type, span) ?? value);
  }

  #declareType(statement: TypeDeclarationStatement): void {
    const { name, type, span } = statement;
    if (!isVarType(type)) {
      const text = `invalid var type ${JSON.stringify(type)}`;
      const hint = 'types are int, float, bool, string, regex, duration, lambda, list and star';
      throw new EvaluationFailure('TICK_INVALID_VAR_TYPE', text, {
        span,
        isPositioned: false,
        hint,
      });
    }
    this.#refuseRedefinition(name, span);
    this.declaredVars.set(name, { type, value: undefined, description: descriptionOf(statement) });
    const given = this.#given(name, type, span);
    if (given === undefined && !this.#input.isTemplate) {
      const text = `missing value for var ${JSON.stringify(name)}.`;
      const hint = 'give the var a value when the task is defined, or a default in the script';
      throw new EvaluationFailure('TICK_MISSING_VAR', text, { span, isPositioned: false, hint });
    }
    this.#scope.set(name, given ?? zeroValue(type));
  }

  /** The task's value of a var. */
  #given(name: string, type: VarType, span: Span): Value | undefined {
    const given = this.#input.vars.get(name);
    if (given === undefined || (given.value === undefined && this.#input.isTemplate))
      return undefined;
    if (given.type !== type && (given.type !== 'secret' || type !== 'string')) {
      const text = `invalid type supplied for ${name}, got ${given.type} exp ${type}`;
      throw new EvaluationFailure('TICK_VAR_TYPE', text, {
        span,
        isPositioned: false,
        found: given.type,
        expected: [type],
      });
    }
    if (given.value === undefined) return undefined;
    const value = valueOfVar(name, given.value);
    if (value.kind !== 'lambda') return value;
    // Its positions belong to another text; here it is located at the var's declaration.
    const expression = this.#substitute(value.expression);
    return { kind: 'lambda', expression: placedAt(expression, span) };
  }

  #refuseRedefinition(name: string, span: Span): void {
    if (!this.#scope.has(name)) return;
    const text = `attempted to redefine ${name}, vars are immutable`;
    throw new EvaluationFailure('TICK_REDEFINED_VAR', text, {
      span,
      isPositioned: false,
      hint: 'choose another name',
    });
  }

  #evaluate(node: ExpressionNode): Value {
    switch (node.kind) {
      case 'boolean':
      case 'integer':
      case 'float':
      case 'duration':
      case 'regex':
      case 'star':
        return withoutSpan(node);
      case 'string':
        return literalText(node);
      case 'reference':
        return { kind: 'reference', name: node.name };
      case 'identifier':
        return this.#scope.get(node.name, node.span);
      case 'list':
        return { kind: 'list', items: node.items.map((item) => this.#listItem(item)) };
      case 'lambda':
        return { kind: 'lambda', expression: this.#substitute(node.expression) };
      case 'unary':
        return this.#unary(node.operator, this.#evaluate(node.operand), node.span);
      case 'binary':
        return this.#binary(node);
      case 'function':
        return this.#globalCall(node.name, node.arguments, node.span);
      case 'chain':
        return this.#chain(node);
      default:
        return unreachable(node);
    }
  }

  #binary(node: Extract<ExpressionNode, { kind: 'binary' }>): Value {
    const value = withoutSpan(evaluateConstant(this.#substitute(node)));
    return value.kind === 'string' ? { ...value, source: this.#sourceOf(node) } : value;
  }

  /** The pieces that `+` has joined to a text; `undefined` if a call created one of them. */
  #sourceOf(node: ExpressionNode): TextSource | undefined {
    const texts: TextSource[] = [];
    const parts: ExpressionNode[] = [node];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      if (part.kind === 'binary') {
        parts.push(part.right, part.left);
        continue;
      }
      const text = part.kind === 'function' ? undefined : this.#evaluate(part);
      if (text?.kind !== 'string') return undefined;
      texts.push(sourceOf(text, part.span));
    }
    return joined(texts);
  }

  /** Inserts the values of vars into an expression, within the script's budget. */
  #substitute(node: ExpressionNode): ExpressionNode {
    const expression = substitute(node, this.#substitution);
    const { nodes, depth } = measureExpression(expression);
    this.#spend(nodes, node.span);
    if (depth > MAX_EXPRESSION_DEPTH.value) throw tooLarge(MAX_EXPRESSION_DEPTH, node.span);
    return expression;
  }

  #spend(nodes: number, span: Span): void {
    this.#expressionSize += nodes;
    if (this.#expressionSize > MAX_EXPRESSION_SIZE.value) throw tooLarge(MAX_EXPRESSION_SIZE, span);
  }

  /** Lists hold strings and stars, written or named. */
  #listItem(node: ExpressionNode): Value {
    const value = this.#evaluate(node);
    if (value.kind === 'string' || value.kind === 'star') return value;
    const text = `lists hold strings and stars only, got ${typeName(value)}`;
    throw new EvaluationFailure('TICK_LIST_ITEM', text, { span: node.span, isPositioned: true });
  }

  #unary(operator: '-' | '!', operand: Value, span: Span): Value {
    const isNumber = ['integer', 'float', 'duration'].includes(operand.kind);
    const fits = operator === '!' ? operand.kind === 'boolean' : isNumber;
    const constant = constantOf(operand);
    const result = fits && constant !== undefined ? negated(constant) : undefined;
    if (result !== undefined) return result;
    const text = `invalid arugument to '${operator}' ${displayValue(operand)}`;
    throw new EvaluationFailure('TICK_WRONG_OPERAND', text, { span, isPositioned: true });
  }

  /**
   * `time(length, offset)`, the only function outside lambdas; others matter only when they are
   * used.
   */
  #globalCall(name: string, list: readonly ExpressionNode[], span: Span): Value {
    if (name !== 'time') return { kind: 'unbound-function', name };
    const values = this.#values(list);
    const refuse = (text: string) =>
      new EvaluationFailure('TICK_WRONG_ARGUMENTS', text, { span, isPositioned: true });
    if (values.length > 2) {
      throw refuse(`time() function expects 1 or 2 args, got ${values.length}`);
    }
    try {
      checkCall([{ name: 'length', type: 'duration' }, variadic('offset', 'duration')], values);
    } catch (error) {
      if (!(error instanceof ArgumentFailure)) throw error;
      throw refuse(`error calling func "time" on obj <nil>: ${error.message}`);
    }
    const [length, offset] = values.map((each) => (each.kind === 'duration' ? each.nanos : 0n));
    return { kind: 'time-dimension', lengthNanos: length ?? 0n, offsetNanos: offset ?? 0n };
  }

  /** Left to right without recursion: chains may be long. */
  #chain(node: Extract<ExpressionNode, { kind: 'chain' }>): Value {
    const links = [];
    let first: ExpressionNode = node;
    for (; first.kind === 'chain'; first = first.left) links.push(first);
    let value = this.#evaluate(first);
    for (const { operator, operatorSpan, right } of links.toReversed()) {
      const target = value.kind === 'node' || value.kind === 'handler' ? value : undefined;
      if (right.kind === 'identifier' && operator === '.') {
        if (target === undefined) {
          const text = 'cannot get properties of non pointer value';
          const place = { span: operatorSpan, isPositioned: true };
          throw new EvaluationFailure('TICK_NOT_A_NODE', text, place);
        }
        value = this.#methods.read(target, right.name, operatorSpan);
        continue;
      }
      const { name, span } = right;
      if (target === undefined) {
        const text = `no method or property ${JSON.stringify(name)} on ${typeName(value)}`;
        throw new EvaluationFailure('TICK_NOT_A_NODE', text, { span, isPositioned: true });
      }
      const values = right.kind === 'function' ? this.#values(right.arguments) : [];
      value = this.#methods.call(target, { operator, name, values, span });
    }
    return value;
  }

  /** Arguments of a call; a single list stands for its elements. */
  #values(list: readonly ExpressionNode[]): readonly Value[] {
    const values = list.map((each) => this.#evaluate(each));
    const [only] = values;
    return values.length === 1 && only?.kind === 'list' ? only.items : values;
  }
}

/** Only the source is there. */
function doesNothing(taskType: EdgeType): EvaluationFailure {
  const start = taskType === 'stream' ? 'stream|from()' : 'batch|query()';
  return new EvaluationFailure('TICK_EMPTY', 'task does nothing', {
    span: { start: 0, end: 0 },
    isPositioned: false,
    hint: `begin with ${start}`,
  });
}

/** A call at the start of a line: most likely the operator of a chain is missing. */
function refuseBareCall({ name, span }: FunctionNode): void {
  if (name === 'time') return;
  const text = `no global function ${JSON.stringify(name)} defined`;
  throw new EvaluationFailure('TICK_UNKNOWN_FUNCTION', text, {
    span,
    isPositioned: true,
    found: `${name}()`,
    hint: isMethodName(name)
      ? `write |${name}() or .${name}() to go on with the node above`
      : 'a statement is a chain, like stream|from(), or var name = value',
  });
}

function tooLarge(limit: Limit, span: Span): EvaluationFailure {
  const text = `expressions are too large with the vars put in: ${limit.value} is the limit of ${limit.unit === 'levels' ? 'depth' : 'size'}`;
  return new EvaluationFailure('TICK_TOO_LARGE', text, { span, isPositioned: true });
}

function descriptionOf({
  comment,
}: {
  readonly comment?: DeclarationStatement['comment'];
}): string {
  return comment?.blocks.flat().join('\n') ?? '';
}

/** The value of a template's typed var that has not been set. */
function zeroValue(type: VarType): Value {
  switch (type) {
    case 'int':
      return { kind: 'integer', value: 0n };
    case 'float':
      return { kind: 'float', value: 0 };
    case 'string':
      return { kind: 'string', value: '' };
    case 'bool':
      return { kind: 'boolean', value: false };
    case 'duration':
      return { kind: 'duration', nanos: 0n };
    case 'list':
      return { kind: 'list', items: [] };
    case 'star':
      return { kind: 'star' };
    case 'regex':
    case 'lambda':
      return { kind: 'null', type };
    default:
      return unreachable(type);
  }
}

function constantOf(value: Value): Constant | undefined {
  switch (value.kind) {
    case 'boolean':
    case 'integer':
    case 'float':
    case 'duration':
      return value;
    default:
      return undefined;
  }
}

type Literal = Constant | { readonly kind: 'star' };

/** Only the value, without properties of the tree or the computation. */
function withoutSpan(value: Literal): Value {
  switch (value.kind) {
    case 'boolean':
      return { kind: 'boolean', value: value.value };
    case 'integer':
      return { kind: 'integer', value: value.value };
    case 'float':
      return { kind: 'float', value: value.value };
    case 'string':
      return { kind: 'string', value: value.value };
    case 'duration':
      return { kind: 'duration', nanos: value.nanos };
    case 'regex':
      return { kind: 'regex', pattern: value.pattern, literal: value.literal };
    case 'star':
      return { kind: 'star' };
    default:
      return unreachable(value);
  }
}
