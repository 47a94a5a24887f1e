// What the statements answered, each for itself.
import type { ResponseDiagnostic } from '@tidemark/client';

import type { StatementAnswer } from '../../api/query-stream.ts';
import type { QueryRun } from '../../api/run.ts';
import { formatBytes, formatMs } from '../../charts/format.ts';
import { Button } from '../../design/button.tsx';
import { Caret } from '../../design/caret.tsx';
import { Panel } from '../../design/panel.tsx';
import { ResultTable } from '../../design/result-table.tsx';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.explore;

export function Answer({ run, onMore }: { readonly run: QueryRun; readonly onMore: () => void }) {
  const answer = run.answer.value;
  const asked = run.request.value;
  if (answer === undefined || asked === undefined) return null;
  return (
    <Panel
      title={t.answer}
      controls={
        <span class="muted small">
          {t.figures(answer.rowCount, formatMs(answer.elapsedMs), formatBytes(answer.sizeBytes))}
        </span>
      }
    >
      <div class="stack">
        {answer.error === undefined ? null : (
          <Refusal text={asked.text} error={answer.error} diagnostics={answer.diagnostics} />
        )}
        {answer.statements.map((statement) => (
          <Statement key={statement.id} statement={statement} text={asked.text} />
        ))}
        {answer.hasMore ? (
          <Notice
            action={
              <Button isSmall isBusy={run.isRunning.value} onClick={onMore}>
                {t.more}
              </Button>
            }
          >
            {t.partial(answer.rowCount)}
          </Notice>
        ) : null}
      </div>
    </Panel>
  );
}

function Refusal({
  text,
  error,
  diagnostics,
}: {
  readonly text: string;
  readonly error: string;
  readonly diagnostics: readonly ResponseDiagnostic[];
}) {
  return (
    <Notice kind="bad">
      {error}
      <Findings text={text} diagnostics={diagnostics} />
    </Notice>
  );
}

function Findings({
  text,
  diagnostics,
}: {
  readonly text: string;
  readonly diagnostics: readonly ResponseDiagnostic[];
}) {
  // Positions are counted from the first letter.
  const indent = text.length - text.trimStart().length;
  return (
    <>
      {diagnostics.map(({ message, hint, position, length }) => (
        <Caret
          key={position}
          text={text}
          finding={{ message, hint, start: position + indent, end: position + indent + length }}
        />
      ))}
    </>
  );
}

function Statement({
  statement,
  text,
}: {
  readonly statement: StatementAnswer;
  readonly text: string;
}) {
  const { error, series, messages, diagnostics } = statement;
  return (
    <div class="stack">
      {messages.map((message) => (
        <Notice key={message} kind="warn">
          {message}
        </Notice>
      ))}
      {error !== undefined ? (
        <Refusal text={text} error={error} diagnostics={diagnostics} />
      ) : diagnostics.length > 0 ? (
        <Notice kind="warn">
          <Findings text={text} diagnostics={diagnostics} />
        </Notice>
      ) : null}
      {error === undefined && series.length === 0 ? <p class="muted">{t.noRows}</p> : null}
      {series.map(({ name, tags, columns, rows }, i) => (
        <ResultTable
          key={i}
          label={t.rowsOf(name)}
          caption={
            <>
              {name}{' '}
              {Object.entries(tags).map(([key, value]) => (
                <code key={key}>
                  {key}={value}{' '}
                </code>
              ))}
            </>
          }
          columns={columns}
          rows={rows}
        />
      ))}
    </div>
  );
}
