// A statement as a form, while the form can express its text.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';

import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/states.tsx';
import { EMPTY_QUERY, parseBuilt, printBuilt } from '../../query/builder.ts';
import type { BuiltQuery } from '../../query/builder.ts';
import { texts } from '../../texts/texts.ts';
import { BuilderForm } from './builder-form.tsx';

const t = texts.explore;

export function StatementForm({
  text,
  database,
}: {
  readonly text: Signal<string>;
  readonly database: string;
}) {
  // A form may contain what the text cannot express yet, such as a tag without a value.
  const lastBuilt = useSignal<BuiltQuery>(EMPTY_QUERY);
  const isBuilt = lastBuilt.value.measurement !== '' && printBuilt(lastBuilt.value) === text.value;
  const query = isBuilt
    ? lastBuilt.value
    : text.value.trim() === ''
      ? EMPTY_QUERY
      : parseBuilt(text.value);
  if (query === undefined) {
    return (
      <Notice
        kind="warn"
        action={
          <Button isSmall onClick={() => (text.value = '')}>
            {t.startAnew}
          </Button>
        }
      >
        {t.noForm}
      </Notice>
    );
  }
  return (
    <>
      <BuilderForm
        database={database}
        query={query}
        onChange={(next) => {
          lastBuilt.value = next;
          text.value = next.measurement === '' ? '' : printBuilt(next);
        }}
      />
      <pre class="built">{text.value}</pre>
    </>
  );
}
