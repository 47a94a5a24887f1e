// Contextual escaping of details: the position of a value in the HTML decides how it is escaped.
import { wellFormed } from './functions.ts';

/** Tracks the context while literal text is written. */
export class HtmlContext {
  #state: 'text' | 'tag' | 'attribute' | 'comment' | 'raw' = 'text';
  #quote = '';
  #attribute = '';
  #rawEnd = '';
  #atAttributeStart = true;

  /** Literal text of the template; comments are dropped. */
  text(text: string): string {
    let out = '';
    let i = 0;
    while (i < text.length) {
      const [length, keep] = this.#step(text, i);
      if (keep) out += text.slice(i, i + length);
      i += length;
    }
    return out;
  }

  /**
   * A value in the present context; one that `html` has escaped is not escaped again between tags.
   */
  value(text: string, isEscaped = false): string {
    const isUrl = this.#state === 'attribute' && URL_ATTRIBUTES.has(this.#attribute);
    const isScript =
      (this.#state === 'raw' && this.#rawEnd === '</script') ||
      (this.#state === 'attribute' && this.#attribute.startsWith('on'));
    if (isScript) {
      const json = JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (c) => unicode(c));
      return this.#state === 'attribute' ? escapeText(json) : json;
    }
    if (isUrl) {
      const isUnsafe =
        this.#atAttributeStart &&
        /^[a-z][a-z0-9+.-]*:/i.test(text) &&
        !/^(?:https?|mailto):/i.test(text);
      this.#atAttributeStart = false;
      return escapeText(
        isUnsafe ? '#ZgotmplZ' : encodeURI(wellFormed(text)).replaceAll('%25', '%'),
      );
    }
    if (this.#state === 'attribute') this.#atAttributeStart = false;
    return isEscaped ? text : escapeText(text);
  }

  /** Consumes something at `i`; returns its length and whether it is kept. */
  #step(text: string, i: number): [number, boolean] {
    const char = text[i] ?? '';
    switch (this.#state) {
      case 'text':
        if (text.startsWith('<!--', i)) {
          this.#state = 'comment';
          return [4, false];
        }
        if (char === '<' && /[a-zA-Z/]/.test(text[i + 1] ?? '')) {
          this.#state = 'tag';
          const name = /^<\/?([a-zA-Z]+)/.exec(text.slice(i))?.[0].toLowerCase() ?? '<';
          this.#rawEnd = name === '<script' || name === '<style' ? name.replace('<', '</') : '';
          return [name.length, true];
        }
        return [1, true];
      case 'comment':
        if (!text.startsWith('-->', i)) return [1, false];
        this.#state = 'text';
        return [3, false];
      case 'tag': {
        if (char === '>') {
          this.#state = this.#rawEnd === '' ? 'text' : 'raw';
          return [1, true];
        }
        const name = matchAt(ATTRIBUTE_NAME, text, i);
        if (name === null) return [1, true];
        const attribute = matchAt(ATTRIBUTE, text, i);
        if (attribute === null) return [name[0].length, true];
        this.#state = 'attribute';
        this.#attribute = (attribute[1] ?? '').toLowerCase();
        this.#quote = attribute[2] ?? '';
        this.#atAttributeStart = true;
        return [attribute[0].length, true];
      }
      case 'attribute':
        if (char === this.#quote) this.#state = 'tag';
        this.#atAttributeStart = false;
        return [1, true];
      case 'raw':
        if (text.slice(i, i + this.#rawEnd.length).toLowerCase() === this.#rawEnd) {
          this.#state = 'tag';
          const { length } = this.#rawEnd;
          this.#rawEnd = '';
          return [length, true];
        }
        return [1, true];
    }
  }
}

const ATTRIBUTE_NAME = /[^\s=>"'/]+/y;
const ATTRIBUTE = /([^\s=>"'/]+)\s*=\s*(["'])/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const URL_ATTRIBUTES: ReadonlySet<string> = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'cite',
  'poster',
]);

/** The ampersand comes first, because the other entities contain one. */
const ENTITIES: readonly (readonly [char: string, entity: string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ["'", '&#39;'],
  ['"', '&#34;'],
  ['+', '&#43;'],
  ['\0', '\uFFFD'],
];

/**
 * A value between tags. One pass for each character: details have a hundred quotes and little else,
 * and a callback for each costs more.
 */
export function escapeText(text: string): string {
  let escaped = text;
  for (const [char, entity] of ENTITIES) {
    if (escaped.includes(char)) escaped = escaped.replaceAll(char, entity);
  }
  return escaped;
}

const unicode = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
