// The shape of a statement's text: the text without the literals of its conditions (times, strings,
// regular expressions), which may differ when the statement is repeated. Only whole tokens are cut
// out, as far as this module can tell; callers verify that with the tree of the first text of a
// shape. The result then holds for all texts of that shape, because they are the same before and
// after each token.

/** Stands for what is cut out. */
const CUT = '\0';

/**
 * What is cut out, then what may look like it and is not. A slash and an asterisk begin a comment,
 * even where a regular expression may be.
 */
const CUTS =
  /([=<>]\s*)('[^'\\\r\n]*')|([=!]~\s*)(\/(?!\*)(?:[^/\\\r\n]|\\[^/\\\r\n])+\/)|('\d{4}-\d\d-\d\d[\dTZ:. -]*'|\b[1-9]\d{9,18}(?:ns|u|ms|s)?\b)|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

type Found = readonly [
  whole: string,
  before?: string,
  compared?: string,
  beforePattern?: string,
  pattern?: string,
  time?: string,
];

export type TextForm = {
  readonly form: string;
  /** Strings with their quotes, and numbers, in the order of the text. */
  readonly cuts: readonly string[];
};

/** Whether a text is told from its form: no text with a form contains what stands for a cut. */
export function hasForm(text: string): boolean {
  return !text.includes(CUT);
}

/** Cuts a text. */
export function formOf(text: string): TextForm {
  const cuts: string[] = [];
  const form = text.replace(CUTS, (...found) => {
    const [whole, before, compared, beforePattern, pattern, time] = found as unknown as Found;
    const cut = compared ?? pattern ?? time;
    if (cut === undefined) return whole;
    cuts.push(cut);
    return (before ?? beforePattern ?? '') + markOf(cut);
  });
  return { form, cuts };
}

function markOf(cut: string): string {
  if (cut.startsWith("'")) return `'${CUT}'`;
  return cut.startsWith('/') ? `/${CUT}/` : CUT;
}

/** Where the cuts of a text begin. */
export function placesOfCuts(text: string): readonly number[] {
  const places: number[] = [];
  for (const { index, 1: before, 3: beforePattern, 5: time } of text.matchAll(CUTS)) {
    const lead = before ?? beforePattern;
    if (lead !== undefined) places.push(index + lead.length);
    else if (time !== undefined) places.push(index);
  }
  return places;
}
