// The selected values of a dashboard's variables. Values of one may depend on others.
import { useResource } from '../../api/use-resource.ts';
import { CheckField, SelectField, TextField } from '../../design/field.tsx';
import { Popover } from '../../design/popover.tsx';
import { Failure } from '../../design/states.tsx';
import type { Dashboard, Variable } from '../../dashboards/model.ts';
import { runVariable } from '../../dashboards/run.ts';
import type { CellContext } from '../../dashboards/run.ts';
import { chosenOf, labelOf, namesVariable } from '../../dashboards/variables.ts';
import type { Chosen } from '../../dashboards/variables.ts';
import { texts } from '../../texts/texts.ts';
import { choose, givenOf } from './view.ts';

const t = texts.dashboards;

export type Offered = ReadonlyMap<string, readonly string[]>;

/**
 * Selected and possible values of all variables. `undefined` while the first values are loading:
 * statements need them.
 */
export function useVariables(
  { variables, database }: Dashboard,
  range: { readonly from: string; readonly to: string },
): {
  readonly chosen: Chosen | undefined;
  readonly offered: Offered;
  readonly error: { readonly message: string } | undefined;
  readonly reload: () => void;
} {
  const given = variables.map(({ name }) => givenOf(name));
  const loaded = useResource(
    async (signal) => {
      const offered = new Map<string, readonly string[]>();
      const chosen = new Map<string, readonly string[]>();
      // In sequence: a statement may name earlier variables.
      for (const variable of variables) {
        const context: CellContext = {
          database: variable.database === '' ? database : variable.database,
          ...range,
          chosen,
        };
        const values =
          variable.kind === 'query'
            ? await runVariable(variable, context, { nowMs: Date.now(), signal })
            : variable.options;
        offered.set(variable.name, values);
        chosen.set(variable.name, chosenOf(variable, givenOf(variable.name), values));
      }
      return offered;
    },
    [JSON.stringify([variables, database, dependents(variables, given, range)])],
  );
  const offered = loaded.value.value;
  const chosen =
    offered === undefined && variables.some(({ kind }) => kind === 'query')
      ? undefined
      : new Map(
          variables.map((variable) => {
            const { name, options } = variable;
            const values = offered?.get(name) ?? options;
            return [name, chosenOf(variable, givenOf(name), values)] as const;
          }),
        );
  return {
    chosen,
    offered: offered ?? new Map(),
    error: loaded.error.value,
    reload: () => void loaded.reload(),
  };
}

/** Dependencies of variables' statements: other variables in them, and the span. */
function dependents(
  variables: readonly Variable[],
  given: readonly (readonly string[] | undefined)[],
  range: { readonly from: string; readonly to: string },
): unknown {
  const queries = variables.filter(({ kind }) => kind === 'query').map(({ query }) => query);
  const named = variables.map(({ name }, i) =>
    queries.some((query) => namesVariable(query, name)) ? (given[i] ?? null) : null,
  );
  return [named, queries.some((query) => query.includes('$timeFilter')) ? range : null];
}

export function VariableBar({
  variables,
  chosen,
  offered,
  error,
  onRetry,
}: {
  readonly variables: readonly Variable[];
  readonly chosen: Chosen;
  readonly offered: Offered;
  readonly error: { readonly message: string } | undefined;
  readonly onRetry: () => void;
}) {
  if (variables.length === 0) return null;
  return (
    <>
      <div class="row dash-variables" role="group" aria-label={t.variables}>
        {variables.map((variable) => (
          <Chooser
            key={variable.name}
            variable={variable}
            chosen={chosen.get(variable.name) ?? []}
            offered={offered.get(variable.name) ?? variable.options}
          />
        ))}
      </div>
      {error === undefined ? null : <Failure error={error} onRetry={onRetry} />}
    </>
  );
}

function Chooser({
  variable,
  chosen,
  offered,
}: {
  readonly variable: Variable;
  readonly chosen: readonly string[];
  readonly offered: readonly string[];
}) {
  const { name, kind, isMulti } = variable;
  if (kind === 'text') {
    return (
      <TextField
        label={name}
        value={chosen[0] ?? ''}
        onInput={(value) => choose(name, value === '' ? [] : [value])}
      />
    );
  }
  if (!isMulti) {
    const [value = ''] = chosen;
    const options = offered.includes(value) ? offered : [value, ...offered];
    return (
      <SelectField
        label={name}
        value={value}
        options={options.map((each) => ({ value: each, label: labelOf(variable, each) }))}
        onChange={(next) => choose(name, [next])}
      />
    );
  }
  return (
    <div class="field">
      <span class="label">{name}</span>
      <Popover
        label={
          chosen.length === 0 ? t.all : chosen.map((each) => labelOf(variable, each)).join(', ')
        }
      >
        {() => (
          <fieldset class="chips-field dash-values">
            <legend>{t.values(name)}</legend>
            <CheckField
              label={t.all}
              isChecked={chosen.length === 0}
              onChange={() => choose(name, [])}
            />
            {offered.map((value) => (
              <CheckField
                key={value}
                label={labelOf(variable, value)}
                isChecked={chosen.includes(value)}
                onChange={(isChecked) =>
                  choose(
                    name,
                    isChecked ? [...chosen, value] : chosen.filter((each) => each !== value),
                  )
                }
              />
            ))}
          </fieldset>
        )}
      </Popover>
    </div>
  );
}
