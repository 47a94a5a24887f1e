// Tables of a query's answer. Long answers are cut on screen, and say so.
import type { ResultSeries } from '../state/api.ts';

const ROWS_SHOWN = 500;

const cell = (value: string | number | boolean | null): string =>
  value === null ? '' : String(value);

/** One table per series, with its name and tags as caption. */
export function ResultTable({ series }: { series: readonly ResultSeries[] }) {
  if (series.length === 0) return <p class="muted">The statement gave no rows.</p>;
  return (
    <>
      {series.map((one, index) => (
        <figure key={index}>
          <figcaption>
            <b>{one.name}</b>{' '}
            {Object.entries(one.tags ?? {}).map(([key, value]) => (
              <code key={key}>
                {key}={value}
              </code>
            ))}
          </figcaption>
          <table>
            <thead>
              <tr>
                {one.columns.map((column, i) => (
                  <th key={i}>{column}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {(one.values ?? []).slice(0, ROWS_SHOWN).map((row, i) => (
                <tr key={i}>
                  {row.map((value, j) => (
                    <td key={j} class={typeof value === 'number' ? 'number' : ''}>
                      {cell(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {(one.values?.length ?? 0) > ROWS_SHOWN && (
            <p class="muted">
              {ROWS_SHOWN} of {one.values?.length} rows shown.
            </p>
          )}
        </figure>
      ))}
    </>
  );
}
