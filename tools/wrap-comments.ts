// Wraps comments, as the formatter wraps code.
import { parseSync } from 'oxc-parser';
import type { ParseResult } from 'oxc-parser';

/** Columns that a line has at most. */
export const WIDTH = 100;

/** A line of a file that is nothing but (a part of) a comment. */
type CommentLine = {
  /** Blanks and the marks of a comment. */
  readonly lead: string;
  readonly words: string;
  /** The comment that begins and ends on this line. */
  readonly isWhole: boolean;
};

/**
 * The text with its comments wrapped; and the lines (from 1) of those that somebody has to move.
 */
export function wrapComments(
  file: string,
  text: string,
): { readonly text: string; readonly left: number[] } {
  const lines = text.split('\n');
  const { comments, behindCode } = commentLines(file, text);
  const out: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const comment = comments.get(i);
    if (comment === undefined || width(line) <= WIDTH || !comment.words.includes(' ')) {
      out.push(line);
      continue;
    }
    const { words } = comment;
    if (comment.isWhole) {
      const indent = comment.lead.slice(0, comment.lead.indexOf('/'));
      out.push(`${indent}/**`, ...filled(`${indent} * `, words.split(' ')), `${indent} */`);
      continue;
    }
    const isItem = /^[-*] /.test(words);
    const paragraph = words.split(' ');
    for (let next = comments.get(i + 1); next !== undefined; next = comments.get(i + 1)) {
      const further = isItem ? next.words.replace(/^ {2}(?=\S)/, '') : next.words;
      if (next.lead.trimEnd() !== comment.lead.trimEnd() || OWN_PARAGRAPH.test(further)) break;
      paragraph.push(...further.split(' '));
      i++;
    }
    out.push(...filled(comment.lead, paragraph, isItem ? '  ' : ''));
  }
  return { text: out.join('\n'), left: behindCode.filter((i) => width(lines[i - 1]!) > WIDTH) };
}

/** An item of a list, a row of a table, an example, a tag, a word to a tool, or nothing. */
const OWN_PARAGRAPH = /^(\s|[-*|@/#]|```|\d+\.\s|eslint|oxlint|$)/;

/** The tree of a file, its comments, and their places in the text. */
export function parseSource(file: string, text: string): ParseResult {
  // What AssemblyScript writes before functions is none of the grammar's.
  const plain = text.replace(/^\s*@\w+(\([^)\n]*\))?/gm, (all) => all.replace(/[^\n]/g, ' '));
  const parsed = parseSync(file, plain);
  if (parsed.errors.length > 0) throw new Error(`${file}: ${parsed.errors[0]!.message}`);
  return parsed;
}

function commentLines(file: string, text: string) {
  const lines = text.split('\n');
  const comments = new Map<number, CommentLine>();
  const behindCode: number[] = [];
  const starts = lineStarts(lines);
  for (const { type, start, end } of parseSource(file, text).comments) {
    const first = lineAt(starts, start);
    const last = lineAt(starts, end - 1);
    if (lines[first]!.slice(0, start - starts[first]!).trim() !== '') {
      behindCode.push(first + 1);
      continue;
    }
    for (let i = first; i <= last; i++) {
      const pattern = type === 'Line' ? /^(\s*\/\/ ?)(.*)$/ : /^(\s*(?:\/\*\*?|\*) ?)(.*)$/;
      const [, lead, words] = pattern.exec(lines[i]!) ?? [];
      if (lead === undefined || words === undefined || /^(@ts-|eslint|oxlint)/.test(words))
        continue;
      const isWhole = type === 'Block' && first === last;
      if (type === 'Block' && !isWhole && (i === first || i === last)) continue;
      comments.set(i, {
        lead,
        words: (isWhole ? words.replace('*/', '') : words).trimEnd(),
        isWhole,
      });
    }
  }
  return { comments, behindCode };
}

export function lineStarts(lines: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return starts;
}

export function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  for (let high = starts.length; low + 1 < high;) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Lines of words that fit the width; those behind the first are indented by `hang`. */
function filled(lead: string, words: readonly string[], hang = ''): string[] {
  const out: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of words) {
    if (!isEmpty && width(line) + 1 + width(word) > WIDTH) {
      out.push(line);
      line = lead + hang;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...out, line];
}

/** Characters, as an editor counts them. */
export function width(line: string): number {
  return [...line].length;
}
