// The configuration that the task engine runs with: file and overrides together, secrets hidden.
import { engine } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
import { Badge } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;

type Document = {
  readonly sections: Readonly<
    Record<
      string,
      {
        readonly elements: readonly {
          readonly link: { readonly href: string };
          readonly options: Readonly<Record<string, unknown>>;
          readonly redacted?: readonly string[];
        }[];
      }
    >
  >;
};

type Option = {
  readonly section: string;
  readonly name: string;
  readonly value: string;
  readonly isHidden: boolean;
};

async function load(): Promise<readonly Option[]> {
  const { sections } = (await engine.config()) as Document;
  return Object.entries(sections).flatMap(([section, { elements }]) =>
    elements.flatMap(({ link, options, redacted = [] }) => {
      const element = decodeURIComponent(link.href.split('/').at(-1) ?? '');
      return Object.entries(options).map(([name, value]) => ({
        section: element === '' ? section : `${section} ${element}`,
        name,
        value: typeof value === 'string' ? value : JSON.stringify(value),
        isHidden: redacted.includes(name),
      }));
    }),
  );
}

export function EngineConfig() {
  const options = useResource(load, []);
  return (
    <Panel title={t.tabs.engine} isFlush>
      <Loaded resource={options}>
        {(rows) => (
          <Table
            label={t.tabs.engine}
            rows={rows}
            rowKey={({ section, name }) => `${section} ${name}`}
            columns={[
              {
                label: t.section,
                cell: ({ section }) => section,
                sortBy: ({ section }) => section,
              },
              { label: t.name, cell: ({ name }) => name, sortBy: ({ name }) => name },
              {
                label: t.value,
                // A secret says only whether it is set.
                cell: ({ value, isHidden }) =>
                  isHidden ? (
                    <Badge>{value === 'true' ? t.isSet : t.isNotSet}</Badge>
                  ) : (
                    <code>{value}</code>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
