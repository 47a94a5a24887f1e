// Finds the position where a text stops being JSON, in the words that clients of `params` know.

import { own } from '@tidemark/core';

type Fault = string | undefined;

const WORDS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const END = 'unexpected EOF';
const ESCAPES = '"\\/bfnrt';

/**
 * The first mistake in a JSON value; `undefined` when there is none. Text after the value is
 * ignored. Reads without recursion, so that depth costs no stack.
 */
export function jsonFault(text: string): string | undefined {
  // Positions and characters are those of bytes.
  return new FaultFinder(Buffer.from(text, 'utf8').toString('latin1')).find();
}

class FaultFinder {
  readonly #text: string;
  #at = 0;
  /** Open brackets, outermost first. */
  readonly #open: ('{' | '[')[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  find(): Fault {
    if (this.#peek() === '') return 'EOF';
    for (;;) {
      const fault = this.#value();
      if (fault !== undefined) return fault;
      const step = this.#afterValue();
      if (step === 'done') return undefined;
      if (step !== 'next') return step;
    }
  }

  /**
   * Reads up to the end of a scalar, an empty list or object, or the place of the first inner
   * value.
   */
  #value(): Fault {
    for (;;) {
      const char = this.#peek();
      if (char === '[' || char === '{') {
        this.#at++;
        this.#open.push(char);
        const next = this.#peek();
        if (next === (char === '[' ? ']' : '}')) return undefined;
        const fault = char === '{' ? this.#key() : undefined;
        if (fault !== undefined) return fault;
        continue;
      }
      if (char === '"') return this.#string();
      if (char === '-' || isDigit(char)) return this.#number();
      const word = own(WORDS, char);
      return word === undefined ? this.#wrong('looking for beginning of value') : this.#word(word);
    }
  }

  /** Closes lists and objects that end here; `next` when another value follows. */
  #afterValue(): 'done' | 'next' | (string & {}) {
    for (;;) {
      const container = this.#open.at(-1);
      if (container === undefined) return 'done';
      const char = this.#peek();
      if (char === (container === '{' ? '}' : ']')) {
        this.#at++;
        this.#open.pop();
        continue;
      }
      if (char !== ',') {
        return this.#wrong(
          container === '{' ? 'after object key:value pair' : 'after array element',
        );
      }
      this.#at++;
      return (container === '{' ? this.#key() : undefined) ?? 'next';
    }
  }

  #key(): Fault {
    if (this.#peek() !== '"') return this.#wrong('looking for beginning of object key string');
    const fault = this.#string();
    if (fault !== undefined) return fault;
    if (this.#peek() !== ':') return this.#wrong('after object key');
    this.#at++;
    return undefined;
  }

  #string(): Fault {
    for (this.#at++; ; this.#at++) {
      const char = this.#text.charAt(this.#at);
      if (char === '"') break;
      if (char === '' || char < ' ') return this.#wrong('in string literal');
      if (char !== '\\') continue;
      this.#at++;
      const escape = this.#text.charAt(this.#at);
      if (escape === 'u') {
        for (let i = 0; i < 4; i++) {
          this.#at++;
          if (!/^[\da-fA-F]$/.test(this.#text.charAt(this.#at))) {
            return this.#wrong(String.raw`in \u hexadecimal character escape`);
          }
        }
      } else if (escape === '' || !ESCAPES.includes(escape)) {
        return this.#wrong('in string escape code');
      }
    }
    this.#at++;
    return undefined;
  }

  #number(): Fault {
    if (this.#text.charAt(this.#at) === '-') this.#at++;
    if (!isDigit(this.#text.charAt(this.#at))) return this.#wrong('in numeric literal');
    if (this.#text.charAt(this.#at) === '0') this.#at++;
    else this.#digits();
    if (this.#text.charAt(this.#at) === '.') {
      this.#at++;
      if (!this.#digits()) return this.#wrong('after decimal point in numeric literal');
    }
    if (/^[eE]$/.test(this.#text.charAt(this.#at))) {
      this.#at++;
      if (/^[+-]$/.test(this.#text.charAt(this.#at))) this.#at++;
      if (!this.#digits()) return this.#wrong('in exponent of numeric literal');
    }
    return undefined;
  }

  #digits(): boolean {
    const start = this.#at;
    while (isDigit(this.#text.charAt(this.#at))) this.#at++;
    return this.#at > start;
  }

  #word(word: string): Fault {
    for (const expected of word) {
      if (this.#text.charAt(this.#at) !== expected) {
        return this.#wrong(`in literal ${word} (expecting '${expected}')`);
      }
      this.#at++;
    }
    return undefined;
  }

  /** The next character that is no white space; empty at the end. */
  #peek(): string {
    while (/^[ \t\r\n]$/.test(this.#text.charAt(this.#at))) this.#at++;
    return this.#text.charAt(this.#at);
  }

  #wrong(where: string): string {
    const char = this.#text.charAt(this.#at);
    return char === '' ? END : `invalid character ${quoted(char)} ${where}`;
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9' && char !== '';
}

const NAMED: Readonly<Record<string, string>> = {
  "'": String.raw`'\''`,
  '"': `'"'`,
  '\\': String.raw`'\\'`,
  '\u0007': String.raw`'\a'`,
  '\b': String.raw`'\b'`,
  '\f': String.raw`'\f'`,
  '\n': String.raw`'\n'`,
  '\r': String.raw`'\r'`,
  '\t': String.raw`'\t'`,
  '\v': String.raw`'\v'`,
};

function quoted(char: string): string {
  const named = NAMED[char];
  if (named !== undefined) return named;
  const code = char.charCodeAt(0);
  if (code < 0x20 || code === 0x7f) return String.raw`'\x${code.toString(16).padStart(2, '0')}'`;
  // Between DEL and the first printable character of Latin-1.
  return code >= 0x80 && code <= 0xa0
    ? String.raw`'\u${code.toString(16).padStart(4, '0')}'`
    : `'${char}'`;
}
