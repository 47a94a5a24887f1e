// Regular expressions of scripts: RE2 syntax in linear time. Tag values repeat, so results are
// cached per text.
import { RE2JS } from 're2js';

export interface Regex {
  readonly pattern: string;
  test(text: string): boolean;
  /** Replaces all matches; `$1`, `${1}` and `$name` expand. */
  replaceAll(text: string, replacement: string): string;
}

const REMEMBERED_MAX = 4096;
const compiled = new Map<string, Regex>();

/** Compiles once per pattern. Throws when the pattern is not RE2 (scripts are checked before). */
export function compileRegex(pattern: string): Regex {
  let regex = compiled.get(pattern);
  if (regex === undefined) {
    if (compiled.size >= REMEMBERED_MAX) compiled.clear();
    regex = new ScriptRegex(pattern);
    compiled.set(pattern, regex);
  }
  return regex;
}

class ScriptRegex implements Regex {
  readonly pattern: string;
  readonly #re: RE2JS;
  readonly #quick: ((text: string) => boolean) | undefined;
  readonly #remembered = new Map<string, boolean>();

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#re = RE2JS.compile(pattern);
    this.#quick = literalTest(pattern);
  }

  test(text: string): boolean {
    if (this.#quick !== undefined) return this.#quick(text);
    let result = this.#remembered.get(text);
    if (result === undefined) {
      // The deterministic automaton only tells whether there is a match: a tenth to half of the
      // time of finding it.
      result = this.#re.test(text);
      if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
      this.#remembered.set(text, result);
    }
    return result;
  }

  replaceAll(text: string, replacement: string): string {
    const names = this.#re.namedGroups();
    const matcher = this.#re.matcher(text);
    let out = '';
    let end = 0;
    while (matcher.find()) {
      const start = matcher.start();
      const stop = matcher.end();
      // An empty match right after a match is not a match of its own.
      if (start === stop && start === end && end > 0 && out !== '') continue;
      out += text.slice(end, start);
      out += expand(replacement, (group) => {
        const index = /^\d+$/.test(group) ? Number(group) : names[group];
        return index === undefined || index > this.#re.groupCount()
          ? ''
          : (matcher.group(index) ?? '');
      });
      end = stop;
    }
    return out + text.slice(end);
  }
}

/** `$name` takes the longest run of letters, digits and underscores; `$$` is a dollar. */
function expand(replacement: string, group: (name: string) => string): string {
  return replacement.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (all, name?: string, braced?: string) => {
    if (all === '$$') return '$';
    return group(name ?? braced ?? '');
  });
}

/** Patterns without operators need no automaton. */
function literalTest(pattern: string): ((text: string) => boolean) | undefined {
  const match = /^(\^?)((?:[\w\- :,/@%&=~;<>"'!#]|\\[.\-/+*?|()[\]{}^$\\])*)(\$?)$/.exec(pattern);
  if (match === null) return undefined;
  const [, start, body = '', end] = match;
  const literal = body.replace(/\\(.)/g, '$1');
  if (start !== '' && end !== '') return (text) => text === literal;
  if (start !== '') return (text) => text.startsWith(literal);
  if (end !== '') return (text) => text.endsWith(literal);
  return (text) => text.includes(literal);
}
