// Trees drawn as lines.

export type TreeNode = { readonly label: string; readonly children: readonly TreeNode[] };

/** Lines of a tree. */
export function draw(node: TreeNode, indent = '', isLast = true, isRoot = true): string[] {
  const branch = isRoot ? '' : `${indent}${isLast ? '└── ' : '├── '}`;
  const lines = [`${branch}${node.label}`];
  const next = isRoot ? '' : `${indent}${isLast ? '    ' : '│   '}`;
  node.children.forEach((child, i) => {
    lines.push(...draw(child, next, i === node.children.length - 1, false));
  });
  return lines;
}
