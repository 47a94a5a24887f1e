// All components in all their states, for judging changes of the design.
import { useSignal } from '@preact/signals';

import { PageHead } from '../../app/page-frame.tsx';
import { Chart } from '../../charts/chart.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { Button, Choice, IconButton, Toggles } from '../../design/button.tsx';
import { Caret } from '../../design/caret.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../design/dialog.tsx';
import {
  CheckField,
  FileField,
  SelectField,
  SuggestField,
  TextArea,
  TextField,
} from '../../design/field.tsx';
import { Figures } from '../../design/figures.tsx';
import { Icon, ICON_NAMES } from '../../design/icon.tsx';
import { Panel } from '../../design/panel.tsx';
import { Menu, Popover } from '../../design/popover.tsx';
import { ResultTable } from '../../design/result-table.tsx';
import { Badge, Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.design;

export function Page() {
  return (
    <>
      <PageHead title={t.title} />
      <p class="muted">{t.intro}</p>
      <Buttons />
      <Icons />
      <Fields />
      <Overlays />
      <Tables />
      <States />
      <TabsAndBadges />
      <Panel title={t.charts}>
        <Chart label="Two rooms" height={220} data={WAVES} />
      </Panel>
      <Editors />
      <Colours />
    </>
  );
}

const NAMES = ['kitchen', 'cellar'];
const TIMES = Float64Array.from({ length: 400 }, (_, i) => 1_700_000_000_000 + i * 60_000);

const WAVES = {
  series: NAMES.map((label, at) => ({
    label,
    times: TIMES,
    values: TIMES.map((_, i) =>
      i > 150 && i < 170 ? NaN : 20 - at * 6 + Math.sin(i / (20 + at * 7)) * 3,
    ),
  })),
};

function Buttons() {
  const parts = useSignal<readonly string[]>(['chart', 'raw']);
  const choice = useSignal<'chart' | 'table'>('chart');
  return (
    <Panel title={t.buttons}>
      <div class="stack">
        <div class="row">
          <Button kind="primary">Primary</Button>
          <Button>Plain</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger" icon="trash">
            Danger
          </Button>
          <Button icon="download">With icon</Button>
          <Button isBusy>Busy</Button>
          <Button disabled>Disabled</Button>
          <Button isSmall>Small</Button>
        </div>
        <div class="row">
          <IconButton label="Refresh" icon="refresh" />
          <IconButton label="Edit" icon="edit" kind="plain" />
          <IconButton label="Delete" icon="trash" kind="danger" />
          <IconButton label="Disabled" icon="stop" disabled />
          <CopyButton text="copied text" />
          <Choice
            label="View"
            value={choice.value}
            options={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
            onChange={(value) => (choice.value = value)}
          />
          <Toggles
            label="Parts"
            chosen={parts.value}
            options={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
              { value: 'raw', label: 'Raw' },
            ]}
            onToggle={(value) =>
              (parts.value = parts.value.includes(value)
                ? parts.value.filter((each) => each !== value)
                : [...parts.value, value])
            }
          />
        </div>
      </div>
    </Panel>
  );
}

function Icons() {
  return (
    <Panel title={t.icons}>
      <div class="row">
        {ICON_NAMES.map((name) => (
          <span key={name} class="row small muted">
            <Icon name={name} /> {name}
          </span>
        ))}
      </div>
    </Panel>
  );
}

function Fields() {
  const text = useSignal('autogen');
  const isOn = useSignal(true);
  const onInput = (value: string): void => {
    text.value = value;
  };
  return (
    <Panel title={t.fields}>
      <div class="form-grid">
        <TextField label="Name" value={text.value} onInput={onInput} hint="Letters and digits" />
        <TextField label="Wrong" value="1 week" onInput={onInput} problem="write 1w" />
        <TextField label="Empty" value="" placeholder="for example 7d" onInput={onInput} />
        <TextField label="Not now" value="locked" disabled onInput={onInput} />
        <SelectField
          label="Database"
          value="house"
          options={['house', { value: 'two', label: 'Two' }]}
          onChange={onInput}
        />
        <SuggestField
          label="Suggested"
          value="bytes"
          options={[{ value: 'bytes', label: 'Data' }]}
          onChange={onInput}
        />
        <SelectField label="Fixed" value="a" options={['a']} disabled onChange={onInput} />
        <TextArea label="Points" value="cpu,host=a usage=1" onInput={onInput} rows={2} />
        <FileField label="File" hint="Of this machine" onChange={() => undefined} />
        <div class="stack">
          <CheckField
            label="Enabled"
            isChecked={isOn.value}
            onChange={(isChecked) => (isOn.value = isChecked)}
          />
          <CheckField label="Not now" isChecked={false} disabled onChange={() => undefined} />
        </div>
      </div>
    </Panel>
  );
}

function Overlays() {
  const open = useSignal<'dialog' | 'confirm' | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
  };
  return (
    <Panel title={t.overlays}>
      <div class="row">
        <Button onClick={() => (open.value = 'dialog')}>Dialog</Button>
        <Button onClick={() => (open.value = 'confirm')}>Confirmation</Button>
        <Menu
          label="Menu"
          items={[
            { label: 'Rename', icon: 'edit', run: () => toast('Renamed') },
            { label: 'Not now', disabled: true, run: () => undefined },
            { label: 'Delete', icon: 'trash', isDanger: true, run: () => undefined },
          ]}
        />
        <Popover label="Popover" icon="clock">
          {(closePopover) => (
            <div class="stack">
              <p>Any content.</p>
              <Button onClick={closePopover}>Close</Button>
            </div>
          )}
        </Popover>
        <Button onClick={() => toast('Saved')}>Message</Button>
        <Button onClick={() => toast('The database refused: not allowed', 'bad')}>Failure</Button>
      </div>
      {open.value === 'dialog' ? (
        <Dialog
          title="A dialog"
          onClose={close}
          footer={
            <Button kind="primary" onClick={close}>
              Done
            </Button>
          }
        >
          <TextField label="Name" value="" onInput={() => undefined} />
        </Dialog>
      ) : null}
      {open.value === 'confirm' ? (
        <ConfirmDialog title="Drop database house?" action="Drop" onConfirm={close} onClose={close}>
          All its points are gone then.
        </ConfirmDialog>
      ) : null}
    </Panel>
  );
}

const ROWS = [
  { name: 'house', count: 1_204 },
  { name: 'telegraf', count: 98_211 },
];

const ANSWER = [
  ['2026-11-22T10:00:00.123456789Z', 21.5],
  ['2026-11-22T10:01:00Z', 9_007_199_254_740_993n],
];

function Tables() {
  return (
    <Panel title={t.tables} isFlush>
      <Table
        label="Databases"
        rows={ROWS}
        rowKey={({ name }) => name}
        selectedKey="telegraf"
        columns={[
          { label: 'Database', cell: ({ name }) => name, sortBy: ({ name }) => name },
          { label: 'Series', isNumber: true, cell: ({ count }) => count, sortBy: (r) => r.count },
          {
            label: 'Actions',
            isActions: true,
            cell: ({ name }) => <IconButton isSmall icon="trash" label={`Drop ${name}`} />,
          },
        ]}
      />
      <ResultTable label="Rows of an answer" columns={['time', 'celsius']} rows={ANSWER} />
    </Panel>
  );
}

function States() {
  const text = 'SELECT celsius FORM room';
  return (
    <Panel title={t.states}>
      <div class="stack">
        <Notice>Something worth knowing.</Notice>
        <Notice kind="good">It went well.</Notice>
        <Notice kind="warn" action={<Button isSmall>Read more</Button>}>
          Only a part is shown: 2,000 of 18,000 rows.
        </Notice>
        <Notice kind="bad">
          error parsing query
          <Caret text={text} finding={{ message: 'did you mean FROM?', start: 15, end: 19 }} />
        </Notice>
        <div class="cards">
          <Loading />
          <Empty title="Nothing here" actions={<Button>Create one</Button>}>
            What would be here, and how it comes.
          </Empty>
          <Failure
            error={{ message: 'the database does not answer', hint: 'Is it running?' }}
            onRetry={() => undefined}
          />
        </div>
      </div>
    </Panel>
  );
}

function TabsAndBadges() {
  const tab = useSignal<'a' | 'b'>('a');
  return (
    <div class="cards">
      <Panel title={t.tabs}>
        <Tabs
          label={t.tabs}
          value={tab.value}
          tabs={[
            { value: 'a', label: 'First' },
            { value: 'b', label: 'Second' },
          ]}
          onChange={(value) => (tab.value = value)}
        >
          Panel {tab.value}
        </Tabs>
      </Panel>
      <Panel title={t.badges}>
        <div class="stack">
          <div class="row">
            <Badge>plain</Badge>
            <Badge kind="accent">info</Badge>
            <Badge kind="good">good</Badge>
            <Badge kind="warn">warning</Badge>
            <Badge kind="bad">bad</Badge>
            <kbd>Ctrl+K</kbd> <code>code</code>
          </div>
          <progress class="progress" aria-label="Progress" value={0.4} />
          <Figures
            figures={[
              { label: 'Free', value: '12 GiB', hint: 'of 40 GiB' },
              { label: 'Failures', value: '3', kind: 'bad' },
            ]}
          />
        </div>
      </Panel>
    </div>
  );
}

const SCRIPT = `// Too hot for a while.
stream
    |from()
        .measurement('room')
        .groupBy('name')
    |alert()
        .crit(lambda: "celsius" > 30.0)
`;

function Editors() {
  const query = useSignal(
    'SELECT mean(celsius) FROM room WHERE name =~ /^k/ AND time > now() - 1h',
  );
  const script = useSignal(SCRIPT);
  return (
    <Panel title={t.editors}>
      <div class="cards">
        <CodeEditor label="Statement" language="influxql" value={query} />
        <CodeEditor label="Script" language="tickscript" value={script} />
      </div>
    </Panel>
  );
}

const COLOURS = ['ground', 'surface', 'surface-2', 'accent', 'good', 'warn', 'bad', 'muted'];

function Colours() {
  const series = Array.from({ length: 8 }, (_, i) => `series-${i + 1}`);
  return (
    <Panel title={t.colours}>
      <div class="row">
        {[...COLOURS, ...series].map((name) => (
          <span key={name} class="swatch">
            <span style={{ background: `var(--${name})` }} />
            {name}
          </span>
        ))}
      </div>
    </Panel>
  );
}
