// The shape of a text: the text without its parameters, the literals of conditions and limits.
// Texts of one shape have the same tree except for these. The lexer of the parser makes the tokens;
// parameters are recognised by the words before them, and callers verify that with the tree of the
// first text of a shape (`parse-cache.ts`).
import { Lexer } from './lexer.ts';
import type { BindParameter } from './parse.ts';
import { parameterToken } from './parameters.ts';
import type { Token } from './token.ts';
import { beginsRegex } from './tokenize.ts';

/** A literal that may differ, or a limit: the number after LIMIT and the like. */
export type ShapeParameter = {
  readonly token: Token;
  readonly isLimit: boolean;
  /** A minus before it, which may be a sign. */
  readonly isBehindMinus: boolean;
};

export type Shape = {
  /** The same for texts of one shape. */
  readonly key: string;
  readonly parameters: readonly ShapeParameter[];
  /** Start and end of each token that is not the same in all texts of the shape, and the end. */
  readonly offsets: readonly number[];
};

/** Stands before what replaces a token in a key. */
const SEPARATOR = '\0';

/**
 * The shape of a text with these bind parameters; `undefined` when it has invalid tokens, or more
 * than `maxTokens`.
 */
export function shapeOf(
  text: string,
  maxTokens: number,
  bound?: ReadonlyMap<string, BindParameter>,
): Shape | undefined {
  if (text.includes(SEPARATOR)) return undefined;
  const lexer = new Lexer(text);
  const parameters: ShapeParameter[] = [];
  const offsets: number[] = [];
  const section = new Section();
  let key = '';
  let keyEnd = 0;
  let before: Token | undefined;
  const replace = ({ start, end }: Token, replacement: string): void => {
    key += text.slice(keyEnd, start) + SEPARATOR + replacement;
    keyEnd = end;
    offsets.push(start, end);
  };
  for (let count = 0; ; count++) {
    let token = lexer.next();
    const isBound = token.kind === 'parameter';
    if (isBound) token = parameterToken(token, bound);
    if (token.kind === 'end') {
      offsets.push(text.length);
      return { key: key + text.slice(keyEnd), parameters, offsets };
    }
    if (token.fixed === '/' && before !== undefined && beginsRegex(before)) {
      token = lexer.regexAt(token.start);
    }
    const mark = MARKS.get(token.kind);
    if (mark === undefined || count === maxTokens) return undefined;
    const kind = section.parameterKind(token, before);
    if (kind !== undefined) {
      parameters.push({ token, isLimit: kind === 'limit', isBehindMinus: before?.fixed === '-' });
      replace(token, mark);
    } else if (isBound) {
      if (token.text.includes(SEPARATOR)) return undefined;
      replace(token, mark + token.text + SEPARATOR);
    }
    before = token;
  }
}

/** Marks of the kinds of tokens in keys. */
const MARKS: ReadonlyMap<Token['kind'], string> = new Map([
  ['word', 'w'],
  ['symbol', 'o'],
  ['identifier', 'n'],
  ['string', 's'],
  ['regex', 'r'],
  ['integer', 'i'],
  ['number', 'f'],
  ['duration', 'd'],
]);

const LITERALS: ReadonlySet<Token['kind']> = new Set([
  'string',
  'integer',
  'number',
  'duration',
  'regex',
]);

const LIMITS: ReadonlySet<string> = new Set(['LIMIT', 'OFFSET', 'SLIMIT', 'SOFFSET']);

/** Words that may follow a condition. */
const BEHIND_CONDITION: ReadonlySet<string> = new Set(['GROUP', 'ORDER', ...LIMITS]);

/** The clause of a statement that the next token is in. */
class Section {
  /** Number of open parentheses. */
  #depth = 0;
  /** The numbers of open parentheses where the unfinished conditions began. */
  readonly #conditions: number[] = [];

  /** The kind of a parameter; `undefined` for other tokens. */
  parameterKind(token: Token, before: Token | undefined): 'condition' | 'limit' | undefined {
    const { fixed, kind } = token;
    if (this.#endsCondition(token, before)) this.#conditions.pop();
    if (fixed === '(') this.#depth++;
    else if (fixed === ')') this.#depth--;
    else if (fixed === 'WHERE') this.#conditions.push(this.#depth);
    else if (LITERALS.has(kind)) {
      if (before !== undefined && LIMITS.has(before.fixed)) return 'limit';
      if (this.#conditions.length > 0) return 'condition';
    }
    return undefined;
  }

  #endsCondition({ fixed, kind }: Token, before: Token | undefined): boolean {
    const depth = this.#conditions.at(-1);
    if (depth === undefined || this.#depth > depth) return false;
    if (fixed === ')' || fixed === ';' || BEHIND_CONDITION.has(fixed)) return true;
    // `fill(…)` and `tz(…)` are no keywords: a name after an operand begins them.
    return kind === 'identifier' && before !== undefined && isOperand(before);
  }
}

function isOperand({ kind, fixed }: Token): boolean {
  return (
    LITERALS.has(kind) ||
    kind === 'identifier' ||
    fixed === ')' ||
    fixed === 'TRUE' ||
    fixed === 'FALSE'
  );
}
