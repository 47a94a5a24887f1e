// Words that stand for values.
import { LEVELS } from '../../dashboards/level.ts';
import { MAPPING_KINDS } from '../../cells/options/values.ts';
import type { Mapping } from '../../cells/options/values.ts';
import { SelectField, TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';
import { NumberField } from './number-field.tsx';
import { RowList } from './row-list.tsx';

const t = texts.cells;

const SPECIAL = ['null', 'nan', 'empty', 'true', 'false'];
const NEW: Mapping = { kind: 'value', match: '', text: '' };

export function MappingList({
  mappings,
  onChange,
}: {
  readonly mappings: readonly Mapping[];
  readonly onChange: (mappings: readonly Mapping[]) => void;
}) {
  return (
    <RowList
      title={t.mappings}
      itemTitle={t.mapping}
      add={t.addMapping}
      items={mappings}
      newItem={NEW}
      onChange={onChange}
    >
      {(mapping, change) => (
        <>
          <SelectField
            label={t.mappingKind}
            value={mapping.kind}
            options={MAPPING_KINDS.map((kind) => ({ value: kind, label: t.mappingKinds[kind] }))}
            onChange={(value) => {
              const kind = MAPPING_KINDS.find((each) => each === value);
              if (kind !== undefined) change({ kind, match: kind === 'special' ? 'null' : '' });
            }}
          />
          {mapping.kind === 'range' ? (
            <>
              <NumberField
                label={t.min}
                value={mapping.from}
                onChange={(from) => change({ from })}
              />
              <NumberField label={t.max} value={mapping.to} onChange={(to) => change({ to })} />
            </>
          ) : mapping.kind === 'special' ? (
            <SelectField
              label={t.match}
              value={mapping.match}
              options={SPECIAL}
              onChange={(match) => change({ match })}
            />
          ) : (
            <TextField
              label={t.match}
              value={mapping.match}
              onInput={(match) => change({ match })}
            />
          )}
          <TextField label={t.word} value={mapping.text} onInput={(text) => change({ text })} />
          <SelectField
            label={t.level}
            value={mapping.level ?? ''}
            options={[
              { value: '', label: t.noLevel },
              ...LEVELS.map((level) => ({ value: level, label: texts.dashboards.levels[level] })),
            ]}
            onChange={(value) => change({ level: LEVELS.find((level) => level === value) })}
          />
        </>
      )}
    </RowList>
  );
}
