// `var name type value` of task tests.
import type { Var } from '@tidemark/pipeline';
import { parseDuration } from '@tidemark/tickscript';

/** Name and value; `undefined` when the text is invalid. */
export function readVar(text: string): [name: string, value: Var] | undefined {
  const match = /^(\w+)\s+(string|int|float|bool|duration|list)\s+(.*)$/.exec(text);
  const [, name = '', type = '', value = ''] = match ?? [];
  const parsed = varOf(type, value);
  return parsed === undefined ? undefined : [name, parsed];
}

function varOf(type: string, value: string): Var | undefined {
  const description = '';
  switch (type) {
    case 'string':
      return { type: 'string', value: { kind: 'string', value }, description };
    case 'int':
      if (!/^-?\d+$/.test(value)) return undefined;
      return { type: 'int', value: { kind: 'integer', value: BigInt(value) }, description };
    case 'float':
      return { type: 'float', value: { kind: 'float', value: Number(value) }, description };
    case 'bool':
      return { type: 'bool', value: { kind: 'boolean', value: value === 'true' }, description };
    case 'duration': {
      const nanos = parseDuration(value);
      if (nanos === undefined) return undefined;
      return { type: 'duration', value: { kind: 'duration', nanos }, description };
    }
    case 'list': {
      const items = value
        .split(',')
        .map((item) =>
          item.trim() === '*'
            ? ({ kind: 'star' } as const)
            : ({ kind: 'string', value: item.trim() } as const),
        );
      return { type: 'list', value: { kind: 'list', items }, description };
    }
    default:
      return undefined;
  }
}
