// The differences between two texts, line by line.
import { diffArrays } from 'diff';

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string };

/**
 * Texts with more differing lines are shown as one removed and one added: the search takes time and
 * memory in proportion to the square of the differences.
 */
const DIFFERENCES_MAX = 2000;

/** Lines of both texts in order, as many unchanged ones as possible. */
export function diffOf(before: string, after: string): readonly DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  const changes = diffArrays(a, b, { maxEditLength: DIFFERENCES_MAX }) ?? [
    { removed: true, added: false, value: a },
    { removed: false, added: true, value: b },
  ];
  return changes.flatMap(({ added, removed, value }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value.map((text): DiffLine => ({ kind, text }));
  });
}

const linesOf = (text: string): string[] =>
  text === '' ? [] : text.replace(/\n$/, '').split('\n');
