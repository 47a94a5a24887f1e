// Syntax check of regular expressions (RE2 rules) with the texts of existing tools. Only checks
// whether an expression is well formed; the engine that runs tasks compiles it.

const MAX_REPEAT = 1000;
const MAX_GROUP_DEPTH = 1000;

/** `error parsing regexp: …` for what RE2 refuses; `undefined` for a well-formed expression. */
export function checkRegexSyntax(pattern: string): string | undefined {
  try {
    new RegexChecker(pattern).run();
    return undefined;
  } catch (error) {
    // Only errors in the pattern are expected here; everything else is a bug and is rethrown.
    if (!(error instanceof RegexFailure)) throw error;
    return `error parsing regexp: ${error.message}`;
  }
}

class RegexFailure extends Error {
  override readonly name = 'RegexFailure';

  constructor(problem: string, part: string) {
    super(`${problem}: \`${part}\``);
  }
}

const POSIX_CLASSES = new Set(
  'alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit'.split(' '),
);

type Repetition = { readonly text: string; readonly count: number };

class RegexChecker {
  readonly #pattern: string;
  readonly #groupNames = new Set<string>();
  #index = 0;
  #depth = 0;
  /**
   * Counted repetitions inside each other multiply: the largest product in every open group,
   * innermost last.
   */
  readonly #products: number[] = [1];
  /** The product inside the element read last. */
  #lastProduct = 1;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** One pass without recursion: what can be repeated is tracked per position. */
  run(): void {
    let canRepeat = false;
    let repeatStart = -1;
    while (this.#index < this.#pattern.length) {
      const start = this.#index;
      const char = this.#pattern.charAt(start);
      const repeat = this.#repetitionAt(start);
      if (repeat !== undefined) {
        if (!canRepeat) {
          throw new RegexFailure('missing argument to repetition operator', repeat.text);
        }
        this.#index = start + repeat.text.length;
        this.#multiply(repeat);
        if (repeatStart >= 0) {
          const both = this.#pattern.slice(repeatStart, this.#index);
          throw new RegexFailure('invalid nested repetition operator', both);
        }
        repeatStart = start;
        continue;
      }
      repeatStart = -1;
      canRepeat = this.#element(char, canRepeat);
    }
    if (this.#depth > 0) throw new RegexFailure('missing closing )', this.#pattern);
  }

  /** Reads one element that is no repetition; returns whether a repetition may follow. */
  #element(char: string, canRepeatBefore: boolean): boolean {
    if (char === '(') {
      // Flags alone do not change what can be repeated before them.
      if (this.#open() === 'flags') return canRepeatBefore;
      this.#products.push(1);
      return false;
    }
    this.#lastProduct = 1;
    switch (char) {
      case ')':
        if (this.#depth === 0) throw new RegexFailure('unexpected )', this.#pattern);
        this.#depth--;
        this.#index++;
        this.#lastProduct = this.#products.pop() ?? 1;
        this.#noteProduct(this.#lastProduct);
        return true;
      case '|':
        this.#index++;
        return false;
      case '[':
        this.#characterClass();
        return true;
      case '\\':
        this.#escapeOrQuotation();
        return true;
      default:
        this.#index++;
        return true;
    }
  }

  /** `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}` with an optional `?`; any other brace is a literal. */
  #repetitionAt(index: number): Repetition | undefined {
    const match = /(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/y;
    match.lastIndex = index;
    const found = match.exec(this.#pattern);
    if (found === null) return undefined;
    const least = Number(found[1] ?? 0);
    const most = found[2] === undefined || found[2] === '' ? least : Number(found[2]);
    if (least > MAX_REPEAT || most > MAX_REPEAT || most < least) {
      throw new RegexFailure('invalid repeat count', found[0].replace(/\?$/, ''));
    }
    return { text: found[0], count: Math.max(1, most) };
  }

  #multiply({ text, count }: Repetition): void {
    this.#lastProduct *= count;
    if (this.#lastProduct > MAX_REPEAT) {
      throw new RegexFailure('invalid repeat count', text.replace(/(.)\?$/, '$1'));
    }
    this.#noteProduct(this.#lastProduct);
  }

  #noteProduct(product: number): void {
    const top = this.#products.length - 1;
    this.#products[top] = Math.max(this.#products[top] ?? 1, product);
  }

  #open(): 'group' | 'flags' {
    if (++this.#depth > MAX_GROUP_DEPTH) {
      throw new RegexFailure('expression nests too deeply', this.#pattern);
    }
    const rest = this.#pattern.slice(this.#index);
    if (!rest.startsWith('(?')) {
      this.#index++;
      return 'group';
    }
    const named = /^\(\?P?<([^>]*)>/.exec(rest);
    if (named !== null && !/^\(\?<[=!]/.test(rest)) {
      const name = named[1] ?? '';
      if (!/^[A-Za-z0-9_]+$/.test(name)) throw new RegexFailure('invalid named capture', named[0]);
      if (this.#groupNames.has(name)) throw new RegexFailure('duplicate capture group name', name);
      this.#groupNames.add(name);
      this.#index += named[0].length;
      return 'group';
    }
    if (rest.startsWith('(?P<')) throw new RegexFailure('invalid named capture', rest);
    const flags = /^\(\?(?:[imsU]+(?:-[imsU]+)?|-[imsU]+)?([:)])/.exec(rest);
    if (flags === null) {
      const part = /^\(\?(?:<?[=!]|[imsU-]*.?)/s.exec(rest)?.[0] ?? rest;
      throw new RegexFailure('invalid or unsupported Perl syntax', part);
    }
    this.#index += flags[0].length;
    if (flags[1] === ':') return 'group';
    this.#depth--;
    return 'flags';
  }

  #escapeOrQuotation(): void {
    if (this.#pattern.startsWith('\\Q', this.#index)) {
      const end = this.#pattern.indexOf('\\E', this.#index);
      this.#index = end < 0 ? this.#pattern.length : end + 2;
      return;
    }
    if (/^\\[AzbB]/.test(this.#pattern.slice(this.#index, this.#index + 2))) {
      this.#index += 2;
      return;
    }
    this.#escape();
  }

  /** An escaped character or class; returns its code point, -1 for a class. */
  #escape(): number {
    const rest = this.#pattern.slice(this.#index);
    if (rest === '\\') throw new RegexFailure('trailing backslash at end of expression', '');
    const perlClass = /^\\[dDsSwW]/.exec(rest)?.[0];
    const literal = escapedCharacter(rest);
    const unicode = /^\\[pP](?:\{\^?([^}]*)\}|(.))/u.exec(rest);
    if (perlClass !== undefined) {
      this.#index += perlClass.length;
    } else if (literal !== undefined) {
      this.#index += literal.length;
      return literal.codePoint;
    } else if (unicode !== null) {
      if (!isUnicodeClass(unicode[1] ?? unicode[2] ?? '')) {
        throw new RegexFailure('invalid character class range', unicode[0]);
      }
      this.#index += unicode[0].length;
    } else {
      throw new RegexFailure('invalid escape sequence', /^\\./su.exec(rest)?.[0] ?? rest);
    }
    return -1;
  }

  #characterClass(): void {
    const start = this.#index;
    const unclosed = new RegexFailure('missing closing ]', this.#pattern.slice(start));
    this.#index++;
    if (this.#pattern[this.#index] === '^') this.#index++;
    for (let isFirst = true; ; isFirst = false) {
      if (this.#index >= this.#pattern.length) throw unclosed;
      if (this.#pattern[this.#index] === ']' && !isFirst) break;
      if (this.#posixClass()) continue;
      const rangeStart = this.#index;
      const low = this.#classCharacter(unclosed);
      const isRange =
        low >= 0 && this.#pattern[this.#index] === '-' && this.#pattern[this.#index + 1] !== ']';
      if (!isRange) continue;
      this.#index++;
      if (this.#index >= this.#pattern.length) throw unclosed;
      const high = this.#classCharacter(unclosed);
      if (high < low) {
        const range = this.#pattern.slice(rangeStart, this.#index);
        throw new RegexFailure('invalid character class range', range);
      }
    }
    this.#index++;
  }

  #posixClass(): boolean {
    const rest = this.#pattern.slice(this.#index, this.#index + 20);
    const found = /^\[:\^?(\w*):\]/.exec(rest);
    if (found === null) return false;
    if (!POSIX_CLASSES.has(found[1] ?? '')) {
      throw new RegexFailure('invalid character class range', found[0]);
    }
    this.#index += found[0].length;
    return true;
  }

  #classCharacter(unclosed: RegexFailure): number {
    if (this.#pattern[this.#index] === '\\') return this.#escape();
    const code = this.#pattern.codePointAt(this.#index);
    if (code === undefined) throw unclosed;
    this.#index += code > 0xffff ? 2 : 1;
    return code;
  }
}

const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
]);

function escapedCharacter(
  rest: string,
): { readonly length: number; readonly codePoint: number } | undefined {
  const hex = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
  if (hex !== null) {
    const codePoint = Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
    return codePoint > 0x10ffff ? undefined : { length: hex[0].length, codePoint };
  }
  const octal = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest)?.[0];
  if (octal !== undefined) {
    return { length: octal.length, codePoint: Number.parseInt(octal.slice(1), 8) };
  }
  const char = rest.charAt(1);
  const control = CONTROL_ESCAPES.get(char);
  if (control !== undefined) return { length: 2, codePoint: control };
  if (/^[\x20-\x7e]$/.test(char) && !/[0-9A-Za-z]/.test(char)) {
    return { length: 2, codePoint: char.charCodeAt(0) };
  }
  return undefined;
}

/** General categories (`Lu`) and scripts (`Greek`), which JavaScript also supports. */
function isUnicodeClass(name: string): boolean {
  if (name === 'Any') return true;
  if (!/^[A-Za-z_]+$/.test(name)) return false;
  return [`\\p{General_Category=${name}}`, `\\p{Script=${name}}`].some((source) => {
    try {
      return new RegExp(source, 'u').source !== '';
    } catch {
      // JavaScript refuses unknown names.
      return false;
    }
  });
}
