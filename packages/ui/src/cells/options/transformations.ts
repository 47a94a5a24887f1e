// Transformations of a result before it is shown: names, order, selection, and aggregates.
import { fieldAt, fieldsOf, listOf, numberOf, textOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { OptionRow } from '../option.ts';
import { isCalc } from '../../charts/calc.ts';
import type { Calc } from '../../charts/calc.ts';
import { calcOfGrafana } from './calc.ts';

const t = texts.cells;

export type Transformation =
  /** New names of columns and series. */
  | { readonly kind: 'rename'; readonly names: Readonly<Record<string, string>> }
  | { readonly kind: 'rename-pattern'; readonly pattern: string; readonly to: string }
  /** These columns first, in this order. */
  | { readonly kind: 'order'; readonly names: readonly string[] }
  | { readonly kind: 'hide'; readonly names: readonly string[]; readonly pattern: string }
  | { readonly kind: 'keep'; readonly names: readonly string[]; readonly pattern: string }
  /** Queries by their letters. */
  | { readonly kind: 'queries'; readonly pattern: string }
  /** One row for each series, with aggregates of it. */
  | { readonly kind: 'reduce'; readonly calcs: readonly Calc[] }
  | { readonly kind: 'sort'; readonly by: string; readonly isDown: boolean }
  | { readonly kind: 'limit'; readonly count: number };

export const TRANSFORMATION_KINDS = [
  'rename',
  'rename-pattern',
  'order',
  'hide',
  'keep',
  'queries',
  'reduce',
  'sort',
  'limit',
] as const satisfies readonly Transformation['kind'][];

/** A step with its defaults, except for the given members. */
export function transformationOf(value: unknown): Transformation {
  const [found] = readTransformation(value);
  return found ?? { kind: 'rename', names: {} };
}

const names = (value: unknown): readonly string[] =>
  listOf(value).filter((each) => typeof each === 'string');

function readTransformation(value: unknown): readonly Transformation[] {
  const fields = fieldsOf(value);
  const { kind } = fields;
  const pattern = textOf(fields['pattern']);
  switch (kind) {
    case 'rename':
      return [{ kind, names: textsIn(fields['names']) }];
    case 'rename-pattern':
      return [{ kind, pattern, to: textOf(fields['to']) }];
    case 'order':
      return [{ kind, names: names(fields['names']) }];
    case 'hide':
    case 'keep':
      return [{ kind, names: names(fields['names']), pattern }];
    case 'queries':
      return [{ kind, pattern }];
    case 'reduce':
      return [{ kind, calcs: listOf(fields['calcs']).filter(isCalc) }];
    case 'sort':
      return [{ kind, by: textOf(fields['by']), isDown: fields['isDown'] === true }];
    case 'limit':
      return [{ kind, count: Math.max(0, numberOf(fields['count'], 10)) }];
    default:
      return [];
  }
}

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).flatMap(([name, to]) =>
      typeof to === 'string' && to !== '' ? [[name, to] as const] : [],
    ),
  );

export const TRANSFORMATIONS: OptionRow<readonly Transformation[]> = {
  name: 'transformations',
  group: 'transformations',
  label: t.transformations,
  editor: { kind: 'transformations' },
  read: (value) => listOf(value).flatMap(readTransformation),
  fromGrafana: ({ panel }) => {
    const found = listOf(panel['transformations'])
      .map(fieldsOf)
      .filter(({ disabled }) => disabled !== true)
      .flatMap((each) => transformationsOf(each) ?? []);
    return found.length === 0 ? undefined : found;
  },
  // Names and order of table columns.
  fromChronograf: (cell) => {
    const found = columnsOf(cell);
    return found.length === 0 ? undefined : found;
  },
};

/** `undefined` for transformations without a counterpart. */
export function transformationsOf({ id, options }: Fields): readonly Transformation[] | undefined {
  const fields = fieldsOf(options);
  switch (id) {
    // Tables show all series in one anyway.
    case 'merge':
    case 'seriesToRows':
      return [];
    case 'organize':
      return organised(fields);
    case 'renameByRegex':
      return [
        {
          kind: 'rename-pattern',
          pattern: textOf(fields['regex']),
          to: textOf(fields['renamePattern']),
        },
      ];
    case 'filterFieldsByName':
      return filtered(fields);
    case 'filterByRefId':
      return [{ kind: 'queries', pattern: textOf(fields['include']) }];
    case 'reduce': {
      const asked = listOf(fields['reducers']).map((each) => calcOfGrafana(textOf(each)));
      if (fields['mode'] === 'reduceFields' || asked.includes(undefined)) return undefined;
      return [{ kind: 'reduce', calcs: asked.flatMap((each) => each ?? []) }];
    }
    case 'sortBy': {
      const { field, desc } = fieldsOf(listOf(fields['sort'])[0]);
      return [{ kind: 'sort', by: textOf(field), isDown: desc === true }];
    }
    case 'limit': {
      const count = Number(fields['limitField'] ?? 10);
      return Number.isFinite(count) ? [{ kind: 'limit', count }] : undefined;
    }
    default:
      return undefined;
  }
}

function organised(fields: Fields): readonly Transformation[] {
  const { excludeByName, indexByName, renameByName } = fields;
  const hidden = Object.entries(fieldsOf(excludeByName)).flatMap(([name, is]) =>
    is === true ? [name] : [],
  );
  const order = Object.entries(fieldsOf(indexByName))
    .toSorted((a, b) => Number(a[1]) - Number(b[1]))
    .map(([name]) => name);
  const renamed = textsIn(renameByName);
  return [
    ...(hidden.length === 0 ? [] : [{ kind: 'hide' as const, names: hidden, pattern: '' }]),
    ...(order.length === 0 ? [] : [{ kind: 'order' as const, names: order }]),
    ...(Object.keys(renamed).length === 0 ? [] : [{ kind: 'rename' as const, names: renamed }]),
  ];
}

function filtered({ include, exclude }: Fields): readonly Transformation[] {
  const parts = [
    ['keep', fieldsOf(include)],
    ['hide', fieldsOf(exclude)],
  ] as const;
  return parts.flatMap(([kind, { names: listed, pattern }]): readonly Transformation[] => {
    const given = names(listed);
    const text = textOf(pattern);
    return given.length === 0 && text === '' ? [] : [{ kind, names: given, pattern: text }];
  });
}

function columnsOf(cell: Fields): readonly Transformation[] {
  const columns = listOf(cell['fieldOptions']).map(fieldsOf);
  const hidden = columns
    .filter(({ visible }) => visible === false)
    .map(({ internalName }) => textOf(internalName));
  const renamed = Object.fromEntries(
    columns.flatMap(({ internalName, displayName }) =>
      textOf(displayName) === '' ? [] : [[textOf(internalName), textOf(displayName)] as const],
    ),
  );
  const sortBy = textOf(fieldAt(cell, 'tableOptions', 'sortBy', 'internalName'));
  return [
    ...(hidden.length === 0 ? [] : [{ kind: 'hide' as const, names: hidden, pattern: '' }]),
    ...(columns.length === 0
      ? []
      : [
          {
            kind: 'order' as const,
            names: columns.map(({ internalName }) => textOf(internalName)),
          },
        ]),
    ...(sortBy === '' ? [] : [{ kind: 'sort' as const, by: sortBy, isDown: false }]),
    ...(Object.keys(renamed).length === 0 ? [] : [{ kind: 'rename' as const, names: renamed }]),
  ];
}
