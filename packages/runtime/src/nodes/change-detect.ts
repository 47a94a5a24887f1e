// changeDetect: emits a point when one of the fields differs from the last emitted point.
import { changeDetectNode } from '@tidemark/pipeline';
import type { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { MapNode } from '../node-parts/map-node.ts';

export const runningChangeDetect = implement(changeDetectNode, createChangeDetect);

/** Points that differ in a listed field from the last emitted one. */
function createChangeDetect(ctx: ContextOf<typeof changeDetectNode>): RunningNode {
  const { fields } = ctx.options;
  type Seen = { readonly type: ValueType; readonly value: Value };
  type State = { last: (Seen | undefined)[] | undefined };
  const read = (point: Point): (Seen | undefined)[] =>
    fields.map((name) => {
      const found = point.schema.field(name);
      return found === undefined ? undefined : { type: found.type, value: found.read(point) };
    });
  return new MapNode<State>(ctx, {
    isGrouped: true,
    init: () => ({ last: undefined }),
    next: (state, point) => {
      const current = read(point);
      let isChanged = false;
      for (const [i, name] of fields.entries()) {
        const [before, now] = [state.last?.[i], current[i]];
        if (now === undefined) {
          ctx.fail('Invalid field in change detect', `expected field ${name} not found`, point);
          continue;
        }
        if (now.type !== before?.type || now.value !== before.value) isChanged = true;
      }
      if (!isChanged) return undefined;
      state.last = current;
      return point;
    },
    encode: (state) => state.last,
    decode: (code) => ({ last: code as State['last'] }),
  });
}
