// A user-defined function in TypeScript: adds up a field per group and sets `sum`.
//
//   [udf.functions.sum]
//   prog = "node"   # 22.18 or newer
//   args = ["/etc/tidemark/udf/running-sum.ts"]
//   timeout = "10s"
//
//   stream|from().groupBy('host')@sum().field('value')|httpOut('sums')
//
// As a service of its own: `node running-sum.ts --socket /run/sum.sock`, and `socket =
// "/run/sum.sock"`.
import type { Agent } from './protocol.ts';
import { serve } from './protocol.ts';

function runningSum(): Agent {
  let field = '';
  let sums = new Map<string, number>();
  return {
    wants: 'stream',
    provides: 'stream',
    options: { field: ['string'] },
    init: (options) => {
      const [name] = options.get('field') ?? [];
      if (typeof name !== 'string' || name === '') throw new Error('must specify field');
      field = name;
    },
    point: (point, emit) => {
      const value = point.fields.get(field);
      if (typeof value !== 'number' && typeof value !== 'bigint') return;
      const sum = (sums.get(point.group) ?? 0) + Number(value);
      sums.set(point.group, sum);
      point.fields.set('sum', sum);
      emit(point);
    },
    snapshot: () => Buffer.from(JSON.stringify([...sums])),
    restore: (state) => {
      sums = new Map(JSON.parse(Buffer.from(state).toString()) as [string, number][]);
    },
  };
}

serve(runningSum);
