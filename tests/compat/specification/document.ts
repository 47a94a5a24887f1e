// The specification as its sentences, by section. A row of a table is one sentence; its heading
// says nothing by itself. The text is not part of this repository: `sentences.json` has a hash of
// each.
import { createHash } from 'node:crypto';

export type Sentences = Readonly<Record<string, readonly string[]>>;

/** Sentences of a document in Markdown by the heading that they are below. */
export function sentencesOf(markdown: string): Sentences {
  const sections: Record<string, string[]> = {};
  let section = '';
  const lines = markdown.split('\n');
  lines.forEach((line, i) => {
    const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    const isTableHead = /^\|[-|]+\|$/.test(lines[i + 1] ?? '');
    if (line.trim() === '' || heading !== undefined || isTableHead || /^\|[-|]+\|$/.test(line)) {
      return;
    }
    // Hidden text and the frame of an example are no sentences.
    const sentences = line.startsWith('```') ? [] : sentencesIn(line);
    if (sentences.length > 0) (sections[section] ??= []).push(...sentences);
  });
  return sections;
}

function sentencesIn(line: string): readonly string[] {
  if (line.startsWith('|')) return [line.replaceAll(/^\|\s*|\s*\|$/g, '')];
  return line
    .replace(/^(?:-|\d+\.) /, '')
    .split(/(?<=\.) (?=[A-Z`{])/)
    .filter((sentence) => !/(?:: not shown\.|:)$/.test(sentence));
}

export function hashOf(sentence: string): string {
  return createHash('sha256').update(sentence).digest('hex').slice(0, 12);
}

export function hashesOf(sentences: Sentences): Sentences {
  return Object.fromEntries(
    Object.entries(sentences).map(([section, all]) => [section, all.map(hashOf)]),
  );
}
