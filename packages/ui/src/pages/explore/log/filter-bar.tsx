// What a log shows: its measurement, the search, the filters, the columns.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { Button, IconButton } from '../../../design/button.tsx';
import { CheckField, SelectField, TextField } from '../../../design/field.tsx';
import { Popover } from '../../../design/popover.tsx';
import { texts } from '../../../texts/texts.ts';
import { changeView, logView, showMeasurement, toggledFilter } from './state.ts';
import { NO_LEVEL } from './source.ts';
import type { LogSource } from './source.ts';
import type { LogFilter } from './statements.ts';

const t = texts.log;

export function FilterBar({
  measurement,
  measurements,
  source,
  columns,
  problem,
  onSearch,
}: {
  readonly measurement: string;
  readonly measurements: readonly string[];
  readonly source: LogSource | undefined;
  readonly columns: readonly string[];
  /** Why the search is no search. */
  readonly problem: string | undefined;
  /** The search was sent, perhaps unchanged. */
  readonly onSearch: () => void;
}) {
  const { search, filters, isWrapped } = logView.value;
  const typed = useSignal(search);
  const shown = useRef(search);
  useEffect(() => {
    // The first time somebody may have typed already.
    if (search !== shown.current) typed.value = search;
    shown.current = search;
  }, [search]);
  const options = measurements.includes(measurement)
    ? measurements
    : [measurement, ...measurements];
  return (
    <div class="log-bar">
      <SelectField
        label={t.measurement}
        isLabelHidden
        value={measurement}
        options={options}
        onChange={(name) => showMeasurement('', name)}
      />
      <form
        class="log-search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          changeView({ search: typed.value.trim() });
          onSearch();
        }}
      >
        <TextField
          label={t.search}
          isLabelHidden
          type="search"
          placeholder={t.searchHint}
          title={t.searchHelp}
          problem={problem}
          value={typed.value}
          onInput={(text) => {
            typed.value = text;
            // The cross of the field empties it: there is nothing to press Enter for.
            if (text === '') changeView({ search: '' });
          }}
        />
        <Button type="submit" icon="search">
          {t.find}
        </Button>
      </form>
      {source === undefined ? null : <ColumnsButton source={source} columns={columns} />}
      <Button
        aria-pressed={isWrapped ? 'true' : 'false'}
        onClick={() => changeView({ isWrapped: !isWrapped })}
      >
        {t.wrap}
      </Button>
      {filters.length === 0 ? null : (
        <ul class="log-filters" aria-label={t.filters}>
          {filters.map((filter) => (
            <FilterChip key={`${filter.name}\u0000${filter.value}`} filter={filter} />
          ))}
          <li>
            <Button isSmall kind="quiet" onClick={() => changeView({ filters: [] })}>
              {t.removeAll}
            </Button>
          </li>
        </ul>
      )}
    </div>
  );
}

function FilterChip({ filter }: { readonly filter: LogFilter }) {
  const { name, isNot, value } = filter;
  const { filters } = logView.value;
  const label = `${name} ${isNot ? '≠' : '='} ${value}`;
  return (
    <li class={`chip ${isNot ? 'not' : ''}`}>
      <button
        type="button"
        class="log-chip-text"
        title={isNot ? t.only(name, value) : t.without(name, value)}
        onClick={() =>
          changeView({ filters: toggledFilter(filters, { ...filter, isNot: !isNot }) })
        }
      >
        {label}
      </button>
      <IconButton
        isSmall
        icon="close"
        label={t.removeFilter(label)}
        onClick={() => changeView({ filters: toggledFilter(filters, filter) })}
      />
    </li>
  );
}

/** Columns beside time and level; and which ones are the text and the level. */
function ColumnsButton({
  source,
  columns,
}: {
  readonly source: LogSource;
  readonly columns: readonly string[];
}) {
  const strings = [...source.fieldTypes].flatMap(([name, type]) =>
    type === 'string' ? [name] : [],
  );
  const names = [...source.tags, ...source.fieldTypes.keys()].filter(
    (name) => name !== source.text && name !== source.level,
  );
  return (
    <Popover label={t.columns} icon="columns">
      {() => (
        <div class="form log-columns">
          <SelectField
            label={t.textColumn}
            value={source.text}
            options={strings}
            onChange={(text) => changeView({ text })}
          />
          <SelectField
            label={t.levelColumn}
            value={source.level ?? ''}
            options={[
              { value: '', label: t.noColumn },
              ...[...source.tags, ...strings].filter((name) => name !== source.text),
            ]}
            onChange={(level) => changeView({ level: level === '' ? NO_LEVEL : level })}
          />
          <fieldset class="chips-field">
            <legend>{t.moreColumns}</legend>
            {names.map((name) => (
              <CheckField
                key={name}
                label={name}
                isChecked={columns.includes(name)}
                onChange={() => changeView({ columns: toggledColumn(columns, name) })}
              />
            ))}
          </fieldset>
        </div>
      )}
    </Popover>
  );
}

export const toggledColumn = (columns: readonly string[], name: string): readonly string[] =>
  columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name];
