// The entries of an export, each with the line of the file it begins on: statements, points, and
// the target of the points that follow (`# DDL`, `# DML`, `# CONTEXT-DATABASE: db`).
import { utf8Lines } from '@tidemark/core';

import { stopsInString } from '../import-server/lines.ts';

export type FileEntry =
  | { readonly kind: 'statement'; readonly text: string; readonly line: number }
  | { readonly kind: 'point'; readonly text: string; readonly line: number }
  | { readonly kind: 'database'; readonly name: string }
  | { readonly kind: 'policy'; readonly name: string };

/** A string longer than this counts as never closed; the server reports the error. */
const MAX_LINE_CHARACTERS = 1 << 20;

/** The entries of a file. Before the first heading, lines are classified by their form. */
export async function* fileEntries(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileEntry> {
  let section: 'DDL' | 'DML' | undefined;
  let open = '';
  let first = 0;
  let number = 0;
  for await (const written of utf8Lines(chunks)) {
    const piece = written.endsWith('\r') ? written.slice(0, -1) : written;
    number++;
    if (open === '') first = number;
    const line = open === '' ? piece : `${open}\n${piece}`;
    const context = /^# CONTEXT-(DATABASE|RETENTION-POLICY):\s*(.*)$/s.exec(line);
    const kind =
      section === 'DML' || (section === undefined && isPoint(line)) ? 'point' : 'statement';
    // A string may contain newlines: such a point spans several lines of the file.
    const goesOn = kind === 'point' && !line.startsWith('#') && stopsInString(line);
    open = goesOn && line.length < MAX_LINE_CHARACTERS ? line : '';
    if (open !== '') continue;
    if (context !== null) {
      const [, what, name = ''] = context;
      yield { kind: what === 'DATABASE' ? 'database' : 'policy', name: name.trim() };
    } else if (/^# D[DM]L/.test(line)) section = line.startsWith('# DML') ? 'DML' : 'DDL';
    else if (line.trim() !== '' && !line.startsWith('#')) yield { kind, text: line, line: first };
  }
  if (open !== '') yield { kind: 'point', text: open, line: first };
}

/** No statement has `name=` after its first word, and every point has. */
const isPoint = (line: string): boolean => /^(?:[^\s\\]|\\.)+\s+(?:[^\s\\=]|\\.)+=/s.test(line);
