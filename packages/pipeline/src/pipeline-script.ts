// Prints a pipeline as a script that builds it again: the same nodes with the same names, with vars
// substituted. It is the inverse of `buildPipeline`; comments and vars of the original script are
// lost.
import { formatExpression, formatScript } from '@tidemark/tickscript';
import type { ExpressionNode } from '@tidemark/tickscript';
import { literalOf } from './evaluate/value.ts';
import { HANDLERS } from './definition/handler-registry.ts';
import { effectsOf, findNode } from './definition/registry.ts';
import type { LambdaSpec, NodeSpec, Pipeline, PropertyCall, SpecValue } from './pipeline.ts';

export type PipelineScriptResult =
  | { readonly script: string; readonly error?: undefined }
  | { readonly error: string; readonly script?: undefined };

/** Thrown inside this file only. */
class NoScript extends Error {
  override readonly name = 'NoScript';
}

/**
 * The script in canonical layout. `error` names the part of the pipeline that no script can
 * express, only JSON.
 */
export function printPipelineScript(pipeline: Pipeline): PipelineScriptResult {
  try {
    return { script: formatScript(new ScriptWriter(pipeline).write()) };
  } catch (error) {
    // Everything else is a bug and goes up.
    if (!(error instanceof NoScript)) throw error;
    return { error: error.message };
  }
}

class ScriptWriter {
  readonly #pipeline: Pipeline;
  readonly #lines: string[] = [];
  /** How often other nodes refer to a node. */
  readonly #useCounts: readonly number[];
  /** Nested lambdas are vars. */
  #lambdaCount = 0;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    const counts = pipeline.nodes.map(() => 0);
    for (const node of pipeline.nodes) {
      if (this.#isImplied(node)) continue;
      for (const id of inputsOf(node)) counts[id] = (counts[id] ?? 0) + 1;
    }
    this.#useCounts = counts;
  }

  write(): string {
    const { type, dbrps, nodes } = this.#pipeline;
    for (const { database, retentionPolicy } of dbrps) {
      this.#lines.push(`dbrp ${quoted(database)}.${quoted(retentionPolicy)}`);
    }
    let chain = '';
    let last: NodeSpec | undefined;
    for (const node of nodes.slice(1)) {
      if (this.#isImplied(node)) continue;
      const [receiver] = inputsOf(node);
      if (receiver === undefined)
        throw new NoScript(`a script has one source; ${node.name} is another`);
      const link = this.#link(node);
      if (last?.id === receiver && this.#useCounts[receiver] === 1) chain += link;
      else {
        this.#end(last, chain);
        chain = this.#nameOf(receiver) + link;
      }
      last = node;
    }
    this.#end(last, chain);
    // A script must name its source.
    if (last === undefined) this.#lines.push(`var source = ${type}`);
    return this.#lines.join('\n');
  }

  /** Ends a statement; if other statements continue from its last node, it is assigned to a var. */
  #end(last: NodeSpec | undefined, chain: string): void {
    if (last === undefined) return;
    const isNamed = (this.#useCounts[last.id] ?? 0) > 0;
    this.#lines.push(isNamed ? `var ${last.name} = ${chain}` : chain);
  }

  #nameOf(id: number): string {
    const { type, nodes } = this.#pipeline;
    return id === 0 ? type : (nodes[id]?.name ?? '');
  }

  /**
   * `|stats()` of a node without children creates a no-op node, so that there is an edge to count.
   */
  #isImplied(node: NodeSpec): boolean {
    const before = this.#pipeline.nodes[node.id - 1];
    const source = before === undefined ? undefined : effectsOf(before).counts;
    if (findNode(node.type)?.isImplied !== true || source === undefined) return false;
    return node.parents[0] === source && this.#pipeline.nodes[source]?.children[0] === node.id;
  }

  #link(node: NodeSpec): string {
    const { arguments: given = [], properties = [] } = node.calls ?? {};
    const [, ...others] = inputsOf(node);
    const list = [
      ...given.map((each) => this.#value(each)),
      ...others.map((id) => this.#nameOf(id)),
    ];
    const { callsFunction, handlers = [] } = effectsOf(node);
    const method = callsFunction === undefined ? `|${node.type}` : `@${callsFunction}`;
    return [
      `${method}(${list.join(', ')})`,
      ...properties.map((call) => this.#call(call)),
      ...handlers.flatMap(({ kind, arguments: values, properties: ofHandler }) => [
        this.#call({ name: handlerName(kind), values }),
        ...ofHandler.map((call) => this.#call(call)),
      ]),
    ].join('');
  }

  #call({ name, values }: Pick<PropertyCall, 'name' | 'values'>): string {
    return `.${name}(${values.map((each) => this.#value(each)).join(', ')})`;
  }

  #value(value: SpecValue): string {
    if (value.kind === 'lambda') return this.#lambda(value);
    const [length, offset] = value.kind === 'list' ? value.items : [];
    if (length?.kind === 'duration' && offset?.kind === 'duration') {
      return `time(${[length, offset].map((each) => this.#value(each)).join(', ')})`;
    }
    if (value.kind === 'string') return text(value.value);
    const literal = literalOf(value);
    if (literal === undefined) throw new NoScript(`a ${value.kind} cannot be written`);
    return formatExpression(literal);
  }

  #lambda({ expression }: LambdaSpec): string {
    return `lambda: ${formatExpression(this.#withoutLambdas(expression))}`;
  }

  /** A lambda that is an operand came from a var, and is declared as one again. */
  #withoutLambdas(node: ExpressionNode): ExpressionNode {
    switch (node.kind) {
      case 'lambda': {
        const text = this.#lambda(node);
        const name = `lambda_${++this.#lambdaCount}`;
        this.#lines.push(`var ${name} = ${text}`);
        return { kind: 'identifier', name, span: node.span };
      }
      case 'unary':
        return { ...node, operand: this.#withoutLambdas(node.operand) };
      case 'binary': {
        const [left, right] = [this.#withoutLambdas(node.left), this.#withoutLambdas(node.right)];
        return { ...node, left, right };
      }
      case 'function':
        return { ...node, arguments: node.arguments.map((each) => this.#withoutLambdas(each)) };
      default:
        return node;
    }
  }
}

/** The node that a node is chained to, and its other inputs. */
function inputsOf(node: NodeSpec): readonly number[] {
  const { counts } = effectsOf(node);
  if (counts !== undefined) return [counts];
  if (node.parents.length > 1 && findNode(node.type)?.parents === undefined)
    throw new NoScript(`${node.name} has more than one parent`);
  return node.parents;
}

function handlerName(kind: string): string {
  const row = HANDLERS.find((each) => each.kind === kind);
  if (row === undefined) throw new NoScript(`no handler kind ${kind}`);
  return row.name;
}

/**
 * Neither single nor triple quotes can contain three quotes and a trailing backslash: it is
 * appended.
 */
function text(value: string): string {
  const [backslashes = ''] = /\\*$/.exec(value) ?? [];
  const isSplit = backslashes !== '' && value.includes("'''");
  const parts = isSplit ? [value.slice(0, -backslashes.length), backslashes] : [value];
  return parts.map((part) => formatExpression(stringLiteral(part))).join(' + ');
}

function stringLiteral(value: string): ExpressionNode {
  return { kind: 'string', value, isTripleQuoted: false, span: { start: 0, end: 0 } };
}

function quoted(name: string): string {
  return formatExpression({ kind: 'reference', name, span: { start: 0, end: 0 } });
}
