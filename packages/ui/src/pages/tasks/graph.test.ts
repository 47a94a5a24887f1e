import { expect, test } from 'vitest';

import { pictureOf, readDot } from './graph.ts';

const RUNNING = `digraph hot {
graph [throughput="1.00 points/s"];

stream0 [avg_exec_time_ns="0s" errors="0" working_cardinality="0" ];
stream0 -> from1 [processed="7"];

from1 [avg_exec_time_ns="493.76µs" errors="0" working_cardinality="0" ];
}`;

test('nodes and edges of a running task, with what went along', () => {
  expect(readDot(RUNNING)).toEqual({
    names: ['stream0', 'from1'],
    edges: [{ from: 'stream0', to: 'from1', processed: 7 }],
  });
});

test('of a task that does not run', () => {
  expect(readDot('digraph hot {\nstream0 -> from1;\nfrom1 -> alert2;\n}')).toEqual({
    names: ['stream0', 'from1', 'alert2'],
    edges: [
      { from: 'stream0', to: 'from1', processed: undefined },
      { from: 'from1', to: 'alert2', processed: undefined },
    ],
  });
});

test('parents stand above their children', () => {
  const { nodes, edges, height } = pictureOf(RUNNING);
  const [parent, child] = nodes;

  expect(parent?.y).toBeLessThan(child?.y ?? 0);
  expect(child?.y).toBeLessThan(height);
  expect(edges[0]?.points.length).toBeGreaterThan(1);
});
