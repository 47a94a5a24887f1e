// The configuration of the task engine that can be changed while it runs: file and overrides
// together, secrets hidden.
import { useSignal } from '@preact/signals';
import type { ConfigElement, ConfigSection } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { ElementDialog } from './element-dialog.tsx';
import { ServiceTestDialog } from './service-test-dialog.tsx';
import { Loaded } from './statements.tsx';

const t = texts.config;

type Description = ConfigSection['description'];

/** An element of a section, as a row. */
export type ConfigRow = {
  /** For example `smtp`, `tsdb default`. */
  readonly label: string;
  readonly section: string;
  readonly element: ConfigElement;
  readonly description: Description;
};

type Found = {
  readonly sections: Readonly<Record<string, ConfigSection>>;
  /** Names of services that can be tested. */
  readonly tests: ReadonlySet<string>;
};

async function load(): Promise<Found> {
  const [sections, tests] = await Promise.all([engine.describedConfig(), engine.serviceTests()]);
  return { sections, tests: new Set(tests.map(({ name }) => name)) };
}

function rowsOf({ sections }: Found): readonly ConfigRow[] {
  return Object.entries(sections).flatMap(([section, { elements, description }]) =>
    elements.map((element) => ({
      label: element.element === '' ? section : `${section} ${element.element}`,
      section,
      element,
      description,
    })),
  );
}

const search = draft('admin.config.search', '');

export function EngineConfig() {
  const found = useResource(load, []);
  const changed = useSignal<ConfigRow | undefined>(undefined);
  const tested = useSignal<ConfigRow | undefined>(undefined);
  const toRemove = useSignal<ConfigRow | undefined>(undefined);
  const reload = (): void => void found.reload();
  const remove = async ({ label, section, element }: ConfigRow): Promise<void> => {
    toRemove.value = undefined;
    try {
      await engine.changeConfig({ section }, { remove: [element.element] });
      toast(t.removed(label));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    reload();
  };
  return (
    <>
      <Panel title={t.title}>
        <div class="stack">
          <p class="muted">{t.titleHint}</p>
          <TextField
            label={t.find}
            isLabelHidden
            placeholder={t.find}
            type="search"
            value={search.value}
            onInput={(text) => (search.value = text)}
          />
          <Loaded resource={found}>
            {(value) => (
              <Table
                label={t.title}
                rows={rowsOf(value).filter(({ label }) => label.includes(search.value.trim()))}
                rowKey={({ label }) => label}
                empty={<Empty title={t.none} />}
                columns={[
                  { label: t.section, cell: nameOf, sortBy: ({ label }) => label },
                  { label: t.state, cell: stateOf },
                  {
                    label: t.changed,
                    cell: ({ element: { overridden, isAdded } }) =>
                      isAdded ? (
                        <Badge kind="accent">{t.isAdded}</Badge>
                      ) : overridden.length === 0 ? (
                        ''
                      ) : (
                        <Badge kind="accent">{t.changedCount(overridden.length)}</Badge>
                      ),
                    sortBy: ({ element: { overridden } }) => -overridden.length,
                  },
                  {
                    label: t.change,
                    isActions: true,
                    cell: (row) => (
                      <>
                        {value.tests.has(row.section) ? (
                          <Button isSmall onClick={() => (tested.value = row)}>
                            {t.test}
                          </Button>
                        ) : null}{' '}
                        <Button isSmall onClick={() => (changed.value = row)}>
                          {t.change}
                        </Button>{' '}
                        {row.element.isAdded ? (
                          <IconButton
                            isSmall
                            icon="trash"
                            label={t.removeTitle(row.label)}
                            onClick={() => (toRemove.value = row)}
                          />
                        ) : null}
                      </>
                    ),
                  },
                ]}
              />
            )}
          </Loaded>
        </div>
      </Panel>
      {found.value.value === undefined ? null : (
        <NewElement sections={found.value.value.sections} onAdded={reload} />
      )}
      {changed.value === undefined ? null : (
        <ElementDialog
          row={changed.value}
          onClose={() => (changed.value = undefined)}
          onSaved={() => {
            changed.value = undefined;
            reload();
          }}
        />
      )}
      {tested.value === undefined ? null : (
        <ServiceTestDialog row={tested.value} onClose={() => (tested.value = undefined)} />
      )}
      {toRemove.value === undefined ? null : (
        <ConfirmDialog
          title={t.removeTitle(toRemove.value.label)}
          action={t.remove}
          onClose={() => (toRemove.value = undefined)}
          onConfirm={() => {
            if (toRemove.value !== undefined) void remove(toRemove.value);
          }}
        >
          <p>{t.removeHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function nameOf({ label, description }: ConfigRow) {
  return (
    <>
      <code>{label}</code>
      <div class="muted small">{description.doc}</div>
    </>
  );
}

function stateOf({ element: { options } }: ConfigRow) {
  if (typeof options['enabled'] !== 'boolean') return '';
  return (
    <Badge kind={options['enabled'] ? 'good' : 'plain'}>
      {options['enabled'] ? t.isOn : t.isOff}
    </Badge>
  );
}

const newSection = draft('admin.config.section', '');
const newName = draft('admin.config.name', '');

function NewElement({
  sections,
  onAdded,
}: {
  readonly sections: Readonly<Record<string, ConfigSection>>;
  readonly onAdded: () => void;
}) {
  const lists = Object.entries(sections).filter(
    ([, { description }]) => description.elementKey !== '',
  );
  const [first] = lists;
  const section = lists.some(([name]) => name === newSection.value)
    ? newSection.value
    : (first?.[0] ?? '');
  const key = sections[section]?.description.elementKey ?? '';
  const name = newName.value.trim();
  const add = async (): Promise<void> => {
    try {
      await engine.changeConfig({ section }, { add: { [key]: name } });
      toast(t.added(`${section} ${name}`));
      newName.value = '';
      onAdded();
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
  };
  return (
    <Panel title={t.addTitle}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== '') void add();
        }}
      >
        <p class="muted">{t.addHint}</p>
        <div class="form-grid">
          <SelectField
            label={t.section}
            value={section}
            options={lists.map(([each]) => each)}
            onChange={(next) => (newSection.value = next)}
          />
          <TextField label={key} value={newName.value} onInput={(text) => (newName.value = text)} />
        </div>
        <div class="row">
          <Button type="submit" icon="plus" disabled={name === ''}>
            {t.add}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
