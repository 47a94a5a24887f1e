// Statements run in this browser, and those saved under a name.
import { useSignal } from '@preact/signals';

import { preference } from '../../app/stored.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Popover } from '../../design/popover.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useSavedQueries } from './saved.ts';
import type { Remembered } from './saved.ts';

const t = texts.explore;

const HISTORY_MAX = 100;

const history = preference<readonly Remembered[]>('explore.history', []);

/** Stores a statement that was run; newest first, without duplicates. */
export function remember(one: Remembered): void {
  const others = history.value.filter((each) => each.text !== one.text);
  history.value = [one, ...others].slice(0, HISTORY_MAX);
}

export function HistoryButton({
  present,
  onChoose,
}: {
  readonly present: Remembered;
  readonly onChoose: (chosen: Remembered) => void;
}) {
  return (
    <Popover label={t.history} icon="history" isIconOnly>
      {(close) => (
        <Lists
          present={present}
          onChoose={(chosen) => {
            close();
            onChoose(chosen);
          }}
        />
      )}
    </Popover>
  );
}

function Lists({
  present,
  onChoose,
}: {
  readonly present: Remembered;
  readonly onChoose: (chosen: Remembered) => void;
}) {
  const name = useSignal('');
  const search = useSignal('');
  const isSaving = useSignal(false);
  const { list, save, forget } = useSavedQueries();
  const saved = list.value.value;
  const found = history.value.filter(({ text }) =>
    text.toLowerCase().includes(search.value.toLowerCase()),
  );
  return (
    <div class="stack remembered">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const typed = name.value.trim();
          if (typed === '' || isSaving.value) return;
          isSaving.value = true;
          void save(typed, present).then((isSaved) => {
            if (isSaved) name.value = '';
            isSaving.value = false;
          });
        }}
      >
        <div class="grow">
          <TextField
            label={t.saveAs}
            isLabelHidden
            placeholder={t.saveAs}
            value={name.value}
            onInput={(value) => (name.value = value)}
          />
        </div>
        <Button
          type="submit"
          icon="save"
          isBusy={isSaving.value}
          disabled={name.value.trim() === ''}
        >
          {t.save}
        </Button>
      </form>
      {list.error.value !== undefined ? (
        <Failure error={list.error.value} onRetry={() => void list.reload()} />
      ) : saved === undefined ? (
        <Loading rows={2} />
      ) : saved.length === 0 ? null : (
        <section aria-label={t.saved}>
          <h2>{t.saved}</h2>
          {saved.map((each) => (
            <div key={each.id} class="row">
              <button type="button" class="menu-item grow" onClick={() => onChoose(each)}>
                <b>{each.name}</b> <code>{each.text}</code>
              </button>
              <IconButton
                isSmall
                icon="trash"
                label={t.forget(each.name)}
                onClick={() => void forget(each)}
              />
            </div>
          ))}
        </section>
      )}
      <section aria-label={t.history}>
        <h2>{t.history}</h2>
        <TextField
          label={t.searchHistory}
          isLabelHidden
          placeholder={t.searchHistory}
          value={search.value}
          onInput={(value) => (search.value = value)}
        />
        {found.length === 0 ? <p class="muted">{t.noHistory}</p> : null}
        {found.map((each) => (
          <button key={each.text} type="button" class="menu-item" onClick={() => onChoose(each)}>
            <code>{each.text}</code>
          </button>
        ))}
      </section>
    </div>
  );
}
