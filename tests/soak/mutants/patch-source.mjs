// Loaded before everything else (`--import`): gives the program the source of some files with a
// text replaced, as MUTANT says (`mutant.ts`). Whatever translates TypeScript translates that.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const edits = JSON.parse(process.env.MUTANT ?? '[]');

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:')) return loaded;
    const path = fileURLToPath(url.split('?')[0]);
    const own = edits.filter(({ file }) => path.endsWith(`/${file}`));
    if (own.length === 0) return loaded;
    let source = Buffer.from(loaded.source).toString('utf8');
    for (const { from, to } of own) source = source.replace(from, () => to);
    return { ...loaded, source };
  },
});
