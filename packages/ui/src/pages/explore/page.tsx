// Ask the database, and see what it answers.
import { useMemo } from 'preact/hooks';

import { QueryRun } from '../../api/run.ts';
import { useResource } from '../../api/use-resource.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { route, setParams } from '../../app/router.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { SelectField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { forgetSchema, schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { Answer } from './answer.tsx';

const t = texts.explore;

const FIRST_ROWS = 1000;
const MORE_ROWS = 5000;

const text = draft('explore.text', 'SHOW MEASUREMENTS');

export function Page() {
  const run = useMemo(() => new QueryRun(), []);
  const databases = useResource(() => schemaSource.databases(), []);
  const names = databases.value.value ?? [];
  const database =
    route.value.params.get('db') ?? names.find((name) => name !== '_internal') ?? names[0] ?? '';
  const start = (): void => {
    forgetSchema();
    void run.start({ text: text.value, database }, FIRST_ROWS);
  };
  return (
    <>
      <PageHead title={t.title} />
      <section class="panel">
        <header>
          <SelectField
            label={t.database}
            isLabelHidden
            value={database}
            options={names}
            onChange={(db) => setParams({ db })}
          />
          <span class="grow" />
          {run.isRunning.value ? (
            <Button icon="stop" onClick={() => run.cancel()}>
              {t.cancel}
            </Button>
          ) : null}
          <Button kind="primary" icon="play" isBusy={run.isRunning.value} onClick={start}>
            {t.run}
          </Button>
        </header>
        <div class="body">
          <CodeEditor
            label={t.statement}
            language="influxql"
            value={text}
            database={database}
            onRun={start}
          />
        </div>
      </section>
      {run.problem.value === undefined ? null : (
        <Failure title={t.noAnswer} error={run.problem.value} onRetry={start} />
      )}
      <Answer run={run} onMore={() => void run.more(MORE_ROWS)} />
    </>
  );
}
