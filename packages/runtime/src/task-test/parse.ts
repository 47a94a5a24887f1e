// Task tests as files: a script, points at virtual times, and what is expected to come out.
//
//   script
//       stream|from().measurement('m')|window().period(10s).every(10s)|mean('v')|httpOut('out')
//   write
//       m v=1 1704067200
//       m v=3 1704067211
//   emits http_out4
//       {"name":"m","columns":["time","mean"],"values":[["2024-01-01T00:00:10Z",1]]}
//
// Sections start in the first column, their lines are indented. `#` starts a comment line.

/** One section. `line` is the one-based line of its head. */
export type Section = {
  readonly kind: SectionKind;
  readonly argument: string;
  readonly lines: readonly string[];
  readonly line: number;
};

const KINDS = [
  'dbrp',
  'precision',
  'script',
  'var',
  'write',
  'query-result',
  'advance',
  'finish',
  'emits',
  'output',
  'events',
  'errors',
  'fails',
] as const;

export type SectionKind = (typeof KINDS)[number];

export type ParsedTaskTest = {
  readonly sections: readonly Section[];
  readonly mistakes: readonly { readonly line: number; readonly text: string }[];
};

/** Parses a file. Mistakes do not stop it. */
export function parseTaskTest(text: string): ParsedTaskTest {
  const sections: { kind: SectionKind; argument: string; lines: string[]; line: number }[] = [];
  const mistakes: { line: number; text: string }[] = [];
  text.split(/\r?\n/).forEach((raw, i) => {
    const line = i + 1;
    if (/^\s*$/.test(raw) || raw.startsWith('#')) {
      // Blank lines belong to scripts.
      if (raw.trim() === '' && sections.at(-1)?.kind === 'script') sections.at(-1)?.lines.push('');
      return;
    }
    const current = sections.at(-1);
    if (/^(?: {4}|\t)/.test(raw)) {
      if (current === undefined) mistakes.push({ line, text: 'an indented line needs a section' });
      else current.lines.push(raw.replace(/^(?: {4}|\t)/, ''));
      return;
    }
    const match = /^([a-z-]+)(?:\s+(.*))?$/.exec(raw.trimEnd());
    const kind = KINDS.find((known) => known === match?.[1]);
    if (kind === undefined) {
      mistakes.push({ line, text: `unknown section, expected one of ${KINDS.join(', ')}` });
      return;
    }
    sections.push({ kind, argument: match?.[2] ?? '', lines: [], line });
  });
  return { sections, mistakes };
}
