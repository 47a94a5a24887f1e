// A plan as a tree with the time of each operator.
import { formatMs } from '../../charts/quantity.ts';
import { planTree } from '../../query/plan-tree.ts';
import type { PlanNode } from '../../query/plan-tree.ts';
import { texts } from '../../texts/texts.ts';

/** Lines of an answer to EXPLAIN. */
export function Plan({ lines }: { readonly lines: readonly string[] }) {
  const nodes = planTree(lines);
  const longestMs = longest(nodes);
  return (
    <div class="plan" role="group" aria-label={texts.explore.plan} tabIndex={0}>
      <ul>
        {nodes.map((node, i) => (
          <Branch key={i} node={node} longestMs={longestMs} />
        ))}
      </ul>
    </div>
  );
}

function longest(nodes: readonly PlanNode[]): number {
  return nodes.reduce((ms, node) => Math.max(ms, node.ownMs ?? 0, longest(node.children)), 0);
}

function Branch({ node, longestMs }: { readonly node: PlanNode; readonly longestMs: number }) {
  const { text, ownMs, children } = node;
  return (
    <li>
      <span class="plan-line">
        <code>{text}</code>
        {ownMs === undefined || longestMs === 0 ? null : (
          <span class="plan-bar" title={formatMs(ownMs)}>
            <span style={{ width: `${Math.max(1, (ownMs / longestMs) * 100)}%` }} />
          </span>
        )}
      </span>
      {children.length === 0 ? null : (
        <ul>
          {children.map((child, i) => (
            <Branch key={i} node={child} longestMs={longestMs} />
          ))}
        </ul>
      )}
    </li>
  );
}
