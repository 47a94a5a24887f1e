// Write a statement, see its rows, or where it went wrong.
import { useSignal } from '@preact/signals';

import { ResultTable } from '../components/result-table.tsx';
import { runQuery } from '../state/api.ts';
import type { QueryAnswer, QueryDiagnostic } from '../state/api.ts';

/**
 * The statement's line with a caret below the place of the finding; of a whole line only what was
 * found.
 */
function Caret({ text, diagnostic }: { text: string; diagnostic: QueryDiagnostic }) {
  const lineStart = text.lastIndexOf('\n', diagnostic.position - 1) + 1;
  const lineEnd = text.indexOf('\n', diagnostic.position);
  const line = text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd);
  const indent = diagnostic.position - lineStart;
  const length = Math.max(1, Math.min(diagnostic.length, line.length - indent));
  const isWhole = length === line.trim().length;
  const place = isWhole ? '' : `${line}\n${' '.repeat(indent)}${'^'.repeat(length)} `;
  return (
    <pre class="caret">
      {place}
      {diagnostic.message}
      {diagnostic.hint === undefined ? '' : `\n${diagnostic.hint}`}
    </pre>
  );
}

/** The query console. Ctrl+Enter runs the statement. */
export function QueryConsole({ databases }: { databases: readonly string[] }) {
  const text = useSignal('SHOW MEASUREMENTS');
  const database = useSignal('_internal');
  const answer = useSignal<QueryAnswer | undefined>(undefined);
  const failure = useSignal('');
  const isRunning = useSignal(false);

  const run = async (): Promise<void> => {
    isRunning.value = true;
    failure.value = '';
    try {
      answer.value = await runQuery(text.value, database.value);
    } catch (error) {
      failure.value = `The database did not answer: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      isRunning.value = false;
    }
  };

  return (
    <section class="console">
      <h2>Query</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label>
          Database{' '}
          <select
            value={database.value}
            onChange={(event) => (database.value = event.currentTarget.value)}
          >
            {databases.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <textarea
          aria-label="Statement"
          spellcheck={false}
          rows={3}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
          }}
        />
        <button type="submit" disabled={isRunning.value}>
          {isRunning.value ? 'Running…' : 'Run (Ctrl+Enter)'}
        </button>
      </form>
      {failure.value !== '' && <p class="error">{failure.value}</p>}
      {answer.value?.error !== undefined && (
        <div class="error">
          <p>{answer.value.error}</p>
          {answer.value.diagnostics.slice(0, 1).map((diagnostic) => (
            <Caret
              key={diagnostic.position}
              text={answer.value?.statement ?? ''}
              diagnostic={diagnostic}
            />
          ))}
        </div>
      )}
      {answer.value !== undefined && answer.value.error === undefined && (
        <div class="answer">
          <p class="muted">{answer.value.elapsedMs.toFixed(1)} ms</p>
          {answer.value.diagnostics.map((diagnostic) => (
            <Caret
              key={diagnostic.position}
              text={answer.value?.statement ?? ''}
              diagnostic={diagnostic}
            />
          ))}
          <ResultTable series={answer.value.series} />
        </div>
      )}
    </section>
  );
}
