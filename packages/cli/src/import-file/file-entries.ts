// The entries of an export, each with the line of the file it begins on: statements, points, and
// the target of the points that follow (`# DDL`, `# DML`, `# CONTEXT-DATABASE: db`).
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
  for await (const piece of linesOf(chunks)) {
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

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield withoutReturn(line);
  }
  if (rest !== '') yield withoutReturn(rest);
}
