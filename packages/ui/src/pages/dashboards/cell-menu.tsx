// What a reader can do with a cell: explore its query, save its rows or its picture.
import { download } from '../../app/download.ts';
import { navigate } from '../../app/router.ts';
import type { CellContent, CellView } from '../../cells/kind.ts';
import type { Cell } from '../../dashboards/model.ts';
import { withVariables } from '../../dashboards/variables.ts';
import { Menu } from '../../design/popover.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { toCsv } from '../explore/export.ts';

const t = texts.dashboards;

export function CellMenu({
  cell,
  title,
  view: { context },
  content,
}: {
  readonly cell: Cell;
  readonly title: string;
  readonly view: CellView;
  /** Filled when the cell is drawn. */
  readonly content: CellContent;
}) {
  const asked = cell.queries.filter(
    ({ text, isHidden }) => text.trim() !== '' && isHidden !== true,
  );
  const [first] = asked;
  if (first === undefined) return null;
  const explore = (): void =>
    navigate('explore', {
      db: first.database === '' ? context.database : first.database,
      q: asked.map(({ text }) => withVariables(text, context.chosen)).join(';\n'),
      from: context.from,
      to: context.to,
    });
  const saveRows = (): void => {
    const { answer } = content;
    if (answer === undefined) toast(t.nothingToSave, 'bad');
    else download(new Blob([toCsv(answer.statements)], { type: 'text/csv' }), `${title}.csv`);
  };
  const savePicture = async (): Promise<void> => {
    const picture = await content.picture?.();
    if (picture === undefined) toast(texts.explore.noPicture, 'bad');
    else download(picture, `${title}.png`);
  };
  return (
    <Menu
      label={t.cellMenu(title)}
      icon="more"
      isIconOnly
      isSmall
      items={[
        { label: t.exploreCell, icon: 'explore', run: explore },
        { label: t.saveRows, icon: 'download', run: saveRows },
        {
          label: t.savePicture,
          icon: 'download',
          run: () => {
            savePicture().catch((error: unknown) => toast(String(error), 'bad'));
          },
        },
      ]}
    />
  );
}
