// Assigns a role to each column of a table.
import { SelectField, TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';
import { guessRole, ROLES } from './csv.ts';
import type { Mapping } from './csv.ts';

const t = texts.write;

const LOOKED_AT = 100;

/** Guessed roles of columns, with the head that they are for. */
export function mappingOf(rows: readonly (readonly string[])[]): {
  readonly head: string | undefined;
  readonly mapping: Mapping;
} {
  const [head = []] = rows;
  const sample = rows.slice(1, LOOKED_AT);
  const columns = head.map((name, at) => ({
    name,
    role: guessRole(
      name,
      sample.map((row) => row[at] ?? ''),
    ),
  }));
  return { head: rows[0]?.join(), mapping: { measurement: 'imported', columns } };
}

export function CsvForm({
  head,
  mapping,
  onChange,
}: {
  readonly head: readonly string[];
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}) {
  return (
    <div class="form-grid">
      <TextField
        label={t.measurement}
        value={mapping.measurement}
        onInput={(measurement) => onChange({ ...mapping, measurement })}
      />
      {head.map((name, at) => (
        <SelectField
          key={`${at} ${name}`}
          label={t.column(name)}
          value={mapping.columns[at]?.role ?? 'ignore'}
          options={ROLES.map((role) => ({ value: role, label: t.roles[role] }))}
          onChange={(next) => {
            const role = ROLES.find((each) => each === next) ?? 'ignore';
            onChange({ ...mapping, columns: mapping.columns.with(at, { name, role }) });
          }}
        />
      ))}
    </div>
  );
}
