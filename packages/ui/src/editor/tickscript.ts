// The script language in editors: tokens and printer from @tidemark/tickscript, diagnostics,
// completion and descriptions of nodes from @tidemark/pipeline.
import { buildPipeline, completeScript, findHandler, findNode } from '@tidemark/pipeline';
import { formatScript, LAMBDA_FUNCTIONS, parseScript, tokenize } from '@tidemark/tickscript';

import type { SourceFinding, SourceLanguage, SourceToken, Suggestion } from './language.ts';

const CLASSES: Readonly<Record<string, string>> = {
  lambda: 'keyword',
  var: 'keyword',
  dbrp: 'keyword',
  TRUE: 'keyword',
  FALSE: 'keyword',
  AND: 'keyword',
  OR: 'keyword',
  string: 'string',
  reference: 'string',
  number: 'number',
  duration: 'number',
  regex: 'regex',
  error: 'error',
  '|': 'operator',
  '@': 'operator',
};

const KINDS = {
  node: 'class',
  property: 'property',
  handler: 'function',
  udf: 'class',
  function: 'function',
  var: 'variable',
} as const;

/** The language; in templates, vars may lack values. */
export function tickscriptLanguage(isTemplate: () => boolean): SourceLanguage {
  return {
    lineComment: '//',
    tokenize: tokens,
    diagnose: (text) => findings(text, isTemplate()),
    complete: (text, offset) => {
      const { from, completions } = completeScript(text, offset);
      const items = completions.map((each): Suggestion => ({
        label: each.label,
        kind: KINDS[each.kind],
        detail: each.signature,
        info: each.summary,
      }));
      return Promise.resolve({ from, items });
    },
    format(text) {
      if (parseScript(text).diagnostics.length > 0) return undefined;
      return formatScript(text);
    },
    hover(text, offset) {
      const all = tokenize(text);
      const at = all.findIndex(({ start, end }) => start <= offset && offset < end);
      const token = all[at];
      if (token?.kind !== 'identifier') return undefined;
      const known = described(token.text, all[at - 1]?.kind);
      if (known === undefined) return undefined;
      return { start: token.start, end: token.end, title: token.text, body: known };
    },
  };
}

function described(name: string, before: string | undefined): string | undefined {
  if (before === '|') return findNode(name)?.summary;
  if (before === '.') return findHandler(name)?.summary;
  return LAMBDA_FUNCTIONS.get(name)?.summary ?? findNode(name)?.summary;
}

function* tokens(text: string): Generator<SourceToken> {
  let end = 0;
  let before = '';
  for (const token of tokenize(text)) {
    // Comments are not tokens: they lie between them.
    for (const match of text.slice(end, token.start).matchAll(/\/\/[^\n]*/g)) {
      const start = end + match.index;
      yield { start, end: start + match[0].length, class: 'comment' };
    }
    const isMember = token.kind === 'identifier' && (before === '|' || before === '.');
    const kind = isMember ? (before === '|' ? 'keyword' : 'function') : CLASSES[token.kind];
    if (kind !== undefined && token.end > token.start) {
      yield { start: token.start, end: token.end, class: kind };
    }
    before = token.kind;
    end = token.end;
  }
}

function findings(text: string, isTemplate: boolean): readonly SourceFinding[] {
  if (text.trim() === '') return [];
  const { diagnostics, warnings } = buildPipeline(text, { isTemplate });
  const shown = (severity: SourceFinding['severity']) => (each: (typeof diagnostics)[number]) => ({
    start: each.span.start,
    end: each.span.end,
    message: each.message,
    hint: each.hint,
    severity,
  });
  return [
    ...diagnostics.map(shown('error')),
    ...(warnings === undefined ? [] : warnings().map(shown('warning'))),
  ];
}
