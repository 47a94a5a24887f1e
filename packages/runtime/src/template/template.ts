// Text templates of alert ids, messages, details and handler options.
import type { Command, Operand, Pipeline, TemplateNode } from './ast.ts';
import type { TemplateFunction } from './functions.ts';
import { BUILTINS, TemplateFunctionError } from './functions.ts';
import { HtmlContext } from './html.ts';
import type { ParsedTemplate } from './parse.ts';
import { parseTemplate } from './parse.ts';
import type { TemplateValue } from './value.ts';
import {
  formatGoTime,
  isTrue,
  printValue,
  TemplateDuration,
  TemplateMap,
  TemplateStruct,
  TemplateTime,
  typeName,
} from './value.ts';

export type TemplateOptions = {
  readonly functions?: ReadonlyMap<string, TemplateFunction> | undefined;
  /** Escape values for HTML by context. */
  readonly isHtml?: boolean | undefined;
};

/** A template failed while it ran. */
export class TemplateExecutionError extends Error {
  override readonly name = 'TemplateExecutionError';
}

/** Characters of the output of one execution, and of the operands of a call. */
export const OUTPUT_LENGTH_MAX = 4 * 1024 * 1024;

/**
 * Work of one execution: nodes, iterations and calls, long texts counted by their length. About a
 * second.
 */
const STEPS_MAX = 1_000_000;

/** Maximum nesting of named parts. */
const PARTS_MAX = 100;

/** Characters that count as one step. */
const STEP_LENGTH = 256;

export class Template {
  readonly #parsed: ParsedTemplate;
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #isHtml: boolean;
  /** The text, if the template contains nothing else. */
  readonly #constant: string | undefined;

  /** Throws `TemplateSyntaxError`. */
  constructor(name: string, source: string, options: TemplateOptions = {}) {
    this.#functions = new Map([...BUILTINS, ...(options.functions ?? [])]);
    this.#parsed = parseTemplate(name, source, new Set(this.#functions.keys()));
    this.#isHtml = options.isHtml === true;
    const isConstant = !this.#isHtml && this.#parsed.nodes.every(({ kind }) => kind === 'text');
    this.#constant = isConstant
      ? this.#parsed.nodes.map((node) => (node.kind === 'text' ? node.text : '')).join('')
      : undefined;
  }

  /** Whether it is `{{ json . }}` and nothing else. */
  get isJsonOfData(): boolean {
    const [node, ...others] = this.#parsed.nodes;
    if (node?.kind !== 'action' || others.length > 0) return false;
    const { commands, variables } = node.pipeline;
    const [command] = commands;
    if (command === undefined || commands.length > 1 || variables.length > 0) return false;
    const [callee, data] = command.operands;
    const isJson = callee?.kind === 'function' && callee.name === 'json';
    return isJson && data?.kind === 'dot' && command.operands.length === 2;
  }

  /** Throws `TemplateExecutionError`. */
  execute(data: TemplateValue): string {
    if (this.#constant !== undefined) return this.#constant;
    return new Execution(this.#parsed, this.#functions, this.#isHtml, data).run();
  }
}

type Flow = 'next' | 'break' | 'continue';

class Execution {
  readonly #template: ParsedTemplate;
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #html: HtmlContext | undefined;
  readonly #root: TemplateValue;
  #variables: [name: string, value: TemplateValue][];
  #depth = 0;
  #out = '';
  #stepCount = 0;

  constructor(
    template: ParsedTemplate,
    functions: ReadonlyMap<string, TemplateFunction>,
    isHtml: boolean,
    data: TemplateValue,
  ) {
    this.#template = template;
    this.#functions = functions;
    this.#html = isHtml ? new HtmlContext() : undefined;
    this.#root = data;
    this.#variables = [['$', data]];
  }

  run(): string {
    this.#nodes(this.#template.nodes, this.#root);
    return this.#out;
  }

  #nodes(nodes: readonly TemplateNode[], dot: TemplateValue): Flow {
    for (const node of nodes) {
      const flow = this.#node(node, dot);
      if (flow !== 'next') return flow;
    }
    return 'next';
  }

  #step(count: number): void {
    this.#stepCount += count;
    if (this.#stepCount > STEPS_MAX) {
      throw new TemplateExecutionError(`template: ${this.#template.name}: takes too long`);
    }
  }

  #node(node: TemplateNode, dot: TemplateValue): Flow {
    this.#step(node.kind === 'text' ? 1 + node.text.length / STEP_LENGTH : 1);
    switch (node.kind) {
      case 'text':
        this.#write(this.#html === undefined ? node.text : this.#html.text(node.text));
        return 'next';
      case 'action': {
        const value = this.#pipeline(node.pipeline, dot);
        if (node.pipeline.variables.length > 0) return 'next';
        if (this.#html === undefined) this.#write(printValue(value));
        // Nothing prints as an empty text in HTML.
        else {
          const text = value === undefined ? '' : printValue(value);
          this.#write(this.#html.value(text, isEscaped(node.pipeline)));
        }
        return 'next';
      }
      case 'break':
      case 'continue':
        return node.kind;
      case 'template':
        return this.#part(node, dot);
      case 'range':
        return this.#range(node, dot);
      default: {
        const scope = this.#variables.length;
        const value = this.#pipeline(node.pipeline, dot);
        const inner = node.kind === 'with' ? value : dot;
        const flow = isTrue(value)
          ? this.#nodes(node.body, inner)
          : this.#nodes(node.otherwise, dot);
        this.#variables.length = scope;
        return flow;
      }
    }
  }

  /** A named part sees only the data that it is given. */
  #part(node: Extract<TemplateNode, { kind: 'template' }>, dot: TemplateValue): Flow {
    const data = node.pipeline === undefined ? undefined : this.#pipeline(node.pipeline, dot);
    if (++this.#depth > PARTS_MAX) {
      throw this.#error(node, `exceeded maximum template depth (${PARTS_MAX})`);
    }
    const variables = this.#variables;
    this.#variables = [['$', data]];
    this.#nodes(this.#template.parts.get(node.name) ?? [], data);
    this.#variables = variables;
    this.#depth--;
    return 'next';
  }

  #range(node: Extract<TemplateNode, { kind: 'if' | 'with' | 'range' }>, dot: TemplateValue): Flow {
    const scope = this.#variables.length;
    const value = this.#pipeline({ ...node.pipeline, variables: [] }, dot);
    const items = this.#items(value, node.pipeline);
    if (items.length === 0) this.#nodes(node.otherwise, dot);
    const [first, second] = node.pipeline.variables;
    for (const [key, item] of items) {
      this.#step(1);
      this.#variables.length = scope;
      if (first !== undefined) this.#variables.push([first, second === undefined ? item : key]);
      if (second !== undefined) this.#variables.push([second, item]);
      if (this.#nodes(node.body, item) === 'break') break;
    }
    this.#variables.length = scope;
    return 'next';
  }

  #items(value: TemplateValue, at: Pipeline): (readonly [TemplateValue, TemplateValue])[] {
    if (value === undefined || value === null) return [];
    if (value instanceof TemplateMap) return [...value.entries];
    if (Array.isArray(value)) return (value as TemplateValue[]).map((v, i) => [BigInt(i), v]);
    throw this.#error(at, `range can't iterate over ${printValue(value)}`);
  }

  #pipeline(pipeline: Pipeline, dot: TemplateValue): TemplateValue {
    let value: TemplateValue;
    pipeline.commands.forEach((command, i) => {
      value = this.#command(command, dot, i === 0 ? undefined : { value });
    });
    for (const name of pipeline.variables) {
      if (pipeline.isAssignment) this.#assign(name, value);
      else this.#variables.push([name, value]);
    }
    return value;
  }

  #assign(name: string, value: TemplateValue): void {
    const slot = this.#variables.findLast(([other]) => other === name);
    if (slot !== undefined) slot[1] = value;
  }

  #command(
    command: Command,
    dot: TemplateValue,
    piped: { readonly value: TemplateValue } | undefined,
  ): TemplateValue {
    const [first, ...rest] = command.operands;
    if (first === undefined) return undefined;
    const args = rest.map((operand) => this.#operand(operand, dot));
    if (piped !== undefined) args.push(piped.value);
    if (first.kind === 'function') return this.#call(first.name, args, command);
    if (first.kind === 'field') return this.#fields(dot, first, { args, command });
    if (first.kind === 'variable')
      return this.#fields(this.#variable(first), first, { args, command });
    if (args.length > 0) {
      throw this.#error(first, `can't give argument to non-function ${first.text}`);
    }
    return this.#operand(first, dot);
  }

  #operand(operand: Operand, dot: TemplateValue): TemplateValue {
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return null;
      case 'literal':
        return operand.value;
      case 'field':
        return this.#fields(dot, operand, undefined);
      case 'variable':
        return this.#fields(this.#variable(operand), operand, undefined);
      case 'function':
        return this.#call(operand.name, [], operand);
      case 'pipeline':
        return this.#fields(this.#pipeline(operand.pipeline, dot), operand, undefined);
    }
  }

  #variable(operand: Extract<Operand, { kind: 'variable' }>): TemplateValue {
    return this.#variables.findLast(([name]) => name === operand.name)?.[1];
  }

  #fields(
    start: TemplateValue,
    operand: Extract<Operand, { names: readonly string[] }>,
    call: { readonly args: readonly TemplateValue[]; readonly command: Command } | undefined,
  ): TemplateValue {
    let value = start;
    operand.names.forEach((name, i) => {
      const args = i === operand.names.length - 1 ? (call?.args ?? []) : [];
      value = this.#field(value, name, { operand, args });
    });
    if (operand.names.length === 0 && (call?.args.length ?? 0) > 0) {
      throw this.#error(operand, `can't give argument to non-function ${operand.text}`);
    }
    return value;
  }

  #field(
    value: TemplateValue,
    name: string,
    from: { readonly operand: Operand; readonly args: readonly TemplateValue[] },
  ): TemplateValue {
    if (value instanceof TemplateMap) return value.entries.get(name);
    if (value instanceof TemplateStruct && value.fields.has(name)) return value.fields.get(name);
    const method = methodOf(value, name);
    if (method !== undefined) {
      const { length: wanted } = method;
      const given = from.args.length;
      if (given === wanted) return method(...from.args);
      const reason = `wrong number of args for ${name}: want ${wanted} got ${given}`;
      throw this.#error(from.operand, reason);
    }
    if (value === undefined || value === null) {
      throw this.#error(from.operand, `nil data; no entry for key ${JSON.stringify(name)}`);
    }
    throw this.#error(from.operand, `can't evaluate field ${name} in type ${typeName(value)}`);
  }

  #call(name: string, args: readonly TemplateValue[], at: Command | Operand): TemplateValue {
    const callee = this.#functions.get(name);
    let length = 0;
    for (const arg of args) if (typeof arg === 'string') length += arg.length;
    if (length > OUTPUT_LENGTH_MAX)
      throw this.#error(at, `error calling ${name}: text is too long`);
    this.#step(1 + length / STEP_LENGTH);
    try {
      return callee?.(...args);
    } catch (cause) {
      if (!(cause instanceof TemplateFunctionError)) throw cause;
      throw this.#error(at, `error calling ${name}: ${cause.message}`);
    }
  }

  #write(text: string): void {
    this.#out += text;
    if (this.#out.length > OUTPUT_LENGTH_MAX) {
      throw new TemplateExecutionError(`template: ${this.#template.name}: output is too long`);
    }
  }

  #error(
    at: { readonly at: number; readonly text: string },
    reason: string,
  ): TemplateExecutionError {
    const { name, source } = this.#template;
    const before = source.slice(0, at.at);
    const line = before.split('\n').length;
    const column = at.at - (before.lastIndexOf('\n') + 1);
    return new TemplateExecutionError(
      `template: ${name}:${line}:${column}: executing ${JSON.stringify(name)} at <${at.text}>: ${reason}`,
    );
  }
}

/** A pipeline that ends with `html` has escaped its value itself. */
function isEscaped({ commands }: Pipeline): boolean {
  const last = commands.at(-1)?.operands[0];
  return last?.kind === 'function' && last.name === 'html';
}

type Method = (...args: readonly TemplateValue[]) => TemplateValue;

function methodOf(value: TemplateValue, name: string): Method | undefined {
  if (value instanceof TemplateTime) return timeMethods(value).get(name);
  if (value instanceof TemplateDuration) return durationMethods(value).get(name);
  return undefined;
}

function timeMethods(time: TemplateTime): ReadonlyMap<string, Method> {
  const { nanos } = time;
  const seconds = nanos >= 0n ? nanos / 1_000_000_000n : (nanos - 999_999_999n) / 1_000_000_000n;
  const date = new Date(Number(seconds) * 1000);
  const number =
    (value: number): Method =>
    () =>
      BigInt(value);
  return new Map<string, Method>([
    ['Format', (layout) => formatGoTime(nanos, String(layout))],
    ['Unix', () => seconds],
    ['UnixNano', () => nanos],
    ['UnixMilli', () => nanos / 1_000_000n],
    ['UnixMicro', () => nanos / 1000n],
    ['UTC', () => time],
    ['Local', () => time],
    ['String', () => printValue(time)],
    ['Year', number(date.getUTCFullYear())],
    ['Month', () => formatGoTime(nanos, 'January')],
    ['Day', number(date.getUTCDate())],
    ['Weekday', () => formatGoTime(nanos, 'Monday')],
    ['Hour', number(date.getUTCHours())],
    ['Minute', number(date.getUTCMinutes())],
    ['Second', number(date.getUTCSeconds())],
    ['Nanosecond', () => nanos - seconds * 1_000_000_000n],
    ['YearDay', () => BigInt(formatGoTime(nanos, '002'))],
    ['IsZero', () => false],
  ]);
}

function durationMethods(duration: TemplateDuration): ReadonlyMap<string, Method> {
  const nanos = Number(duration.nanos);
  return new Map<string, Method>([
    ['Hours', () => nanos / 3.6e12],
    ['Minutes', () => nanos / 6e10],
    ['Seconds', () => nanos / 1e9],
    ['Milliseconds', () => duration.nanos / 1_000_000n],
    ['Microseconds', () => duration.nanos / 1000n],
    ['Nanoseconds', () => duration.nanos],
    ['String', () => printValue(duration)],
  ]);
}
