// Statements that were run in this browser, and those that were kept by a name.
import { useSignal } from '@preact/signals';

import { preference } from '../../app/stored.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Popover } from '../../design/popover.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.explore;

export type Remembered = { readonly text: string; readonly database: string };
type Saved = Remembered & { readonly name: string };

const HISTORY_MAX = 100;

const history = preference<readonly Remembered[]>('explore.history', []);
const saved = preference<readonly Saved[]>('explore.saved', []);

/** Keeps what was run, the newest first, each text once. */
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
  const found = history.value.filter(({ text }) =>
    text.toLowerCase().includes(search.value.toLowerCase()),
  );
  return (
    <div class="stack remembered">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.value.trim() === '') return;
          const others = saved.value.filter((each) => each.name !== name.value);
          saved.value = [{ name: name.value, ...present }, ...others];
          name.value = '';
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
        <Button type="submit" icon="save" disabled={name.value.trim() === ''}>
          {t.save}
        </Button>
      </form>
      {saved.value.length === 0 ? null : (
        <section aria-label={t.saved}>
          <h2>{t.saved}</h2>
          {saved.value.map((each) => (
            <div key={each.name} class="row">
              <button type="button" class="menu-item grow" onClick={() => onChoose(each)}>
                <b>{each.name}</b> <code>{each.text}</code>
              </button>
              <IconButton
                isSmall
                icon="trash"
                label={t.forget(each.name)}
                onClick={() =>
                  (saved.value = saved.value.filter((other) => other.name !== each.name))
                }
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
