// scale: multiplies a field.
import { scaleNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { FieldAdder } from '../node-parts/augment.ts';
import { MapNode } from '../node-parts/map-node.ts';

export const runningScale = implement(scaleNode, (ctx) => {
  const { field, factor } = ctx.options;
  const adder = new FieldAdder(field, 'float');
  return new MapNode(ctx, {
    isGrouped: false,
    init: () => undefined,
    next: (_, point) => adder.add(point, Number(point.fieldValue(field)) * Number(factor)),
  });
});
