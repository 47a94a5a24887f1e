// The text of task tests: a script, points at virtual times, and what is expected to come out.
//
//   test a mean every ten seconds
//   script
//       stream|from().measurement('m')|window().period(10s).every(10s)|mean('v')|httpOut('out')
//   write
//       m v=1 1704067200
//       m v=3 1704067211
//   emits out
//       {"name":"m","columns":["time","mean"],"values":[["2024-01-01T00:00:10Z",1]]}
//
// Sections start in the first column, their lines are indented. `#` starts a comment line. Facts:
// docs/guide/task-tests.md.

/** One section. `line` is the one-based line of its head. */
export type Section = {
  readonly kind: SectionKind;
  readonly argument: string;
  readonly lines: readonly string[];
  readonly line: number;
};

const KINDS = [
  // Sections that define the task.
  'id',
  'dbrp',
  'precision',
  'clock',
  'var',
  'vars',
  'handler',
  'script',
  // Sections that feed it.
  'write',
  'query-result',
  'advance',
  'finish',
  // Sections with expected output.
  'emits',
  'output',
  'events',
  'details',
  'log',
  'topic',
  'writes',
  'requests',
  'queries',
  'errors',
  'fails',
] as const;

export type SectionKind = (typeof KINDS)[number];

/**
 * One test: everything after a `test NAME` line up to the next; a file without such lines is one
 * test.
 */
export type TestCase = {
  readonly name: string;
  readonly line: number;
  readonly sections: readonly Section[];
};

export type Mistake = { readonly line: number; readonly text: string };

export type ParsedTaskTest = {
  readonly cases: readonly TestCase[];
  readonly mistakes: readonly Mistake[];
};

type MutableSection = { kind: SectionKind; argument: string; lines: string[]; line: number };
type MutableCase = { name: string; line: number; sections: MutableSection[] };

/** Parses a file. Continues after mistakes. */
export function parseTaskTest(text: string): ParsedTaskTest {
  const cases: MutableCase[] = [];
  const mistakes: Mistake[] = [];
  text.split(/\r?\n/).forEach((raw, i) => {
    const line = i + 1;
    const current = cases.at(-1)?.sections.at(-1);
    if (/^\s*$/.test(raw) || raw.startsWith('#')) {
      // Blank lines belong to scripts.
      if (raw.trim() === '' && current?.kind === 'script') current.lines.push('');
      return;
    }
    if (/^(?: {4}|\t)/.test(raw)) {
      if (current === undefined) mistakes.push({ line, text: 'an indented line needs a section' });
      else current.lines.push(raw.replace(/^(?: {4}|\t)/, ''));
      return;
    }
    const match = /^([a-z-]+)(?:\s+(.*))?$/.exec(raw.trimEnd());
    const argument = match?.[2] ?? '';
    if (match?.[1] === 'test') {
      cases.push({ name: argument, line, sections: [] });
      return;
    }
    const kind = KINDS.find((known) => known === match?.[1]);
    if (kind === undefined) {
      mistakes.push({ line, text: `unknown section, expected one of test, ${KINDS.join(', ')}` });
      return;
    }
    if (cases.length === 0) cases.push({ name: '', line, sections: [] });
    cases.at(-1)?.sections.push({ kind, argument, lines: [], line });
  });
  return { cases, mistakes };
}
