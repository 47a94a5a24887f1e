// Words and constructions that make a reader stop, with what to write instead. Lint looks for them
// in comments and in documents, not in code, strings or quoted text.
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['can not', 'cannot'],
  ['for ever', 'forever'],
  ['one behind the other', 'one after another'],
  ['anew', 'again'],
  ['in vain', 'without success'],
  ['to whom', 'a relative clause after its noun: users without grants'],
]);

const PATTERN = new RegExp(
  String.raw`\b(?:${[...REPLACEMENTS.keys()].join('|').replaceAll(' ', String.raw`\s+`)})\b`,
  'gi',
);

export type WordFault = { readonly line: number; readonly found: string; readonly instead: string };

/** The faults of a document (`.md`) or of the comments of a source file. */
export function wordFaults(file: string, text: string): readonly WordFault[] {
  const prose = file.endsWith('.md') ? withoutCode(text) : comments(text);
  return [...prose.matchAll(PATTERN)].map(({ 0: found, index }) => {
    const words = found.toLowerCase().replaceAll(/\s+/g, ' ');
    return {
      line: prose.slice(0, index).split('\n').length,
      found: words,
      instead: REPLACEMENTS.get(words) ?? '',
    };
  });
}

/** Quoted text becomes blanks, so that lines keep their numbers. */
function withoutCode(text: string): string {
  return text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, (code) => code.replaceAll(/[^\n]/g, ' '));
}

/** Lines that are comments, without their marks; all other lines are empty. */
function comments(text: string): string {
  const lines = text.split('\n').map((line) => /^\s*(?:\/\/|\/\*\*|\*)(.*)$/.exec(line)?.[1] ?? '');
  return withoutCode(lines.join('\n'));
}
