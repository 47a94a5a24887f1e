// All keys: those of the application and its pages, and those of editors.
import { commands } from '../../app/commands.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { Panel } from '../../design/panel.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.shortcuts;

type Row = { readonly keys: string; readonly label: string };

const EDITOR: readonly Row[] = [
  { keys: 'Ctrl+Enter', label: t.run },
  { keys: 'Ctrl+Space', label: t.complete },
  { keys: 'Ctrl+Shift+F', label: t.format },
  { keys: 'Ctrl+/', label: t.comment },
  { keys: 'Ctrl+Z', label: t.undo },
  { keys: 'Ctrl+F', label: t.find },
  { keys: 'Escape', label: t.leave },
];

export function Page() {
  const groups = new Map<string, Row[]>();
  for (const { group, keys, label } of commands.value) {
    if (keys !== undefined) groups.set(group, [...(groups.get(group) ?? []), { keys, label }]);
  }
  groups.set(t.editor, [...EDITOR]);
  return (
    <>
      <PageHead title={texts.nav.shortcuts} />
      <p class="muted">{t.outside}</p>
      <div class="cards">
        {[...groups].map(([group, rows]) => (
          <Panel key={group} title={group} isFlush>
            <Table
              label={group}
              rows={rows}
              rowKey={({ keys, label }) => keys + label}
              columns={[
                { label: t.keys, cell: (row) => <Keys text={row.keys} /> },
                { label: t.meaning, cell: (row) => row.label },
              ]}
            />
          </Panel>
        ))}
      </div>
    </>
  );
}

function Keys({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(' ').map((key, i) => (
        <span key={i}>
          {i === 0 ? '' : ' '}
          <kbd>{key}</kbd>
        </span>
      ))}
    </>
  );
}
