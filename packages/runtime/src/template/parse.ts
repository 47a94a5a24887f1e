// Parser of text templates.
import type { Command, Operand, Pipeline, TemplateNode } from './ast.ts';
import type { ActionToken, Piece } from './lex.ts';
import { lexAction, splitTemplate, TemplateSyntaxError } from './lex.ts';

export type ParsedTemplate = {
  readonly name: string;
  readonly source: string;
  readonly nodes: readonly TemplateNode[];
  /** Named parts: `define` and `block`. */
  readonly parts: ReadonlyMap<string, readonly TemplateNode[]>;
};

/** Nesting of blocks and parentheses. */
const DEPTH_MAX = 100;

/** Characters of a template. */
const SOURCE_LENGTH_MAX = 1024 * 1024;

/** Operands of one call. */
const OPERANDS_MAX = 1000;

/**
 * Parses; throws `TemplateSyntaxError` with the recorded text. `functions` are the names that
 * exist.
 */
export function parseTemplate(
  name: string,
  source: string,
  functions: ReadonlySet<string>,
): ParsedTemplate {
  const parser = new Parser(name, source, functions);
  return { name, source, nodes: parser.parse(), parts: parser.parts };
}

type Ending = 'eof' | 'end' | 'else';

class Parser {
  readonly #name: string;
  readonly #source: string;
  readonly #functions: ReadonlySet<string>;
  readonly #pieces: readonly Piece[];
  #next = 0;
  #tokens: readonly ActionToken[] = [];
  #token = 0;
  #depth = 0;
  #rangeDepth = 0;
  #variables: string[] = ['$'];
  readonly parts = new Map<string, readonly TemplateNode[]>();
  readonly #uses: Extract<TemplateNode, { kind: 'template' }>[] = [];

  constructor(name: string, source: string, functions: ReadonlySet<string>) {
    this.#name = name;
    this.#source = source;
    this.#functions = functions;
    if (source.length > SOURCE_LENGTH_MAX) throw this.#error('template is too long');
    this.#pieces = splitTemplate(name, source);
  }

  parse(): TemplateNode[] {
    const { nodes, ending } = this.#list();
    if (ending !== 'eof') throw this.#error(`unexpected {{${ending}}}`);
    for (const { name, at } of this.#uses) {
      if (!this.parts.has(name)) throw this.#errorAt(at, `template "${name}" not defined`);
    }
    return nodes;
  }

  /** Nodes up to `end`, `else` or the end of the text; the rest of an `else` action is not read. */
  #list(): { nodes: TemplateNode[]; ending: Ending } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const piece = this.#pieces[this.#next++];
      if (piece === undefined) return { nodes, ending: 'eof' };
      if (piece.kind === 'text') {
        if (piece.text !== '') nodes.push({ kind: 'text', text: piece.text });
        continue;
      }
      this.#tokens = lexAction(this.#name, this.#source, piece);
      this.#token = 0;
      const word = this.#peek()?.kind === 'word' ? this.#peek()?.text : undefined;
      switch (word) {
        case 'end':
        case 'else':
          this.#token++;
          if (word === 'end') this.#expectEnd('end');
          return { nodes, ending: word };
        case 'if':
        case 'with':
        case 'range':
          this.#token++;
          nodes.push(this.#block(word));
          break;
        case 'break':
        case 'continue':
          if (this.#rangeDepth === 0) throw this.#error(`{{${word}}} outside {{range}}`);
          nodes.push({ kind: word });
          break;
        case 'define':
          if (this.#depth > 0) throw this.#error('unexpected {{define}}');
          this.#define(this.#partName());
          break;
        case 'template':
          nodes.push(this.#template(this.#partName()));
          break;
        case 'block': {
          const use = this.#template(this.#partName());
          if (use.pipeline === undefined) throw this.#error('missing value for block clause');
          nodes.push(use);
          this.#define(use.name);
          break;
        }
        default:
          nodes.push({ kind: 'action', pipeline: this.#pipeline('command') });
      }
    }
  }

  /** The name after `define`, `template` or `block`. */
  #partName(): string {
    const word = this.#peek()?.text ?? '';
    this.#token++;
    const token = this.#peek();
    if (token?.kind !== 'literal' || typeof token.value !== 'string') {
      throw this.#error(`missing name of {{${word}}}`);
    }
    this.#token++;
    return token.value;
  }

  #template(name: string): Extract<TemplateNode, { kind: 'template' }> {
    const [first] = this.#tokens;
    const at = first?.at ?? 0;
    const pipeline = this.#peek() === undefined ? undefined : this.#pipeline('template clause');
    const use = { kind: 'template', name, pipeline, at, text: this.#between(at) } as const;
    this.#uses.push(use);
    return use;
  }

  /** A named part: variables around it are unknown in it. */
  #define(name: string): void {
    if (++this.#depth > DEPTH_MAX) throw this.#error('template is nested too deeply');
    const [variables, rangeDepth] = [this.#variables, this.#rangeDepth];
    this.#variables = ['$'];
    this.#rangeDepth = 0;
    const { nodes, ending } = this.#list();
    if (ending === 'eof') throw this.#error('unexpected EOF');
    if (ending === 'else') throw this.#error('unexpected {{else}} in define clause');
    this.#variables = variables;
    this.#rangeDepth = rangeDepth;
    this.#depth--;
    this.parts.set(name, nodes);
  }

  #block(kind: 'if' | 'with' | 'range'): TemplateNode {
    if (++this.#depth > DEPTH_MAX) throw this.#error('template is nested too deeply');
    const scope = this.#variables.length;
    const pipeline = this.#pipeline(kind);
    if (kind === 'range') this.#rangeDepth++;
    const { nodes: body, ending } = this.#list();
    if (kind === 'range') this.#rangeDepth--;
    if (ending === 'eof') throw this.#error('unexpected EOF');
    let otherwise: readonly TemplateNode[] = [];
    if (ending === 'else') otherwise = this.#otherwise(kind);
    this.#variables.length = scope;
    this.#depth--;
    return { kind, pipeline, body, otherwise };
  }

  #otherwise(kind: string): readonly TemplateNode[] {
    const token = this.#peek();
    if (token?.kind === 'word' && (token.text === 'if' || token.text === 'with')) {
      if (kind === 'range') throw this.#error(`unexpected <${token.text}> in else`);
      this.#token++;
      return [this.#block(token.text)];
    }
    this.#expectEnd('else');
    const { nodes, ending } = this.#list();
    if (ending !== 'end')
      throw this.#error(ending === 'eof' ? 'unexpected EOF' : 'expected end; found {{else}}');
    return nodes;
  }

  #expectEnd(context: string): void {
    const token = this.#peek();
    if (token !== undefined) throw this.#error(`unexpected ${describe(token)} in ${context}`);
  }

  #pipeline(context: string): Pipeline {
    const at = this.#peek()?.at ?? 0;
    const { variables, isAssignment } = this.#declarations(context);
    const commands: Command[] = [];
    for (;;) {
      const token = this.#peek();
      if (token === undefined || token.kind === 'close') break;
      commands.push(this.#command(context));
      if (this.#peek()?.kind !== 'pipe') break;
      this.#token++;
      if (this.#peek() === undefined) throw this.#error(`missing value for ${context}`);
    }
    if (commands.length === 0) throw this.#error(`missing value for ${context}`);
    for (const [i, command] of commands.entries()) {
      const first = command.operands[0];
      if (i > 0 && (first?.kind === 'literal' || first?.kind === 'nil' || first?.kind === 'dot')) {
        throw this.#error(`non executable command in pipeline stage ${i + 1}`);
      }
    }
    return { at, text: this.#between(at), commands, variables, isAssignment };
  }

  #declarations(context: string): { variables: string[]; isAssignment: boolean } {
    const first = this.#peek();
    const second = this.#peek(1);
    const none = { variables: [], isAssignment: false };
    if (first?.kind !== 'variable' || second === undefined) return none;
    if (second.kind === 'declare' || second.kind === 'assign') {
      this.#token += 2;
      return this.#declare([first.text], second.kind === 'assign');
    }
    const third = this.#peek(2);
    if (second.kind === 'comma' && context === 'range' && third?.kind === 'variable') {
      const operator = this.#peek(3);
      if (operator?.kind !== 'declare' && operator?.kind !== 'assign') return none;
      this.#token += 4;
      return this.#declare([first.text, third.text], operator.kind === 'assign');
    }
    return none;
  }

  #declare(
    variables: string[],
    isAssignment: boolean,
  ): { variables: string[]; isAssignment: boolean } {
    for (const name of variables) {
      if (!isAssignment) this.#variables.push(name);
      else if (!this.#variables.includes(name)) throw this.#error(`undefined variable "${name}"`);
    }
    return { variables, isAssignment };
  }

  #command(context: string): Command {
    const at = this.#peek()?.at ?? 0;
    const operands: Operand[] = [];
    for (;;) {
      const token = this.#peek();
      if (token === undefined || token.kind === 'pipe' || token.kind === 'close') break;
      if (operands.length === OPERANDS_MAX) throw this.#error('too many operands');
      operands.push(this.#operand(context));
    }
    if (operands.length === 0) throw this.#error(`missing value for ${context}`);
    if (operands[0]?.kind === 'nil') throw this.#error('nil is not a command');
    return { at, text: this.#between(at), operands };
  }

  #operand(context: string): Operand {
    const token = this.#peek() as ActionToken;
    this.#token++;
    const place = { at: token.at, text: token.text };
    switch (token.kind) {
      case 'dot':
        return { ...place, kind: 'dot' };
      case 'field':
        return { ...place, kind: 'field', names: token.names };
      case 'literal':
        return { ...place, kind: 'literal', value: token.value };
      case 'variable': {
        if (!this.#variables.includes(token.text.split('.')[0] ?? '')) {
          throw this.#error(`undefined variable "${token.text}"`);
        }
        const [name = '', ...names] = token.text.split('.');
        return { ...place, kind: 'variable', name, names };
      }
      case 'word':
        if (token.text === 'nil') return { ...place, kind: 'nil' };
        if (!this.#functions.has(token.text)) {
          throw this.#error(`function "${token.text}" not defined`);
        }
        return { ...place, kind: 'function', name: token.text };
      case 'open': {
        if (++this.#depth > DEPTH_MAX) throw this.#error('template is nested too deeply');
        const pipeline = this.#pipeline('parenthesized pipeline');
        const close = this.#peek();
        if (close?.kind !== 'close') throw this.#error('unclosed left paren');
        this.#token++;
        this.#depth--;
        const after = this.#peek();
        if (after?.kind === 'field' && after.at === close.at + 1) {
          this.#token++;
          return { ...place, kind: 'pipeline', pipeline, names: after.names };
        }
        return { ...place, kind: 'pipeline', pipeline, names: [] };
      }
      default:
        throw this.#error(`unexpected ${describe(token)} in ${context}`);
    }
  }

  #peek(ahead = 0): ActionToken | undefined {
    return this.#tokens[this.#token + ahead];
  }

  /** Source text from `at` to the end of the last token that was read. */
  #between(at: number): string {
    const last = this.#tokens[this.#token - 1];
    return last === undefined ? '' : this.#source.slice(at, last.end);
  }

  #error(reason: string): TemplateSyntaxError {
    const token = this.#peek() ?? this.#tokens[this.#token - 1];
    return this.#errorAt(token?.at ?? this.#source.length, reason);
  }

  #errorAt(at: number, reason: string): TemplateSyntaxError {
    return new TemplateSyntaxError(this.#name, this.#source, at, reason);
  }
}

function describe(token: ActionToken): string {
  return JSON.stringify(token.text);
}
