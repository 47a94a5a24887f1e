// Readable differences between two short lists of lines.

/** Lines prefixed with ` `, `- ` (expected, missing) or `+ ` (unexpected). */
export function diffLines(expected: readonly string[], actual: readonly string[]): string[] {
  const lengths = commonLengths(expected, actual);
  const lines: string[] = [];
  let e = 0;
  let a = 0;
  while (e < expected.length || a < actual.length) {
    if (e < expected.length && a < actual.length && expected[e] === actual[a]) {
      lines.push(`  ${expected[e]}`);
      e++;
      a++;
    } else if (
      a >= actual.length ||
      (e < expected.length && lengthAt(lengths, e + 1, a) >= lengthAt(lengths, e, a + 1))
    ) {
      lines.push(`- ${expected[e]}`);
      e++;
    } else {
      lines.push(`+ ${actual[a]}`);
      a++;
    }
  }
  return lines;
}

// Above this the table would be too large; the lists are then shown one after the other.
const TABLE_MAX = 4_000_000;

/** Length of the longest common subsequence of each pair of tails. */
function commonLengths(
  expected: readonly string[],
  actual: readonly string[],
): readonly Uint32Array[] {
  if (expected.length * actual.length > TABLE_MAX) return [];
  const rows = Array.from(
    { length: expected.length + 1 },
    () => new Uint32Array(actual.length + 1),
  );
  for (let e = expected.length - 1; e >= 0; e--) {
    for (let a = actual.length - 1; a >= 0; a--) {
      const row = rows[e] as Uint32Array;
      row[a] =
        expected[e] === actual[a]
          ? lengthAt(rows, e + 1, a + 1) + 1
          : Math.max(lengthAt(rows, e + 1, a), lengthAt(rows, e, a + 1));
    }
  }
  return rows;
}

function lengthAt(rows: readonly Uint32Array[], e: number, a: number): number {
  return rows[e]?.[a] ?? 0;
}
