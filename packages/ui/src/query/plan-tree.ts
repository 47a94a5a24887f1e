// The output of EXPLAIN as a tree. EXPLAIN ANALYZE draws one with lines; EXPLAIN has `KEY: value`
// lines, in which `EXPRESSION` begins a part.

export type PlanNode = {
  readonly text: string;
  /** Time including everything below, and its own time, where known. */
  readonly totalMs?: number | undefined;
  readonly ownMs?: number | undefined;
  readonly children: readonly PlanNode[];
};

type Growing = { text: string; children: Growing[] };

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, µs: 1e-3, us: 1e-3, ms: 1, s: 1000 };

function ms(text: string, name: string): number | undefined {
  const match = new RegExp(`\\b${name} ([\\d.]+)(ns|µs|us|ms|s)\\b`).exec(text);
  return match === null ? undefined : Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1);
}

function finish({ text, children }: Growing): PlanNode {
  return {
    text,
    totalMs: ms(text, 'total'),
    ownMs: ms(text, 'own'),
    children: children.map(finish),
  };
}

/** Lines of a plan as trees. */
export function planTree(lines: readonly string[]): readonly PlanNode[] {
  const isDrawn = lines.some((line) => /^\s*[├└]/.test(line));
  const root: Growing = { text: '', children: [] };
  const path: Growing[] = [root];
  for (const line of lines) {
    const text = line.replace(/^[\s│├└─.]*/, '');
    if (text === '') continue;
    const isPart = line.startsWith('EXPRESSION');
    const depth = isDrawn
      ? (line.length - line.replace(/^[\s│├└─]*/, '').length) / 4
      : isPart
        ? 1
        : 2;
    const node = { text, children: [] };
    path.length = Math.max(1, Math.min(path.length, Math.round(depth)));
    path.at(-1)?.children.push(node);
    path.push(node);
  }
  return root.children.map(finish);
}
