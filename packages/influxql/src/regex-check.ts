// A light check of RE2 syntax, which finds the most common mistakes where no regular expression
// engine is available (editors). It accepts everything that RE2 accepts; callers with an engine
// pass their own `checkRegex`.

/** Describes the error of a pattern: `error parsing regexp: …`; `undefined` when none was found. */
export function checkRegexLightly(pattern: string): string | undefined {
  const problem = new Scan(pattern).run();
  return problem === undefined ? undefined : `error parsing regexp: ${problem}`;
}

class Scan {
  readonly #pattern: string;
  #offset = 0;
  #openGroups = 0;
  /** Start of the operand of a repetition, `undefined` if there is none. */
  #operandStart: number | undefined;
  #repetitionStart: number | undefined;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  run(): string | undefined {
    while (this.#offset < this.#pattern.length) {
      const problem = this.#step();
      if (problem !== undefined) return problem;
    }
    if (this.#openGroups > 0) return `missing closing ): \`${this.#pattern}\``;
    return undefined;
  }

  #step(): string | undefined {
    const start = this.#offset;
    const character = this.#pattern.charAt(start);
    switch (character) {
      case '\\':
        return this.#escape(start);
      case '[':
        return this.#characterClass(start);
      case '(':
        return this.#open(start);
      case ')':
        if (this.#openGroups === 0) return `unexpected ): \`${this.#pattern}\``;
        this.#openGroups--;
        this.#operand(start, start + 1);
        return undefined;
      case '|':
        this.#offset++;
        this.#operandStart = undefined;
        this.#repetitionStart = undefined;
        return undefined;
      case '*':
      case '+':
      case '?':
        return this.#repetition(start, start + 1);
      case '{':
        return this.#braces(start);
      default:
        this.#operand(start, start + 1);
        return undefined;
    }
  }

  #operand(start: number, end: number): undefined {
    this.#operandStart = start;
    this.#repetitionStart = undefined;
    this.#offset = end;
    return undefined;
  }

  #escape(start: number): string | undefined {
    const next = this.#pattern.charAt(start + 1);
    if (next === '') return 'trailing backslash at end of expression: ``';
    if (next === 'Q') {
      const close = this.#pattern.indexOf('\\E', start + 2);
      return this.#operand(start, close < 0 ? this.#pattern.length : close + 2);
    }
    // A single digit would be a backreference, which RE2 does not have; two are an octal code.
    const isOctal = /^[1-7][0-7]/.test(this.#pattern.slice(start + 1, start + 3));
    const isKnown = /[^A-Za-z1-9\u0080-\uffff]|[aftnrvxpPdDsSwWbBAzC]/.test(next);
    if (!isKnown && !isOctal) return `invalid escape sequence: \`\\${next}\``;
    return this.#operand(start, start + 2);
  }

  #characterClass(start: number): string | undefined {
    let i = start + 1;
    if (this.#pattern.charAt(i) === '^') i++;
    // A bracket in first place is an ordinary member.
    if (this.#pattern.charAt(i) === ']') i++;
    for (; i < this.#pattern.length; i++) {
      const character = this.#pattern.charAt(i);
      if (character === '\\') {
        i++;
      } else if (character === '[' && this.#pattern.charAt(i + 1) === ':') {
        const close = this.#pattern.indexOf(':]', i + 2);
        if (close >= 0) i = close + 1;
      } else if (character === ']') {
        return this.#operand(start, i + 1);
      }
    }
    return `missing closing ]: \`${this.#pattern.slice(start)}\``;
  }

  #open(start: number): string | undefined {
    const rest = this.#pattern.slice(start);
    if (rest.startsWith('(?')) {
      const named = /^\(\?P?<([^>]*)>/.exec(rest);
      const flags = /^\(\?[imsU]*(?:-[imsU]+)?([:)])/.exec(rest);
      if (named !== null) {
        if (!/^\w+$/.test(named[1] ?? '')) return `invalid named capture: \`${named[0]}\``;
        this.#offset = start + named[0].length;
      } else if (flags !== null) {
        this.#offset = start + flags[0].length;
        if (flags[1] === ')') return undefined;
      } else {
        return `invalid or unsupported Perl syntax: \`${rest.slice(0, rest.startsWith('(?<') ? 4 : 3)}\``;
      }
    } else {
      this.#offset = start + 1;
    }
    this.#openGroups++;
    this.#operandStart = undefined;
    this.#repetitionStart = undefined;
    return undefined;
  }

  #repetition(start: number, end: number): string | undefined {
    const isLazy = this.#pattern.charAt(end) === '?';
    const operatorEnd = isLazy ? end + 1 : end;
    if (this.#repetitionStart !== undefined) {
      const operators = this.#pattern.slice(this.#repetitionStart, operatorEnd);
      return `invalid nested repetition operator: \`${operators}\``;
    }
    if (this.#operandStart === undefined) {
      const operator = this.#pattern.slice(start, operatorEnd);
      return `missing argument to repetition operator: \`${operator}\``;
    }
    this.#repetitionStart = start;
    this.#offset = operatorEnd;
    return undefined;
  }

  #braces(start: number): string | undefined {
    const counts = /^\{(\d+)(?:,(\d*))?\}/.exec(this.#pattern.slice(start, start + 32));
    // A brace that does not begin a repetition is an ordinary character.
    if (counts === null) return this.#operand(start, start + 1);
    const least = Number(counts[1]);
    const most = counts[2] === undefined || counts[2] === '' ? least : Number(counts[2]);
    if (least > 1000 || most > 1000 || most < least) {
      return `invalid repeat count: \`${counts[0]}\``;
    }
    return this.#repetition(start, start + counts[0].length);
  }
}
