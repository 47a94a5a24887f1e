// Finds the known name that a user probably meant.

const MAX_COMPARED_LENGTH = 64;

/** The name with the fewest edits, if they are few for its length. */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined;
  let best: string | undefined;
  // A single letter would leave nothing.
  const most = Math.min(name.length - 1, Math.max(1, Math.floor(name.length / 3)));
  let bestDistance = most + 1;
  for (const each of known) {
    if (each.length > MAX_COMPARED_LENGTH) continue;
    const distance = editDistance(name.toLowerCase(), each.toLowerCase());
    if (distance < bestDistance) {
      best = each;
      bestDistance = distance;
    }
  }
  return best ?? abbreviated(name, known);
}

/** Fewer letters are not significant. */
const MIN_SHARED_LENGTH = 4;

/**
 * The only known name that begins with this one, or that this one begins with: `critical` for
 * `crit`.
 */
function abbreviated(name: string, known: Iterable<string>): string | undefined {
  const lower = name.toLowerCase();
  const found = [...new Set(known)].filter((each) => {
    if (Math.min(each.length, name.length) < MIN_SHARED_LENGTH) return false;
    const other = each.toLowerCase();
    return other.startsWith(lower) || lower.startsWith(other);
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Insertions, removals, replacements and swaps of neighbours between two texts. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (beforePrevious[j - 2] ?? 0) + 1 : Infinity;
      current.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
