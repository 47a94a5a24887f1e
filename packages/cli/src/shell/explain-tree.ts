// EXPLAIN drawn as a tree: one branch per expression, its figures as leaves.
import type { Cell } from '@tidemark/client';

type Branch = { readonly title: string; readonly leaves: string[] };

/** Whether the columns are those of a plan. */
export function isPlan(columns: readonly string[]): boolean {
  return columns.length === 1 && /^(QUERY PLAN|EXPLAIN ANALYZE)$/.test(columns[0] ?? '');
}

/**
 * Lines of a plan as a tree. EXPLAIN ANALYZE returns one already drawn; EXPLAIN returns `KEY:
 * value` lines, in which `EXPRESSION` begins a part, and a tree of operators below `PLAN`.
 */
export function explainTree(title: string, rows: readonly (readonly Cell[])[]): readonly string[] {
  const all = rows.map((row) => String(row[0] ?? ''));
  const drawn = all.indexOf('PLAN');
  if (drawn < 0 && all.some((line) => /^\s*[├└]/.test(line))) return all;
  const lines = drawn < 0 ? all : all.slice(0, drawn);
  const branches: Branch[] = [];
  for (const line of lines) {
    if (line.trim() === '') continue;
    const expression = /^EXPRESSION: (.*)$/.exec(line)?.[1];
    if (expression !== undefined || branches.length === 0) {
      branches.push({
        title: expression === '<nil>' ? 'raw values' : (expression ?? line),
        leaves: [],
      });
    } else branches.at(-1)?.leaves.push(leafOf(line));
  }
  return [
    title.toLowerCase(),
    ...branches.flatMap((branch, i) => drawBranch(branch, i === branches.length - 1)),
    ...(drawn < 0 ? [] : ['operators', ...all.slice(drawn + 1)]),
  ];
}

function leafOf(line: string): string {
  const colon = line.indexOf(':');
  return colon < 0 ? line : line.slice(0, colon).toLowerCase() + line.slice(colon);
}

function drawBranch({ title, leaves }: Branch, isLast: boolean): readonly string[] {
  const stem = isLast ? '    ' : '│   ';
  return [
    `${isLast ? '└── ' : '├── '}${title}`,
    ...leaves.map((leaf, i) => `${stem}${i === leaves.length - 1 ? '└── ' : '├── '}${leaf}`),
  ];
}
