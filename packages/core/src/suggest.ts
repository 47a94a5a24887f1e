// Suggestions for misspelled names.

/** Longer names are not compared: the cost grows quadratically with the length. */
const MAX_LENGTH = 64;

/** The closest known name, if close enough for a misspelling. */
export function suggest(written: string, known: Iterable<string>): string | undefined {
  if (written.length > MAX_LENGTH) return undefined;
  // At least one letter has to match.
  const furthest = Math.min(Math.ceil(written.length / 3), written.length - 1);
  let best: string | undefined;
  let bestDistance = furthest + 1;
  for (const name of known) {
    if (Math.abs(name.length - written.length) >= bestDistance) continue;
    const distance = editDistance(written.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** A hint that names the closest known name. */
export function didYouMean(written: string, known: Iterable<string>): string | undefined {
  const meant = suggest(written, known);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/** Number of letters to insert, delete or replace to get from one text to the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
